"""Measure dmlcpu: beside other libraries, against the memory's bandwidth, over sizes, or two builds.

    python bench/run.py peers     every workload beside every library that is installed
    python bench/run.py small     calls on a few elements, in nanoseconds
    python bench/run.py roofline  streaming workloads and gathers beside read and copy bandwidth
    python bench/run.py sweep     one size at a time, to find where speed falls off
    python bench/run.py builds    builds or instruction sets of dmlcpu beside each other

All write JSON (--json), Markdown (--markdown) and plots (--plot, SVG or PNG). Whatever is compared is
measured by turns in one process; answers are compared before. `pip install .[bench]` installs the
other libraries. OMP_NUM_THREADS sets the threads of all of them.
"""

import argparse
import datetime
import json
import os
import platform
import sys
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))

import builds
import numpy as np
import plots
import sweeps

import contestants
import measure
import report
import workloads


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine():
    return {
        "processor": processor(),
        "threads": measure.threads(),
        "instruction_set": builds.installed().get_instruction_set(),
        "date": datetime.date.today().isoformat(),
        "versions": contestants.versions(),
    }


def tensors_of(workload):
    return workload.make(np.random.default_rng(0))


def race_peers(workload, arguments):
    """Seconds of all contestants that can do the workload and give dmlcpu's answer."""
    tensors = tensors_of(workload)
    names = dict.fromkeys(["dmlcpu", *(arguments.contestants or contestants.installed())])
    calls = contestants.calls_for(workload, tensors, names)
    want = calls["dmlcpu"]()
    for name, call in list(calls.items()):
        if not measure.same_answer(workload, tensors, call(), want):
            print(f"  {name} gives another answer; left out")
            del calls[name]
    return measure.race(calls, arguments.rounds)


def chosen(selection, arguments):
    return [w for w in selection if arguments.only in w.name]


def write(arguments, about, results, markdown, plot):
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"machine": about, "results": results}, file, indent=1)
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(markdown())
    if arguments.plot:
        plot(arguments.plot)


def peers(arguments, selection=workloads.WORKLOADS):
    if arguments.headlines:
        selection = [w for w in selection if w.headline]
    about = machine()
    results = {}
    for workload in chosen(selection, arguments):
        results[workload.name] = race_peers(workload, arguments)
        print(report.peers_line(workload.name, results[workload.name]), flush=True)
    headlines = {w.name for w in workloads.HEADLINES}
    print(report.peers_summary(results, headlines), flush=True)
    write(
        arguments,
        about,
        results,
        lambda: report.peers_markdown(about, results),
        lambda path: plots.peers(about, results, path),
    )


def small(arguments):
    peers(arguments, workloads.SMALL)


def moved_bytes(workload, tensors):
    """Bytes that the workload has to move: read, for a gather also written."""
    x, *indices = tensors
    if workload.operator != "gather_nd":
        # Memory delivers the gaps of a strided view too.
        return x.nbytes if x.base is None else x.base.nbytes
    slice_bytes = x[(0,) * indices[0].shape[1]].nbytes
    return indices[0].nbytes + 2 * len(indices[0]) * slice_bytes


def roofline(arguments):
    """Shares of the read bandwidth, on every instruction set, and speed of one thread."""
    about = machine()
    dmlcpu = builds.installed()
    bandwidth = measure.Bandwidth(measure.threads())
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

        # An instruction set is chosen for the process, before a contestant's turn.
        best = builds.levels()[0]
        prepare = {level: partial(dmlcpu.use_instruction_set, level) for level in builds.levels()}
        calls = {level: (prepare[level], call) for level in builds.levels()}
        calls["one thread"] = (prepare[best], on_one_thread)
        # Ones: memory of zeros may never have been made, and would be read from one page.
        packed = np.ones(moved_bytes(workload, tensors) // (1 if streams else 2), np.uint8)
        calls["bandwidth"] = bandwidth.read(packed) if streams else bandwidth.copy(packed)
        seconds = measure.race(calls, arguments.rounds)
        results[workload.name] = seconds
        medians = measure.medians_of(seconds)
        gain = medians["one thread"] / medians[best]
        del seconds["one thread"]
        share = report.roofline_share(seconds)
        shares[workload.name] = share
        rows.append(
            [
                workload.name,
                "read" if streams else "copy",
                f"{moved_bytes(workload, tensors) / medians['bandwidth'] / 1e9:.1f} GB/s",
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


def sweep(arguments):
    about = machine()
    results, texts = {}, []
    for name, curve in sweeps.SWEEPS.items():
        if arguments.only not in name:
            continue
        points = []
        for size, workload in curve.points:
            count = moved_bytes(workload, tensors_of(workload))
            points.append((size, race_peers(workload, arguments), count))
        own = [(size, measure.medians_of(s)["dmlcpu"], count) for size, s, count in points]
        texts.append(report.sweep_lines(curve, points, sweeps.cliffs(own)))
        print(texts[-1], flush=True)
        results[name] = points
        if arguments.plot:
            stem, _, ending = arguments.plot.rpartition(".")
            plots.sweep(about, curve, points, f"{stem}-{name.replace(' ', '-')}.{ending}")
    arguments.plot = None
    text = "\n".join(f"```\n{text}\n```\n" for text in texts)
    write(arguments, about, results, lambda: report.machine_line(about) + text, None)


def compare_builds(arguments):
    about = machine()
    specifications = arguments.builds or [f"dmlcpu@{level}" for level in builds.levels()]
    contenders = [builds.Build(specification) for specification in specifications]
    names = [build.name for build in contenders]
    results, rows = {}, []
    for workload in chosen(workloads.WORKLOADS, arguments):
        results[workload.name] = seconds = builds.race(contenders, workload, arguments.rounds)
        medians = measure.medians_of(seconds)
        first = medians[names[0]]
        rows.append(
            [
                workload.name,
                report.text_of(first),
                *(f"{first / medians[n]:.2f}" for n in names[1:]),
            ]
        )
        print("  ".join(f"{cell:>10}" if i else f"{cell:42}" for i, cell in enumerate(rows[-1])))
        sys.stdout.flush()
    for build in contenders:
        build.close()
    header = ["work", *names[:1], *(f"{name}, times as fast" for name in names[1:])]
    write(
        arguments,
        about,
        results,
        lambda: report.machine_line(about) + report.table(header, rows),
        lambda path: print("no plot of builds"),
    )


def main():
    modes = {
        "peers": peers,
        "small": small,
        "roofline": roofline,
        "sweep": sweep,
        "builds": compare_builds,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=modes, nargs="?", default="peers")
    parser.add_argument("builds", nargs="*", help=builds.__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="workloads, or sweeps, whose name contains this")
    parser.add_argument("--headlines", action="store_true", help="peers: the headline lines only")
    parser.add_argument("--contestants", nargs="*", help="default: all that are installed")
    parser.add_argument("--json", help="write all timings to this file")
    parser.add_argument("--markdown", help="write a table of the medians to this file")
    parser.add_argument("--plot", help="draw to this file, .svg or .png; sweeps append their names")
    arguments = parser.parse_args()
    modes[arguments.mode](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
