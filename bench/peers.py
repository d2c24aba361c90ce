"""Every workload beside every library that is installed; where it streams, beside the memory too."""

import statistics
from functools import partial

import dmlcpu
from dmlcpu._command import _competitors
from dmlcpu._command._chart import picture, time_text, times_faster

import measure
import report
import workloads

HEADER = ["work", "dmlcpu", "best other", "times faster", "NumPy"]
HEADER += ["of the bandwidth", "over one thread"]


def libraries(arguments):
    return _competitors.installed(arguments.competitors)


def calls_of(workload, tensors, modules):
    """The calls of the libraries that give dmlcpu's answer."""

    def left_out(name, reason):
        print(f"  {name} is left out: {reason}")

    return _competitors.agreeing(workload, tensors, modules, left_out)


def on_one_thread(call):
    with dmlcpu.num_threads(1):
        call()


def compare(workload, modules, readings, rounds):
    """Seconds of all competitors: libraries, and, where the work streams, dmlcpu on one thread and
    reading as many bytes."""
    tensors = workload.tensors()
    calls = calls_of(workload, tensors, modules)
    if workload.streams:
        calls["one thread"] = partial(on_one_thread, calls["dmlcpu"])
        moved = workloads.moved_bytes(workload, tensors)
        calls |= {f"reading on {reading.count}": reading.of(moved) for reading in readings}
    return measure.compare(calls, rounds)


def medians_of(seconds):
    """The medians of the libraries alone."""
    medians = measure.medians_of(seconds)
    return {name: medians[name] for name in medians if name in _competitors.LIBRARIES}


def row_of(name, seconds):
    medians, by_library = measure.medians_of(seconds), medians_of(seconds)
    own = medians["dmlcpu"]
    ratio, best = times_faster(by_library)
    # Reading with one thread or with all, whichever is faster.
    reading = [time for name, time in medians.items() if name.startswith("reading")]
    return [
        name,
        time_text(own),
        f"{best} {time_text(medians[best])}" if best else "",
        report.ratio_text(ratio if best else None),
        time_text(medians["NumPy"]) if "NumPy" in medians else "",
        report.ratio_text(min(reading) / own if reading else None),
        report.ratio_text(medians["one thread"] / own if reading else None),
    ]


def summary(results):
    """Of the headline works that another library does."""
    ratios = {}
    for workload in workloads.HEADLINES:
        ratio, best = times_faster(medians_of(results.get(workload.name, {})))
        if best:
            ratios[workload.name] = ratio
    if not ratios:
        return ""
    below = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio < 1]
    return (
        f"best other library / dmlcpu over {len(ratios)} headline works: geometric mean "
        f"{statistics.geometric_mean(ratios.values()):.2f}, below 1: {'; '.join(below) or 'none'}"
    )


def peers(arguments):
    modules = libraries(arguments)
    page = report.Page(arguments, HEADER, modules)
    readings = [measure.Reading(count) for count in sorted({1, dmlcpu.get_num_threads()})]
    selection = workloads.WORKLOADS
    if arguments.headlines:
        selection = [workload for workload in selection if workload.headline]
    for workload in report.chosen(selection, arguments):
        seconds = compare(workload, modules, readings, arguments.rounds)
        page.add(row_of(workload.name, seconds), seconds)
    print(summary(page.results), flush=True)
    medians = {name: medians_of(seconds) for name, seconds in page.results.items()}
    medians = {name: by_library for name, by_library in medians.items() if len(by_library) > 1}
    page.write(plot=lambda path: picture(medians, page.caption, path))
