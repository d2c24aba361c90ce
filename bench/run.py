"""Measure dmlcpu beside the other libraries that are installed.

    python bench/run.py [--rounds N] [--only TEXT] [--contestants NAME ...] [--json FILE]
                         [--markdown FILE]

Prints, for each workload, every library's median and the ratio of the best other library to dmlcpu:
above 1, dmlcpu is faster. `pip install .[bench]` installs all of them.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys

os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))

import numpy as np

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


def run_workload(workload, names, rounds):
    tensors = workload.make(np.random.default_rng(0))
    calls = contestants.calls_for(workload, tensors, names)
    want = calls["dmlcpu"]()
    for name, call in list(calls.items()):
        if not measure.same_answer(workload, tensors, call(), want):
            print(f"  {name} gives another answer; left out")
            del calls[name]
    return measure.race(calls, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--contestants", nargs="*", help="default: all that are installed")
    parser.add_argument("--json", help="write all timings to this file")
    parser.add_argument("--markdown", help="write a table of the medians to this file")
    arguments = parser.parse_args()

    names = list(dict.fromkeys(["dmlcpu", *(arguments.contestants or contestants.installed())]))
    machine = {
        "processor": processor(),
        "threads": contestants.threads(),
        "date": datetime.date.today().isoformat(),
        "versions": contestants.versions(),
        "read_bytes_per_second": measure.read_bandwidth(contestants.threads()),
    }
    print(json.dumps(machine), flush=True)
    results, ratios = {}, []
    for workload in workloads.WORKLOADS:
        if arguments.only not in workload.name:
            continue
        results[workload.name] = run_workload(workload, names, arguments.rounds)
        print(report.line(workload.name, results[workload.name]), flush=True)
        ratio = report.ratio_of(results[workload.name])
        if ratio is not None and not workload.small:
            ratios.append(ratio)
    if ratios:
        print(
            f"best other library / dmlcpu: geometric mean {statistics.geometric_mean(ratios):.2f}, "
            f"least {min(ratios):.2f} (without small calls)"
        )
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"machine": machine, "seconds": results}, file, indent=1)
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(report.markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
