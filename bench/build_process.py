"""The process of one build: each question on stdin is answered on stdout. A workload's name prepares it,
and is answered by a digest of the result; null measures it once more."""

import hashlib
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

COMMAND = Path(__file__).resolve().parent.parent / "python/dmlcpu/_command/__init__.py"


def take_works_of_this_checkout():
    """Calls and workloads are this checkout's, whatever the build's own command has."""
    spec = importlib.util.spec_from_file_location("dmlcpu._command", COMMAND)
    sys.modules["dmlcpu._command"] = importlib.util.module_from_spec(spec)  # its __path__ is enough


def digest(result):
    results = result if isinstance(result, tuple) else (result,)
    return hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest()


def serve(folder, isa):
    if folder:
        sys.path.insert(0, folder)
    import dmlcpu

    take_works_of_this_checkout()
    from dmlcpu._command import _competitors

    import measure
    import workloads

    if isa:
        dmlcpu.use_instruction_set(isa)
    call = repeats = None
    for question in sys.stdin:
        name = json.loads(question)
        if name is not None:
            workload = next(w for w in workloads.WORKLOADS if w.name == name)
            call = _competitors.call_of("dmlcpu", dmlcpu, workload, workload.tensors())
            answer = digest(call())
            repeats = measure.repeats_of(call, measure.LEAST)
        else:
            answer = measure.turn(call, repeats, measure.REST)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
