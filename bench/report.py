"""What every mode of the bench needs: the works chosen, and a page of results."""

import datetime
import json

import numpy as np

import dmlcpu
from dmlcpu._command import _competitors
from dmlcpu._diagnosis import _machine


def chosen(selection, arguments):
    return [work for work in selection if arguments.only in work.name]


def ratio_text(ratio):
    return "" if ratio is None else f"{ratio:.2f}"


def print_row(row):
    """Prints a row of a table: a name, then numbers."""
    print("  ".join(f"{text:>10}" if i else f"{text:42}" for i, text in enumerate(row)), flush=True)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


class Page:
    """The results of a mode: a table whose rows are printed as they come, all timings, and the machine.

    `modules` are the libraries that are measured beside dmlcpu and NumPy, by their names.
    """

    def __init__(self, arguments, header, modules=None):
        _machine.note_load()
        self.arguments, self.header = arguments, header
        self.rows, self.results = [], {}
        self.about = {
            "processor": _machine.processor(),
            "threads": dmlcpu.get_num_threads(),
            "instruction_set": dmlcpu.get_instruction_set(),
            "date": datetime.date.today().isoformat(),
            "versions": _competitors.versions({"dmlcpu": dmlcpu, "NumPy": np, **(modules or {})}),
        }

    @property
    def machine(self):
        """Of one row; docs/_ext/result_plots.py reads it."""
        return "{processor}, {threads} threads, {instruction_set}, {date}; {versions}.".format(
            **self.about
        )

    @property
    def caption(self):
        return "{processor}, {threads} threads, {date}".format(**self.about)

    def add(self, row, timings):
        """Adds a row, whose first cell names the work, and prints it; the timings are for --json."""
        self.rows.append(row)
        self.results[row[0]] = timings
        print_row(row)

    def write(self, text=None, plot=None):
        """Writes the files that the arguments name; `text` is what follows the machine if not the table,
        and plot(path) draws."""
        if self.arguments.json:
            with open(self.arguments.json, "w") as file:
                json.dump({"machine": self.about, "results": self.results}, file, indent=1)
        if self.arguments.markdown:
            with open(self.arguments.markdown, "w") as file:
                file.write(f"{self.machine}\n\n{text or table(self.header, self.rows)}")
        if self.arguments.plot and plot:
            plot(self.arguments.plot)
        elif self.arguments.plot:
            print(f"no plot of {self.arguments.mode}")
