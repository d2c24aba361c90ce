"""docs/tuning.md has a row for each constant of the tuning headers, with its present value."""

import re
from pathlib import Path

import pytest

from data import TUNING
from workloads import WORKLOADS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/tuning.md").read_text()
MACHINES = ROOT / "cpp/src/plan/machine.cpp"
# Rows that begin with one name in code.
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| `\w+` \|", line)
]
UNITS = {"": 1, "Ki": 2**10, "KiB": 2**10, "MiB": 2**20}


def number(text):
    """Of "16", "16 Ki", "16 KiB" and "2 MiB"."""
    count, _, unit = text.partition(" ")
    return int(count) * UNITS[unit]


def test_every_constant_has_a_row():
    assert [row[0].strip("`") for row in ROWS] == list(vars(TUNING))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("`"))
def test_rows_are_current(row):
    name, value, trade_off, machine, date, only, _measured = row
    actual = getattr(TUNING, name.strip("`"))
    if callable(actual):
        # "(32) = 2, (33) = 6": results of some arguments.
        examples = re.findall(r"\(([\d, ]+)\) = (\d+)", value)
        assert ", ".join(f"({arguments}) = {result}" for arguments, result in examples) == value
        for arguments, result in examples:
            assert actual(*map(int, arguments.split(", "))) == int(result)
    else:
        assert number(value) == actual
    assert trade_off
    assert machine in ("", "Zen 3", "Zen 4", "Zen 5", "Skylake", "x86-64-v4")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", date)
    assert not only or any(only.strip("`") in workload.name for workload in WORKLOADS)


def test_machines_are_recorded():
    """Each column of costs has rows that say where they are from, and name costs that there are."""
    names = re.findall(r'^    \{"([a-z -]+)",', MACHINES.read_text(), re.M)
    section = PAGE.partition("## Machines\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (x86-64-v\d) \| ([a-z ,-]+) \| ([^|]+) \| ([-\d]+) \|", section, re.M)
    assert [row[0] for row in rows] == ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    for _column, costs, machine, date in rows:
        assert costs in ("all", "the others") or set(costs.split(", ")) < set(names)
        assert machine.startswith(("Zen ", "as for "))
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date)
