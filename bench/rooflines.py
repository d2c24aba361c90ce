"""dmlcpu beside the memory's bandwidth, measured in the same run."""

import sys
from functools import partial

import numpy as np

import builds
import measure
import plots
import report
import workloads
from session import chosen, machine, tensors_of, write
from workloads import moved_bytes


def roofline(arguments):
    """Shares of the read bandwidth, on every instruction set, and speed of one thread."""
    about = machine()
    dmlcpu = builds.installed()
    bandwidths = [measure.Bandwidth(count) for count in sorted({1, measure.threads()})]
    results, shares, rows = {}, {}, []
    for workload in chosen(workloads.WORKLOADS, arguments):
        streams = workload.streams and workload.operator != "gather_nd"
        if (not streams and workload.operator != "gather_nd") or workload.small:
            continue
        tensors = tensors_of(workload)
        call = builds.call_for(dmlcpu, workload, *tensors)

        def on_one_thread(call=call):
            with dmlcpu.num_threads(1):
                call()

        # An instruction set is chosen for the process, before a competitor's turn.
        best = builds.levels()[0]
        prepare = {level: partial(dmlcpu.use_instruction_set, level) for level in builds.levels()}
        calls = {level: (prepare[level], call) for level in builds.levels()}
        calls["one thread"] = (prepare[best], on_one_thread)
        # Ones: memory of zeros may never have been made, and would be read from one page.
        packed = np.ones(moved_bytes(workload, tensors) // (1 if streams else 2), np.uint8)
        for bandwidth in bandwidths:
            move = bandwidth.read if streams else bandwidth.copy
            calls[f"bandwidth {bandwidth.count}"] = move(packed)
        seconds = measure.compare(calls, arguments.rounds)
        results[workload.name] = seconds
        medians = measure.medians_of(seconds)
        gain = medians["one thread"] / medians[best]
        del seconds["one thread"]
        limit = report.fastest_bandwidth(seconds)
        share = report.roofline_share(seconds)
        shares[workload.name] = share
        rows.append(
            [
                workload.name,
                "read" if streams else "copy",
                f"{moved_bytes(workload, tensors) / limit / 1e9:.1f} GB/s",
                *(f"{s:.2f}" for s in share.values()),
                f"{gain:.2f}",
            ]
        )
        print("  ".join(f"{cell:>10}" if i else f"{cell:42}" for i, cell in enumerate(rows[-1])))
        sys.stdout.flush()
    levels = list(builds.levels())
    for level in levels:
        streaming = sorted(
            shares[w.name][level] for w in workloads.WORKLOADS if w.streams and w.name in shares
        )
        if streaming:
            median = streaming[len(streaming) // 2]
            print(f"{level}: streaming lines, median {median:.2f}, worst {streaming[0]:.2f}")
    header = ["work", "against", "bandwidth", *levels, "times one thread"]
    write(
        arguments,
        about,
        results,
        lambda: report.machine_line(about) + report.table(header, rows),
        lambda path: plots.roofline(about, shares, path),
    )


def threads(arguments):
    """Gain of more threads over one, of dmlcpu and of reading the same bytes."""
    about = machine()
    dmlcpu = builds.installed()
    most = measure.threads()
    counts = sorted({most, *(2**i for i in range(most.bit_length()) if 2**i <= most)})
    bandwidths = {count: measure.Bandwidth(count) for count in counts}
    results, rows = {}, []
    for workload in chosen([w for w in workloads.WORKLOADS if w.streams], arguments):
        tensors = tensors_of(workload)
        call = builds.call_for(dmlcpu, workload, *tensors)
        packed = np.ones(moved_bytes(workload, tensors), np.uint8)

        def on_threads(count, call=call):
            with dmlcpu.num_threads(count):
                call()

        calls = {}
        for count in counts:
            calls[f"dmlcpu {count}"] = partial(on_threads, count)
            calls[f"bandwidth {count}"] = bandwidths[count].read(packed)
        results[workload.name] = measure.compare(calls, arguments.rounds)
        medians = measure.medians_of(results[workload.name])
        row = [workload.name, report.text_of(medians["dmlcpu 1"])]
        for count in counts[1:]:
            for who in ("dmlcpu", "bandwidth"):
                row.append(f"{medians[f'{who} 1'] / medians[f'{who} {count}']:.2f}")
        rows.append(row)
        print("  ".join(f"{cell:>10}" if i else f"{cell:42}" for i, cell in enumerate(row)))
        sys.stdout.flush()
    header = ["work", "1 thread"]
    for count in counts[1:]:
        header += [f"{count} threads, times as fast", f"reading on {count}"]
    write(
        arguments,
        about,
        results,
        lambda: report.machine_line(about) + report.table(header, rows),
        lambda path: print("no plot of threads"),
    )
