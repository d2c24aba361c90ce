"""dmlcpu itself as a competitor: as installed, in other builds, on other instruction sets.

A build is named as ``dmlcpu``, ``dmlcpu@x86-64-v2`` for an instruction set of it; ``NAME=FOLDER`` or
``NAME=FOLDER@x86-64-v2`` for another one in a folder that ``pip install --target FOLDER`` filled; or
``git:COMMIT`` or ``git:COMMIT@x86-64-v2`` for what a commit of this checkout holds, which is built first
and needs what a build needs (scikit-build-core, pybind11, cmake, ninja). Each runs in a process of its
own, and they take turns.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def installed():
    import dmlcpu

    return dmlcpu


def isas():
    """The instruction sets of the installed build, the best first."""
    return installed().instruction_sets()[::-1]


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


def call_for(package, workload, x, indices=None):
    options = workload.options
    if workload.is_arg:
        axis = options["axis"]
        if workload.smallest:
            return lambda: package.argmin(x, axis, keepdims=False)
        if options.get("last"):
            return lambda: package.argmax(x, axis, axis_direction=1, keepdims=False)
        if options.get("omit"):
            return lambda: package.argmax(x, axis, nan_policy="omit", keepdims=False)
        return lambda: package.argmax(x, axis, keepdims=False)
    if workload.operator == "top_k":
        k, axis = options["k"], options["axis"]
        if workload.smallest:
            return lambda: package.top_k(x, k, axis=axis, axis_direction=0)
        return lambda: package.top_k(x, k, axis=axis)
    if workload.reuse_output:
        out = np.empty((len(indices), *x.shape[indices.shape[1] :]), x.dtype)
        return lambda: package.gather_nd(x, indices, out=out)
    return lambda: package.gather_nd(x, indices)


class Build:
    """A process that measures one build whenever it is told to."""

    def __init__(self, specification):
        name, _, rest = specification.partition("=")
        folder, _, isa = (rest or name).partition("@")
        self.name = specification.replace(f"={folder}", "") if rest else specification
        command = [sys.executable, __file__, folder if rest else "", isa]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(builds, workload, rounds):
    """Seconds per call of each build, a list with one entry per round; the builds take turns."""
    for build in builds:
        build.ask(workload.name)
    return {
        name: list(times)
        for name, times in zip(
            [build.name for build in builds],
            zip(*([build.ask(None) for build in builds] for _ in range(rounds)), strict=True),
            strict=True,
        )
    }


def serve(folder, isa):
    """Answers each question of stdin: a workload's name prepares it, null measures it once more."""
    if folder:
        sys.path.insert(0, folder)
    import measure
    import workloads

    package = installed()
    if isa:
        package.use_instruction_set(isa)
    call = repeats = None
    for question in sys.stdin:
        name = json.loads(question)
        if name is not None:
            workload = next(w for w in workloads.WORKLOADS if w.name == name)
            call = call_for(package, workload, *workload.make(np.random.default_rng(0)))
            repeats = measure.repeats_of(call)
            answer = repeats
        else:
            answer = measure.turn(call, repeats)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
