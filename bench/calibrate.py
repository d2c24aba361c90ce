"""How well the planner chooses: every candidate of random argmax calls, timed.

    python bench/calibrate.py --count 200 --seed 1

The regret of a call is the time of the plan that is chosen over that of the fastest candidate. The
candidates of a call take turns, on one thread unless OMP_NUM_THREADS says more; the time of a candidate
is the least of some rounds. The answers of all candidates are compared.
"""

import argparse
import json
import os
import statistics
import sys

import numpy as np

import builds
import measure
import report
from progress import Progress
from random_works import layout_work

ROUNDS = 5
LEAST = 0.0005  # seconds that a turn takes
CHOSEN = -1


def plan_of(core, call, number):
    """The plan's text, without the line that numbers a candidate."""
    core.force_candidate(number)
    text = call(plan=True)
    core.force_candidate(CHOSEN)
    return text if number == CHOSEN else text[: text.rindex("candidate ")]


def candidate_count(core, call):
    core.force_candidate(0)
    text = call(plan=True)
    core.force_candidate(CHOSEN)
    return int(text.rsplit(" ", 1)[1])


def timed(core, call, numbers):
    """Seconds of a call by each candidate, which have the same answer."""
    repeats, answers, seconds = {}, {}, {number: [] for number in numbers}
    for number in numbers:
        core.force_candidate(number)
        answers[number] = np.asarray(call())
        repeats[number] = measure.repeats_of(call, LEAST)
    for number in numbers:
        if not np.array_equal(answers[number], answers[CHOSEN]):
            sys.exit(f"candidate {number} has another answer")
    for _ in range(ROUNDS):
        for number in numbers:
            core.force_candidate(number)
            call()
            seconds[number].append(measure.seconds_of(call, repeats[number]))
    core.force_candidate(CHOSEN)
    return {number: min(times) for number, times in seconds.items()}


def regret_of(package, work):
    """What is found for one work; None if it has no candidates."""
    core = package._core
    (x,) = work.make(np.random.default_rng(work.bytes))

    def call(plan=False):
        arguments = (x, work.axes)
        if plan:
            return core.plan_text(package.argmax, *arguments)
        return package.argmax(*arguments)

    count = candidate_count(core, call)
    if count < 2:
        return None
    chosen = plan_of(core, call, CHOSEN)
    plans = {number: plan_of(core, call, number) for number in range(count)}
    # The chosen plan is not timed a second time as a candidate.
    others = [number for number, plan in plans.items() if plan != chosen]
    seconds = timed(core, call, [CHOSEN, *others])
    best = min(seconds, key=seconds.__getitem__)
    return {
        "work": str(work),
        "regret": seconds[CHOSEN] / seconds[best],
        "seconds": seconds,
        "chosen": chosen,
        "best": plans.get(best, chosen),
    }


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def print_report(found, worst):
    regrets = [work["regret"] for work in found]
    print(
        f"{len(found)} works, {sum(len(work['seconds']) - 1 for work in found)} candidates; regret: "
        f"median {statistics.median(regrets):.3f}, 95 % {quantile(regrets, 0.95):.2f}, "
        f"worst {max(regrets):.2f}"
    )
    for work in sorted(found, key=lambda work: -work["regret"])[:worst]:
        chosen, best = (" | ".join(work[name].splitlines()[:3]) for name in ("chosen", "best"))
        seconds = report.text_of(work["seconds"][CHOSEN])
        print(
            f"\n{work['regret']:.2f} {work['work']}: {seconds}\n  chosen {chosen}\n  best   {best}"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="of works")
    parser.add_argument("--seed", type=int, default=0, help="of the works")
    parser.add_argument("--worst", type=int, default=10, help="works that are printed")
    parser.add_argument("--json", help="write all times to this file")
    arguments = parser.parse_args()
    package = builds.installed()
    found = []
    with package.num_threads(int(os.environ.get("OMP_NUM_THREADS", "1"))):
        progress = Progress("works", arguments.count)
        for number in range(arguments.count):
            work = layout_work(arguments.seed, 2 * number)
            found.append(regret_of(package, work))
            progress.step()
    found = [work for work in found if work]
    print_report(found, arguments.worst)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
