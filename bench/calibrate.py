"""What this machine's time goes to, and how well the planner chooses: every candidate of random calls
of argmax and top-k, timed.

    python bench/calibrate.py --count 3000

The candidates of a call take turns, on one thread; the time of a candidate is the least of some rounds.
The answers of all candidates are compared. The costs of a machine (cpp/src/plan/machine.hpp) are those
by which the times are explained best, for each element size.
The regret of a call is the time of the chosen candidate over that of the fastest one: of the costs in
use, and, on the half of the calls that was not looked at, of new costs from the other half.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np

import dmlcpu
from dmlcpu._command import _progress
from dmlcpu._command._chart import time_text
from dmlcpu._command._timing import repeats_of, seconds_of

from random_works import layout_work

ROUNDS = 4
LEAST = 0.0003  # seconds that a turn takes
CHOSEN = -1
SLOW = 8  # times as slow as the fastest candidate
LIMITS = ((2**8, 2**16), (2**16, 2**20), (2**20, 2**24))  # bytes of the works, in turns
ELEMENT_SIZES = (1, 2, 4, 8)
MACHINES = Path(__file__).parents[1] / "cpp/src/plan/machine.cpp"
# A fast candidate counts more than a slow one, which is not chosen as long as it is not taken for one.
EMPHASIS = 0.6
# How much the costs in use count beside the measured times.
INERTIA = 0.05
# The processor learns the branches of a sort in a call that is repeated; in other calls it takes this
# many times as long.
UNLEARNT = {"sorted item": 2.0}

ROW = re.compile(r'^    \{"([a-z -]+)", +\{\{(.*?)\}, \{(.*?)\}, \{(.*?)\}\}\},$', re.M)


def costs_in_use(instruction_set):
    """The names of all costs, and those of each element size."""
    rows = ROW.findall(MACHINES.read_text())
    costs = [
        [float(cost.strip(" F")) for cost in row[1 + column_of(instruction_set)].split(",")]
        for row in rows
    ]
    return [row[0] for row in rows], list(zip(*costs))


def column_of(instruction_set):
    return {"x86-64-v3": 1, "x86-64-v4": 2}.get(instruction_set, 0)


def written(text, instruction_set, costs):
    """The text of machine.cpp with these costs."""
    of_size = iter(zip(*costs))
    column = 2 + column_of(instruction_set)

    def row(match):
        numbers = ", ".join(f"{number_text(cost):>6}" for cost in next(of_size))
        first, last = (edge - match.start() for edge in match.span(column))
        return match[0][:first] + numbers + match[0][last:]

    return ROW.sub(row, text)


def number_text(cost):
    text = "0" if cost < 0.001 else f"{cost:.0f}" if cost >= 100 else f"{cost:.3g}"
    return text + "F" * ("." in text)


def candidates_of(text):
    """(marked, name, {cost: count}) of each candidate of a plan's text."""
    found = []
    for mark, name, counts in re.findall(r"^([* ]) [\d.]+ [nu]s  (.*): (.*)$", text, re.M):
        parts = (part.rsplit(" ", 1) for part in counts.split(", "))
        found.append((mark == "*", name, {cost: int(count) for cost, count in parts}))
    return found


def timed(core, call, count):
    """Seconds of a call by each candidate, which have the same answer."""
    repeats, seconds = [], [[] for _ in range(count)]
    want = call()
    for number in range(count):
        core.force_candidate(number)
        if not all(map(np.array_equal, call(), want)):
            sys.exit(f"candidate {number} has another answer")
        repeats.append(repeats_of(call, LEAST))
    for _ in range(ROUNDS):
        best = min(map(min, filter(None, seconds)), default=0)
        for number in range(count):
            if len(seconds[number]) > 1 and min(seconds[number]) > SLOW * best:
                continue  # it is not among the fastest
            core.force_candidate(number)
            seconds[number].append(seconds_of(call, repeats[number]))
    return [min(times) for times in seconds]


def measured(work):
    """What is found for one work; None if it has no choice."""
    core = dmlcpu._core
    (x,) = work.make(np.random.default_rng(work.bytes))
    if work.operator == "argmax":
        function, options = dmlcpu.argmax, {"axis": work.axes}
    else:
        direction = "increasing" if work.smallest else "decreasing"
        function = dmlcpu.top_k
        options = {"k": work.k, "axis": work.axes[0], "axis_direction": direction}
    candidates = candidates_of(core.plan_text(function, x, **options))
    if len(candidates) < 2:
        return None
    try:
        seconds = timed(core, lambda: list(function(x, **options)), len(candidates))
    finally:
        core.force_candidate(CHOSEN)
    return {
        "work": str(work),
        "instruction_set": dmlcpu.get_instruction_set(),
        "element_size": x.dtype.itemsize,
        "chosen": next(i for i, candidate in enumerate(candidates) if candidate[0]),
        "names": [candidate[1] for candidate in candidates],
        "counts": [candidate[2] for candidate in candidates],
        "seconds": seconds,
    }


