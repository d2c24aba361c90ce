"""Outputs of the door for PyTorch: the memory they are in, and what is written to none of it."""

import contextlib
import importlib
import math
import os
import sys
from pathlib import Path

import pytest

from scripts import run_python

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")

from torch_cases import NAMES, tensors  # noqa: E402

OVERLAPPING = (
    "argmax",
    "argmin",
    "sort",
    "argsort",
)  # whose outputs torch lets be in the input's memory


def arguments(name, rows):
    """The arguments after an input with `rows` rows; gathers take half of the rows."""
    at = torch.arange(rows // 2)
    kinds = {
        "topk": (1, 1),
        "kthvalue": (1, 1),
        "index_select": (0, at),
        "gather_nd": (at[:, None],),
    }
    return kinds.get(name, (1,))


def given(outs):
    return tuple(outs) if len(outs) > 1 else outs[0]


PLACES = {
    "start": lambda x, shape: x.view(-1)[: math.prod(shape)].view(shape),
    "end": lambda x, shape: x.view(-1)[-math.prod(shape) :].view(shape),
    "gaps": lambda x, shape: (
        x.view(-1)[:: 1 + (math.prod(shape) < x.numel())][: math.prod(shape)].view(shape)
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("rows", [4, 6000])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_in_the_memory_of_the_input(name, rows, place):
    """They are refused where torch refuses them; else results are those of the input as it was."""
    before = torch.arange(rows * 4).view(rows, 4)
    args = arguments(name, rows)
    want = tensors(getattr(door, name)(before, *args))
    for which in range(len(want)):
        # Torch has no gather_nd, no output of argsort, and looks at the values of kthvalue alone.
        alone = name in ("gather_nd", "argsort") or (name == "kthvalue" and which)
        for module in (door,) if alone else (torch, door):
            x, outs = before.clone(), [torch.empty_like(t) for t in want]
            outs[which] = PLACES[place](x, want[which].shape)
            if place == "gaps" or name in OVERLAPPING:
                getattr(module, name)(x, *args, out=given(outs))
                assert module is torch or all(map(torch.equal, outs, want))
            else:
                text = "^out: must share no memory with input" if module is door else "memory"
                with pytest.raises(RuntimeError, match=text):
                    getattr(module, name)(x, *args, out=given(outs))
                assert torch.equal(x, before)


@pytest.mark.parametrize("name", NAMES)
def test_the_input_as_output(name):
    """It is refused, or resized after the results are known."""
    x = torch.arange(16).view(4, 4)[:, ::2]
    args = arguments(name, 4)
    want = tensors(getattr(door, name)(x, *args))
    outs = [x, *[torch.empty_like(t) for t in want[1:]]]
    if name not in OVERLAPPING:
        with pytest.raises(RuntimeError, match="^out: must share no memory with input"):
            getattr(door, name)(x, *args, out=given(outs))
        assert x.tolist() == [[0, 2], [4, 6], [8, 10], [12, 14]]
    else:
        resized = pytest.warns(UserWarning, match="An output with one or more elements was resized")
        with resized if want[0].shape != x.shape else contextlib.nullcontext():
            getattr(door, name)(x, *args, out=given(outs))
        assert all(map(torch.equal, outs, want))


@pytest.mark.parametrize("rows", [4, 6000])
@pytest.mark.parametrize("name", ["index_select", "gather_nd"])
def test_outputs_in_the_memory_of_indices(name, rows):
    args = arguments(name, rows)
    at = args[-1].view(-1)
    with pytest.raises(RuntimeError, match="^out: must share no memory with ind"):
        getattr(door, name)(torch.ones(rows, dtype=torch.int64), *args, out=at)
    assert torch.equal(at, torch.arange(rows // 2))


@pytest.mark.parametrize("bytes_left", [0, 16])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_that_their_storage_does_not_hold(name, bytes_left):
    """Nothing is written to them or beside them; those without elements are resized."""
    code = f"""
        import torch, test_torch_outputs as t
        call = getattr(t.door, "{name}")
        for rows in (6, 6000):
            x, args = torch.ones(rows, 5), t.arguments("{name}", rows)
            want = t.tensors(call(x, *args))
            for which in range(len(want)):
                outs = [torch.zeros_like(result) for result in want]
                outs[which].untyped_storage().resize_({bytes_left})
                try:
                    call(x, *args, out=t.given(outs))
                except RuntimeError as error:
                    assert str(error).startswith("out: must be held by its storage"), error
                else:
                    raise AssertionError("no error")
                assert not any(out.any() for out in outs if out is not outs[which])
            outs = [result.new_empty(0) for result in want]
            for out in outs:
                out.untyped_storage().resize_({bytes_left})
            call(x, *args, out=t.given(outs))
            assert all(map(torch.equal, outs, want))
    """
    folders = [str(Path(__file__).parent), *filter(None, sys.path)]
    run_python(code, PYTHONPATH=os.pathsep.join(folders))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_indices_in_an_input_that_needs_gradients(name, keepdim):
    x = torch.rand(3, 4, requires_grad=True)
    out = torch.empty(0, dtype=torch.int64)
    assert getattr(door, name)(x, 1, keepdim, out=out) is out
    assert torch.equal(out, getattr(torch, name)(x, 1, keepdim))
