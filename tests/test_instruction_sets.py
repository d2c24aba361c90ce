"""Instruction sets: listed, forced by call and environment, refused where the machine lacks them."""

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

from scripts import start_python

NAMES = dmlcpu.instruction_sets()
LACKED = _core.built_instruction_sets()[len(NAMES) :]


def test_listed():
    known = ("generic", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    first = known.index(NAMES[0])
    assert known[first : first + len(NAMES)] == NAMES
    assert dmlcpu.get_instruction_set() in NAMES


def test_each_can_be_used():
    before = dmlcpu.get_instruction_set()
    for name in NAMES:
        dmlcpu.use_instruction_set(name)
        assert dmlcpu.get_instruction_set() == name
        assert dmlcpu.argmax(np.arange(1000.0)) == 999
    dmlcpu.use_instruction_set("auto")
    assert dmlcpu.get_instruction_set() == NAMES[-1]
    dmlcpu.use_instruction_set(before)


@pytest.mark.parametrize("name", NAMES)
def test_environment(name):
    done = start_python("-c", "import dmlcpu; print(dmlcpu.get_instruction_set())", DMLCPU_ISA=name)
    assert done.stdout.strip() == name


def test_unknown():
    listed = ", ".join([*NAMES, "auto"])
    with pytest.raises(ValueError, match=f"^name: must be one of {listed}, got 'sse9'$"):
        dmlcpu.use_instruction_set("sse9")
    with pytest.raises(TypeError, match="^name: must be a str, got int$"):
        dmlcpu.use_instruction_set(4)
    done = start_python("-c", "import dmlcpu", DMLCPU_ISA="sse9")
    assert done.returncode == 1
    assert f"ImportError: DMLCPU_ISA: must be one of {listed}, got 'sse9'" in done.stderr


@pytest.mark.skipif(not LACKED, reason="every set that was built runs here")
def test_missing():
    for name in LACKED:
        with pytest.raises(ValueError, match=rf"got '{name}' \(which this processor lacks\)$"):
            dmlcpu.use_instruction_set(name)
