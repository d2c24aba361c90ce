"""Measure dmlcpu: beside other libraries, over sizes, on random works, through doors, or builds of it.

    python bench/run.py peers     every workload beside every library that is installed, beside one
                                  thread and, where it streams, beside the memory's bandwidth
    python bench/run.py sweep     one size at a time, to find where speed falls off
    python bench/run.py random    works that nobody chose (--count, --seed): beside every library, sorts,
                                  and views of many layouts beside a flat argmin
    python bench/run.py doors     dmlcpu.numpy and dmlcpu.torch beside the functions that they stand for
    python bench/run.py dask      dmlcpu.dask beside dask.array: time, tasks, bytes sent, memory; and
                                  how long graphs of 10,000 chunks take
    python bench/run.py busy      calls on all threads and on one, while other processes keep the
                                  processors busy
    python bench/run.py dispatch  DirectML's descriptors on a few elements, from C++
    python bench/run.py builds    builds or instruction sets of dmlcpu beside each other

All write every timing as JSON (--json) and medians as Markdown (--markdown); peers and sweep draw plots
(--plot, SVG or PNG). bench/results has the tables, each as `run.py MODE --markdown bench/results/MODE.md`
writes it, and the plot of `peers --headlines`; git ignores JSON there. Whatever is compared is measured
in interleaved rounds in one process, builds in processes that take turns; answers are compared before.
`pip install .[bench]` installs the other libraries. OMP_NUM_THREADS sets the threads of all of them.
"""

import argparse
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))

from dmlcpu._command import _competitors

import builds
import busy
import clusters
import dispatch
import doors
import peers
import random_works
import sweeps

MODES = {
    "peers": peers.peers,
    "sweep": sweeps.sweep,
    "random": random_works.random_works,
    "doors": doors.doors,
    "dask": clusters.dask,
    "busy": busy.busy,
    "dispatch": dispatch.dispatch,
    "builds": builds.builds,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=MODES, nargs="?", default="peers")
    parser.add_argument("builds", nargs="*", help=builds.__doc__)
    parser.add_argument("--rounds", type=int, help="default: 7, random 3")
    parser.add_argument("--only", default="", help="workloads, or sweeps, whose name contains this")
    parser.add_argument("--headlines", action="store_true", help="peers: the headline works only")
    libraries = list(_competitors.LIBRARIES)
    parser.add_argument(
        "--competitors", nargs="*", choices=libraries, help="default: all that are installed"
    )
    parser.add_argument("--count", type=int, default=200, help="random: works of each kind")
    parser.add_argument("--seed", type=int, default=1, help="random: of the works")
    kinds = list(random_works.KINDS)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="random")
    parser.add_argument("--json", help="write all timings to this file")
    parser.add_argument("--markdown", help="write a table of the medians to this file")
    parser.add_argument("--plot", help="draw to this file, .svg or .png; sweeps append their names")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (3 if arguments.mode == "random" else 7)
    MODES[arguments.mode](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
