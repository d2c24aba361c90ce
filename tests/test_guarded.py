"""Nothing outside a tensor is read or written: inputs, outputs and indices lie at guard pages."""

import sys
from pathlib import Path

import numpy as np
import pytest

import guarded_calls
from guarded import GuardedMemory
from scripts import start_python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform not in ("linux", "darwin"), reason="protects pages by mprotect"
    ),
]


def run(note, *arguments):
    """The calls crash if one is wrong, so they have a process of their own."""
    done = start_python(*arguments)
    last = note.read_text().strip() if note.exists() else "before the first call"
    assert done.returncode == 0, f"{done.returncode}: {last}\n{done.stderr}"


@pytest.mark.parametrize("family", [family.__name__ for family in guarded_calls.FAMILIES])
def test_calls_at_guard_pages(family, tmp_path):
    note = tmp_path / "call"
    run(note, guarded_calls.__file__, family, str(note))


@pytest.mark.parametrize("at_end", [True, False])
def test_guards_are_exact(at_end, tmp_path):
    """Every element of an array can be used, and no byte beyond it."""
    memory = GuardedMemory(1000)
    x = memory.array((3, 5), np.dtype(np.int16), at_end, (-7, 1))
    x[...] = 7
    assert (x == 7).all()
    beyond = "x.ctypes.data + x.nbytes" if at_end else "x.ctypes.data - 1"
    done = start_python(
        "-c",
        "import ctypes, sys; import numpy as np\n"
        f"sys.path.append({str(Path(__file__).parent)!r})\n"
        "from guarded import GuardedMemory\n"
        f"x = GuardedMemory(1000).array((15,), np.dtype(np.int16), {at_end})\n"
        "x[...] = 7\n"
        "print('good', flush=True)\n"
        f"ctypes.string_at({beyond}, 1)\n",
    )
    assert done.stdout == "good\n"
    assert done.returncode < 0