def least_squares(equations, values, start):
    """The numbers of at least 0 that solve the equations best, one at a time in turns."""
    squares = equations.T @ equations
    wanted = equations.T @ values
    x = start.copy()
    for _ in range(3000):
        for j in range(len(x)):
            x[j] = max(0.0, x[j] + (wanted[j] - squares[j] @ x) / squares[j, j])
    return x


def fitted(works, names, before):
    """The nanoseconds of each cost that explain the times of some works best; `before` are those in
    use. What all candidates of a call pay is an unknown as well."""
    equations, values = [], []
    for work in works:
        seconds = np.array(work["seconds"])
        for counts, weight, t in zip(
            work["counts"], (seconds.min() / seconds) ** EMPHASIS, seconds
        ):
            row = [counts.get(name, 0) / UNLEARNT.get(name, 1) for name in names]
            equations.append(np.array([*row, 1]) * weight / (t * 1e9))
            values.append(weight)
    start = np.maximum([*before, 1000.0], 1e-3)
    if not equations:
        return start[:-1]
    equations, values = np.array(equations), np.array(values)
    # In units of what each cost explains, so that all have a like weight.
    units = np.maximum(np.linalg.norm(equations, axis=0), 1e-3 * np.linalg.norm(values) / start)
    pull = INERTIA * np.eye(len(units))
    solved = least_squares(
        np.vstack([equations / units, pull]),
        np.concatenate([values, pull @ (start * units)]),
        start * units,
    )
    return (solved / units)[:-1]


def costs_of(works, names, before):
    """The costs of each element size."""
    return [
        fitted([work for work in works if work["element_size"] == size], names, before[i])
        for i, size in enumerate(ELEMENT_SIZES)
    ]


def regret(work, costs=None, names=()):
    """Of the chosen candidate, or of the cheapest by these costs."""
    number = work["chosen"]
    if costs is not None:
        of_size = costs[ELEMENT_SIZES.index(work["element_size"])]
        number = min(
            range(len(work["counts"])),
            key=lambda i: sum(work["counts"][i].get(n, 0) * c for n, c in zip(names, of_size)),
        )
    return work["seconds"][number] / min(work["seconds"])


def regret_text(regrets):
    median, high = np.quantile(regrets, (0.5, 0.95))
    return f"median {median:.3f}, 95 % {high:.2f}, worst {max(regrets):.2f}"


def print_worst(works, count):
    for work in sorted(works, key=regret, reverse=True)[:count]:
        best = int(np.argmin(work["seconds"]))
        print(f"\n{regret(work):.2f} {work['work']}")
        for word, number in (("chosen", work["chosen"]), ("best", best)):
            seconds = time_text(work["seconds"][number])
            print(f"  {word:6} {seconds}: {work['names'][number]}")


def measure_works(arguments, works):
    """Fills in what is found for each work that has a choice; yields the share of all that is done."""
    for number in range(arguments.count):
        limits = LIMITS[number // 2 % len(LIMITS)]
        found = measured(layout_work(arguments.seed, number, limits, most_k=2**15))
        works += [found] if found else []
        yield (number + 1) / arguments.count


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="of works")
    parser.add_argument("--seed", type=int, default=0, help="of the works")
    parser.add_argument("--worst", type=int, default=10, help="works that are printed")
    parser.add_argument("--write", action="store_true", help="the costs to machine.cpp")
    parser.add_argument("--json", help="write all times to this file")
    parser.add_argument("--from-json", nargs="+", help="read times from these files instead")
    arguments = parser.parse_args()
    isa = dmlcpu.get_instruction_set()
    works = []
    if arguments.from_json:
        for path in arguments.from_json:
            with open(path) as file:
                works += json.load(file)
        others = {work["instruction_set"] for work in works} - {isa}
        if others:
            sys.exit(f"times of {', '.join(sorted(others))}, not {isa}")
    else:
        with dmlcpu.num_threads(1):
            _progress.follow("works", measure_works(arguments, works))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(works, file)
    names, before = costs_in_use(isa)
    count = sum(len(work["seconds"]) for work in works)
    print(f"{len(works)} works, {count} candidates, {isa}")
    print("regret, costs in use:", regret_text([regret(work) for work in works]))
    if len(works) > 1:
        new = costs_of(works[::2], names, before)
        print("regret, new costs:   ", regret_text([regret(w, new, names) for w in works[1::2]]))
    print_worst(works, arguments.worst)
    costs = costs_of(works, names, before)
    print("\nnanoseconds, of elements of 1, 2, 4 and 8 bytes")
    for name, of_size in zip(names, zip(*costs)):
        print(f"{name:16}" + "".join(f"{cost:9.3g}" for cost in of_size))
    if arguments.write:
        MACHINES.write_text(written(MACHINES.read_text(), isa, costs))


if __name__ == "__main__":
    main()
