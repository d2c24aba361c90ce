"""Builds of dmlcpu beside each other.

A build is named as ``dmlcpu``, ``dmlcpu@x86-64-v2`` for an instruction set of it; ``NAME=FOLDER`` or
``NAME=FOLDER@x86-64-v2`` for another one in a folder that ``pip install --target FOLDER`` filled; or
``git:COMMIT`` or ``git:COMMIT@x86-64-v2`` for what a commit of this checkout holds, which is built first
and needs what a build needs (scikit-build-core, pybind11, cmake, ninja). Each runs in a process of its
own, bench/build_process.py, and they take turns.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import dmlcpu
from dmlcpu._command._chart import time_text

import measure
import report
import workloads

ROOT = Path(__file__).resolve().parent.parent


def install(tree, folder):
    """Builds the sources in a folder, and returns the folder that holds the package."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(folder), str(tree)]
    subprocess.run(command, check=True)
    return folder


def built(specification, folder):
    """The specification; if it is of a commit, that of its build in the folder."""
    source, _, commit = specification.partition("git:")
    if source or not commit:
        return specification
    commit, at, isa = commit.partition("@")
    tree = folder / "tree"
    tree.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    return f"{commit}={install(tree, folder / 'package')}{at}{isa}"


class Build:
    """A process that measures one build whenever it is told to."""

    def __init__(self, specification):
        name, _, rest = specification.partition("=")
        folder, _, isa = (rest or name).partition("@")
        self.name = specification.replace(f"={folder}", "") if rest else specification
        program = Path(__file__).with_name("build_process.py")
        command = [sys.executable, program, folder if rest else "", isa]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        with self.process:  # closes its pipes and waits for it
            pass


def compare(competing, workload, rounds):
    """Seconds per call of each build, a list with one entry per round; the builds take turns."""
    answers = {build.ask(workload.name) for build in competing}
    assert len(answers) == 1, f"answers differ: {workload.name}"
    turns = [[build.ask(None) for build in competing] for _ in range(rounds)]
    return dict(zip((build.name for build in competing), map(list, zip(*turns))))


def measure_builds(competing, arguments):
    first, *others = [build.name for build in competing]
    page = report.Page(arguments, ["work", first, *(f"{n}, times as fast" for n in others)])
    for workload in report.chosen(workloads.WORKLOADS, arguments):
        seconds = compare(competing, workload, arguments.rounds)
        medians = measure.medians_of(seconds)
        ratios = [f"{medians[first] / medians[name]:.2f}" for name in others]
        page.add([workload.name, time_text(medians[first]), *ratios], seconds)
    page.write()


def builds(arguments):
    """The builds that the arguments name, or the instruction sets of the installed one."""
    isas = dmlcpu.instruction_sets()[::-1]
    specifications = arguments.builds or [f"dmlcpu@{isa}" for isa in isas]
    with tempfile.TemporaryDirectory() as folder:
        competing = [
            Build(built(specification, Path(folder) / str(number)))
            for number, specification in enumerate(specifications)
        ]
        measure_builds(competing, arguments)
        for build in competing:
            build.close()
