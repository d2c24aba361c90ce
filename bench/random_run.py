"""Random works beside the other libraries, and random layouts beside the bandwidth of a flat argmin.

Each answer of dmlcpu is checked before it is timed; a wrong one ends the run. dmlcpu allocates its
outputs in each call, as its callers do. A library is left out of a work if it cannot do it, gives
another answer, crashes, or takes more than HOPELESS times as long as the fastest competitor; JSON says
for each work which ones are left out, and why. Never measured are JAX for 64-bit elements,
polars for more than one dimension or top-k, bottleneck for all but argmin and argmax of 32 and 64 bits.
"""

import json
import os
import statistics
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np

import answers
import builds
import competitors
import measure
import random_report
import report
import workloads
from progress import Progress
from random_works import layout_work, peer_work
from session import machine, tensors_of, write

ROUNDS = 3
REST = 0.015  # seconds, before each turn
LEAST = 0.005  # seconds that a turn takes
HOPELESS = 20
FLAT_BYTES = 2**28


def plan_of(workload, tensors):
    """How dmlcpu does the work."""
    package = builds.installed()
    names = ("argmin", "argmax", "top_k", "gather_nd")
    planner = SimpleNamespace(
        **{name: partial(package._core.plan_text, getattr(package, name)) for name in names}
    )
    return "; ".join(builds.call_for(planner, workload, *tensors)().splitlines())


def checked_call(workload, tensors):
    """dmlcpu's call and its answer, which is the right one."""
    call = builds.call_for(builds.installed(), workload, *tensors)
    answer = call()
    if not answers.is_right(workload, tensors, answer):
        sys.exit(f"\nwrong answer of dmlcpu: {workload.name}")
    return call, answer


def other_calls(workload, tensors, names, want, begins):
    """The calls of the libraries that are measured beside dmlcpu, and why others are left out."""
    left_out, calls, seconds = {}, {}, {}
    for name in names:
        begins(name)
        made = competitors.calls_for(workload, tensors, [name], left_out.__setitem__)
        for call in made.values():
            try:
                if measure.same_answer(workload, tensors, call(), want):
                    calls[name], seconds[name] = call, measure.quick_seconds(call, REST)
                else:
                    left_out[name] = "another answer"
            except Exception as error:
                left_out[name] = competitors.error_line(error)
    limit = HOPELESS * min(seconds.values(), default=0)
    left_out |= {name: f"takes {report.text_of(s)}" for name, s in seconds.items() if s > limit}
    return {name: calls[name] for name, s in seconds.items() if s <= limit}, left_out


def chosen(draw, arguments):
    """(number, work) of each work whose description contains the text of --only."""
    works = [(number, draw(arguments.seed, number)) for number in range(arguments.count)]
    return [(number, work) for number, work in works if arguments.only in str(work)]


def result_of(number, work, tensors, moved, seconds):
    return {
        "work": str(work),
        "number": number,
        "group": random_report.group_of(work),
        "moved": moved,
        "plan": plan_of(work.workload, tensors),
        "seconds": seconds,
    }


def measured(number, work, names, rounds, begins):
    """The seconds of every library; begins(name) is called before one is."""
    workload = work.workload
    tensors = tensors_of(workload)
    begins("dmlcpu")
    call, answer = checked_call(workload, tensors)
    others, left_out = other_calls(workload, tensors, names, answer, begins)
    del answer
    calls = {name: (partial(begins, name), c) for name, c in {"dmlcpu": call, **others}.items()}
    seconds = measure.compare(calls, rounds, LEAST, REST)
    moved = workloads.moved_bytes(workload, tensors)
    return result_of(number, work, tensors, moved, seconds) | {"left out": left_out}


class Measurer:
    """A process that measures works beside other libraries. If one crashes it, another process measures
    the work without that library."""

    def __init__(self, seed, rounds, names, program=(__file__,)):
        self.settings = {"seed": seed, "rounds": rounds, "names": names}
        self.program = program
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, *self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.tell(self.settings)

    def tell(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def result(self, number):
        crashed = {}
        while True:
            if self.process is None:
                self.start()
            self.tell({"number": number, "without": list(crashed)})
            running = None
            for message in map(json.loads, self.process.stdout):
                if "begins" not in message:
                    message["left out"] |= crashed
                    return message
                running = message["begins"]
            status = self.process.wait()
            self.close()
            # Python's own errors, and wrong answers, end with 1, and were printed.
            if status == 1 or running in (None, "dmlcpu"):
                sys.exit(f"work {number}: {running} ended the process with status {status}")
            crashed[running] = f"crashed, status {status}"

    def close(self):
        if self.process is not None:
            with self.process:
                self.process.stdin.close()
        self.process = None


def serve():
    """What a Measurer's process does: stdin brings the settings, then works; what it tells goes to
    stdout, which libraries do not print to."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(message):
        print(json.dumps(message), file=told, flush=True)

    settings = SimpleNamespace(**json.loads(sys.stdin.readline()))
    for question in map(json.loads, sys.stdin):
        number, without = question["number"], question["without"]
        work = peer_work(settings.seed, number)
        names = [name for name in settings.names if name not in without]
        tell(measured(number, work, names, settings.rounds, lambda name: tell({"begins": name})))


def beside_others(arguments):
    """Of each work the seconds of every library."""
    results = []
    names = [n for n in arguments.competitors or competitors.installed() if n != "dmlcpu"]
    works = chosen(peer_work, arguments)
    progress = Progress("beside others", len(works))
    measurer = Measurer(arguments.seed, arguments.rounds, names)
    for number, _ in works:
        results.append(measurer.result(number))
        progress.step()
    measurer.close()
    return results


def layouts(arguments):
    """What is measured of each work, dmlcpu alone, and the bytes per second of a flat argmin, which is
    measured before and after each."""
    results = []
    x = np.random.default_rng(0).standard_normal(FLAT_BYTES // 4, np.float32)
    flat = partial(builds.installed().argmin, x)
    flat_seconds = [measure.turn(flat, 1, REST)]
    works = chosen(layout_work, arguments)
    progress = Progress("layouts", len(works))
    for number, work in works:
        workload = work.workload
        tensors = tensors_of(workload)
        call, answer = checked_call(workload, tensors)
        outputs = answer if isinstance(answer, tuple) else (answer,)
        seconds = measure.compare({"dmlcpu": call}, arguments.rounds, LEAST, REST)["dmlcpu"]
        flat_seconds.append(measure.turn(flat, 1, REST))
        moved = work.bytes + sum(output.nbytes for output in outputs)
        results.append(result_of(number, work, tensors, moved, seconds))
        progress.step()
    bandwidth = FLAT_BYTES / statistics.median(flat_seconds)
    for result in results:
        result["share"] = result["moved"] / statistics.median(result["seconds"]) / bandwidth
    return results, bandwidth


def random_works(arguments):
    about = machine()
    results, texts = {"count": arguments.count, "seed": arguments.seed}, []
    if not arguments.layouts_only:
        results["beside others"] = works = beside_others(arguments)
        texts.append(random_report.beside_others(works))
        print(texts[-1], flush=True)
    if not arguments.peers_only:
        works, bandwidth = layouts(arguments)
        results |= {"layouts": works, "flat argmin, bytes per second": bandwidth}
        texts.append(random_report.layouts(works, bandwidth))
        print(texts[-1], flush=True)
    write(
        arguments,
        about,
        results,
        random_report.origin(results) + "\n".join(texts),
    )


if __name__ == "__main__":
    serve()
