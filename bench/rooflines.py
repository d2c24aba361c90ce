"""dmlcpu beside the memory's bandwidth, measured in the same run."""

from functools import partial

import numpy as np

import builds
import measure
import plots
import report
import workloads
from session import chosen, machine, tensors_of, write
from workloads import moved_bytes


def calls_of(dmlcpu, workload, tensors, bandwidths):
    """The workload on each instruction set, and on one thread; reading, or copying, as many bytes."""
    call = builds.call_for(dmlcpu, workload, *tensors)

    def on_one_thread():
        with dmlcpu.num_threads(1):
            call()

    # An instruction set is chosen for the process, before a competitor's turn.
    isas = builds.isas()
    prepare = {isa: partial(dmlcpu.use_instruction_set, isa) for isa in isas}
    calls = {isa: (prepare[isa], call) for isa in isas}
    calls["one thread"] = (prepare[isas[0]], on_one_thread)
    moved = moved_bytes(workload, tensors)
    # Ones: memory of zeros may never have been made, and would be read from one page.
    contiguous = np.ones(moved if workload.streams else moved // 2, np.uint8)
    for bandwidth in bandwidths:
        move = bandwidth.read if workload.streams else bandwidth.copy
        calls[f"bandwidth {bandwidth.count}"] = move(contiguous)
    return calls


def print_shares(shares):
    """Of the workloads that stream, for each instruction set."""
    for isa in builds.isas():
        streaming = sorted(
            shares[w.name][isa] for w in workloads.WORKLOADS if w.streams and w.name in shares
        )
        if streaming:
            median = streaming[len(streaming) // 2]
            print(f"{isa}: streaming works, median {median:.2f}, worst {streaming[0]:.2f}")


def roofline(arguments):
    """Shares of the read bandwidth, on every instruction set, and speed of one thread."""
    about = machine()
    bandwidths = [measure.Bandwidth(count) for count in sorted({1, measure.threads()})]
    results, shares, rows = {}, {}, []
    for workload in chosen(workloads.WORKLOADS, arguments):
        if workload.small or not (workload.streams or workload.operator == "gather_nd"):
            continue
        tensors = tensors_of(workload)
        calls = calls_of(builds.installed(), workload, tensors, bandwidths)
        seconds = measure.compare(calls, arguments.rounds)
        results[workload.name] = seconds
        medians = measure.medians_of(seconds)
        gain = medians["one thread"] / medians[builds.isas()[0]]
        del seconds["one thread"]
        limit = report.fastest_bandwidth(seconds)
        share = report.roofline_share(seconds)
        shares[workload.name] = share
        rows.append(
            [
                workload.name,
                "read" if workload.streams else "copy",
                f"{moved_bytes(workload, tensors) / limit / 1e9:.1f} GB/s",
                *(f"{s:.2f}" for s in share.values()),
                f"{gain:.2f}",
            ]
        )
        report.print_row(rows[-1])
    print_shares(shares)
    header = ["work", "against", "bandwidth", *builds.isas(), "times one thread"]
    write(
        arguments,
        about,
        results,
        report.table(header, rows),
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
        contiguous = np.ones(moved_bytes(workload, tensors), np.uint8)

        def on_threads(count, call=call):
            with dmlcpu.num_threads(count):
                call()

        calls = {}
        for count in counts:
            calls[f"dmlcpu {count}"] = partial(on_threads, count)
            calls[f"bandwidth {count}"] = bandwidths[count].read(contiguous)
        results[workload.name] = measure.compare(calls, arguments.rounds)
        medians = measure.medians_of(results[workload.name])
        row = [workload.name, report.text_of(medians["dmlcpu 1"])]
        for count in counts[1:]:
            for who in ("dmlcpu", "bandwidth"):
                row.append(f"{medians[f'{who} 1'] / medians[f'{who} {count}']:.2f}")
        rows.append(row)
        report.print_row(row)
    header = ["work", "1 thread"]
    for count in counts[1:]:
        header += [f"{count} threads, times as fast", f"reading on {count}"]
    write(
        arguments,
        about,
        results,
        report.table(header, rows),
    )
