"""Measure dmlcpu: beside other libraries, the memory's bandwidth, over sizes, on random works, or builds.

    python bench/run.py peers     every workload beside every library that is installed
    python bench/run.py small     calls on a few elements, in nanoseconds
    python bench/run.py roofline  streaming workloads and gathers beside read and copy bandwidth
    python bench/run.py threads   streaming workloads on 1 to all threads, beside read bandwidth
    python bench/run.py busy      calls on all threads and on one, while other processes keep the
                                  processors busy
    python bench/run.py sweep     one size at a time, to find where speed falls off
    python bench/run.py dispatch  DirectML's descriptors on a few elements, from C++
    python bench/run.py doors     dmlcpu.numpy and dmlcpu.torch beside the functions that they stand for
    python bench/run.py sorts     sorts of random arrays (--count, --seed) beside NumPy's
                                  argsort and other libraries' sorts
    python bench/run.py dask      dmlcpu.dask beside dask.array: time, tasks, bytes sent, memory; and
                                  how long graphs of 10,000 chunks take
    python bench/run.py scaling   dmlcpu.dask on up to 1,000 workers: arithmetic beside a simulation
    python bench/run.py builds    builds or instruction sets of dmlcpu beside each other
    python bench/run.py random    works that nobody chose (--count, --seed) beside every library, and
                                  dmlcpu on views of many layouts beside a flat argmin's bandwidth

All write every timing as JSON (--json), medians as Markdown (--markdown) and plots (--plot, SVG or PNG).
bench/results has the tables, each as `run.py MODE --markdown bench/results/MODE.md` writes it, and the
plot of `peers --headlines`; git ignores JSON there. Whatever is compared is measured in interleaved
rounds in one process; answers are compared before. `pip install .[bench]`
installs the other libraries. OMP_NUM_THREADS sets the threads of all of them.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))

import builds
import busy
import clusters
import competitors
import dispatch
import doors
import measure
import plots
import random_run
import report
import rooflines
import scaling
import sorts
import sweeps
import workloads
from session import chosen, machine, tensors_of, write


def compare_peers(workload, arguments):
    """Seconds of all competitors that can do the workload and give dmlcpu's answer."""
    tensors = tensors_of(workload)
    names = dict.fromkeys(["dmlcpu", *(arguments.competitors or competitors.installed())])
    calls = competitors.calls_for(workload, tensors, names)
    want = calls["dmlcpu"]()
    for name, call in list(calls.items()):
        if not measure.same_answer(workload, tensors, call(), want):
            print(f"  {name} gives another answer; left out")
            del calls[name]
    return measure.compare(calls, arguments.rounds)


def peers(arguments, selection=workloads.WORKLOADS):
    if arguments.headlines:
        selection = [w for w in selection if w.headline]
    about = machine()
    results = {}
    for workload in chosen(selection, arguments):
        results[workload.name] = compare_peers(workload, arguments)
        print(report.peers_row(workload.name, results[workload.name]), flush=True)
    headlines = {w.name for w in workloads.HEADLINES}
    print(report.peers_summary(results, headlines), flush=True)
    write(
        arguments,
        about,
        results,
        report.peers_table(results),
        lambda path: plots.peers(about, results, path),
    )


def small(arguments):
    peers(arguments, workloads.SMALL)


def sweep(arguments):
    about = machine()
    results, texts = {}, []
    for name, curve in sweeps.SWEEPS.items():
        if arguments.only not in name:
            continue
        points = [
            sweeps.Point(
                size,
                compare_peers(workload, arguments),
                workloads.moved_bytes(workload, tensors_of(workload)),
            )
            for size, workload in curve.points
        ]
        again = sweeps.to_measure_again(points)
        for i in again * sweeps.SECOND_LOOKS:
            more = compare_peers(curve.points[i][1], arguments)
            for competitor, seconds in points[i].seconds.items():
                seconds += more.get(competitor, [])
        texts.append(report.sweep_text(curve, points, again, sweeps.cliffs(points)))
        print(texts[-1], flush=True)
        results[name] = points
        if arguments.plot:
            stem, _, ending = arguments.plot.rpartition(".")
            plots.sweep(about, curve, points, f"{stem}-{name.replace(' ', '-')}.{ending}")
    arguments.plot = None  # drawn already, a file for each sweep
    text = "\n".join(f"```\n{text}\n```\n" for text in texts)
    write(arguments, about, results, text)


def compare_builds(arguments):
    specifications = arguments.builds or [f"dmlcpu@{isa}" for isa in builds.isas()]
    with tempfile.TemporaryDirectory() as folder:
        competing = [
            builds.Build(builds.built(specification, Path(folder) / str(number)))
            for number, specification in enumerate(specifications)
        ]
        measure_builds(competing, arguments)


def measure_builds(competing, arguments):
    about = machine()
    names = [build.name for build in competing]
    results, rows = {}, []
    for workload in chosen(workloads.WORKLOADS, arguments):
        results[workload.name] = seconds = builds.compare(competing, workload, arguments.rounds)
        medians = measure.medians_of(seconds)
        first = medians[names[0]]
        rows.append(
            [
                workload.name,
                report.text_of(first),
                *(f"{first / medians[n]:.2f}" for n in names[1:]),
            ]
        )
        report.print_row(rows[-1])
    for build in competing:
        build.close()
    header = ["work", *names[:1], *(f"{name}, times as fast" for name in names[1:])]
    write(
        arguments,
        about,
        results,
        report.table(header, rows),
    )


def main():
    modes = {
        "peers": peers,
        "small": small,
        "roofline": rooflines.roofline,
        "threads": rooflines.threads,
        "busy": busy.measure_busy,
        "sweep": sweep,
        "dispatch": dispatch.dispatch,
        "doors": doors.doors,
        "sorts": sorts.sorts,
        "dask": clusters.dask,
        "scaling": scaling.scaling,
        "builds": compare_builds,
        "random": random_run.random_works,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=modes, nargs="?", default="peers")
    parser.add_argument("builds", nargs="*", help=builds.__doc__)
    parser.add_argument(
        "--rounds", type=int, help=f"default: 7, random and sorts {random_run.ROUNDS}"
    )
    parser.add_argument("--only", default="", help="workloads, or sweeps, whose name contains this")
    parser.add_argument("--headlines", action="store_true", help="peers: the headline works only")
    parser.add_argument("--competitors", nargs="*", help="default: all that are installed")
    parser.add_argument(
        "--count", type=int, default=200, help="random, sorts: works of each measure"
    )
    parser.add_argument("--seed", type=int, default=1, help="random, sorts: of the works")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--peers-only", action="store_true", help="random: no layouts")
    only.add_argument("--layouts-only", action="store_true", help="random: dmlcpu alone")
    parser.add_argument("--json", help="write all timings to this file")
    parser.add_argument("--markdown", help="write a table of the medians to this file")
    parser.add_argument("--plot", help="draw to this file, .svg or .png; sweeps append their names")
    arguments = parser.parse_args()
    if arguments.rounds is None:
        arguments.rounds = random_run.ROUNDS if arguments.mode in ("random", "sorts") else 7
    modes[arguments.mode](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
