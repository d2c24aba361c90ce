"""python -m dmlcpu argmax, argmin, topk and gather: every option, and wrong ones."""

import itertools
import os
import threading

import numpy as np
import pytest

import dmlcpu
from dmlcpu._command import _slabs

from commands import equal, fails, run, succeeds
from scripts import run_shell, start_python

RNG = np.random.default_rng(0)
INPUTS = {
    "normal": RNG.standard_normal((7, 5, 6), np.float32),
    "ties": RNG.integers(0, 3, (7, 5, 6)).astype(np.int8),
    "NaNs": np.where(RNG.random((7, 5, 6)) < 0.3, np.nan, RNG.standard_normal((7, 5, 6))),
    "fortran": np.asfortranarray(RNG.standard_normal((6, 7, 5))),
    "long": RNG.integers(0, 50, 300).astype(np.float16),
    "row": RNG.integers(0, 50, (1, 300)).astype(np.uint16),
    "column": RNG.integers(0, 50, (300, 1)).astype(np.int64),
    "halves": RNG.random((4, 60)) < 0.5,
}


@pytest.fixture(params=[2**26, 100], ids=["whole", "slabs"])
def slab_bytes(request, monkeypatch):
    """Work in one piece, and in many."""
    monkeypatch.setattr(_slabs, "SLAB_BYTES", request.param)
    return request.param


def axes_of(x):
    axes = range(x.ndim)
    return [None, *(c for n in range(x.ndim + 1) for c in itertools.combinations(axes, n))]


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("command", ["argmax", "argmin"])
def test_arg(command, name, slab_bytes, folder):
    x = INPUTS[name]
    np.save("x.npy", x)
    for axis, last, omit in itertools.product(axes_of(x), (False, True), (False, True)):
        options = [] if axis is None else [f"--axis={','.join(map(str, axis))}"]
        options += ["--last"] * last + ["--nan-policy", "omit"] * omit
        succeeds(command, "x.npy", "-o", "out.npy", *options)
        want = getattr(dmlcpu, command)(
            x,
            axis,
            axis_direction="decreasing" if last else "increasing",
            nan_policy="omit" if omit else "propagate",
        )
        equal("out.npy", want)


def test_other_options_of_arg(slab_bytes, folder):
    x = INPUTS["normal"]
    np.save("x.npy", x)
    options = ["--no-keepdims", "--index-dtype", "int64", "--axis", "-1"]
    succeeds("argmax", "x.npy", *options, "--axis-direction", "decreasing", "-o", "out.npy")
    equal("out.npy", x.argmax(-1))
    succeeds("argmax", "x.npy", "--no-keepdims", "--output", "out.npy")
    equal("out.npy", np.uint32(x.argmax())[...])


@pytest.mark.parametrize("name", INPUTS)
def test_top_k(name, slab_bytes, folder, monkeypatch):
    monkeypatch.setattr(_slabs, "_CANDIDATES_SHARE", 2)
    x = INPUTS[name]
    np.save("x.npy", x)
    for axis, k, smallest, omit in itertools.product(
        range(-1, x.ndim - 1), (1, 3, "all"), (False, True), (False, True)
    ):
        k = x.shape[axis] if k == "all" else min(k, x.shape[axis])
        options = ["--smallest"] * smallest + ["--nan-policy", "omit"] * omit
        succeeds("topk", "x.npy", "-k", k, "--axis", axis, "-o", "v.npy", "i.npy", *options)
        want = dmlcpu.top_k(
            x,
            k,
            axis=axis,
            axis_direction="increasing" if smallest else "decreasing",
            nan_policy="omit" if omit else "propagate",
        )
        equal("v.npy", want.values)
        equal("i.npy", want.indices)


def test_other_options_of_top_k(slab_bytes, folder):
    x = INPUTS["long"]
    np.save("x.npy", x)
    options = ["--index-dtype", "uint64", "--axis-direction", "increasing"]
    succeeds("topk", "x.npy", "-k", "2", *options, "-o", "v.npy", "i.npy")
    want = dmlcpu.top_k(x, 2, axis_direction="increasing", index_dtype=np.uint64)
    equal("v.npy", want.values)
    equal("i.npy", want.indices)


@pytest.mark.parametrize("batch_dims", [0, 1, 2])
@pytest.mark.parametrize("t", [1, 2])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_gather(batch_dims, t, dtype, slab_bytes, folder):
    x = np.asfortranarray(RNG.standard_normal((3, 4, 5, 6), np.float32))
    if batch_dims + t > x.ndim:
        pytest.skip("no such call")
    indices = RNG.integers(0, 3, (*x.shape[:batch_dims], 7, 5, t)).astype(dtype)
    np.save("x.npy", x)
    np.save("indices.npy", indices)
    succeeds("gather", "x.npy", "indices.npy", "--batch-dims", batch_dims, "-o", "out.npy")
    equal("out.npy", dmlcpu.gather_nd(x, indices, batch_dims=batch_dims))


def test_gather_out_of_range(slab_bytes, folder, capsys):
    x = np.arange(400.0)
    indices = np.arange(400)[:, None]
    indices[333] = 400
    indices[340] = 500
    np.save("x.npy", x)
    np.save("indices.npy", indices)
    text = "indices (indices.npy): must be in [-400, 399] for axis 0, of size 400, got 400 at position (333, 0)"
    fails(capsys, text, "gather", "x.npy", "indices.npy", "-o", "out.npy")
    succeeds("gather", "x.npy", "indices.npy", "-o", "out.npy", "--mode", "clip")
    equal("out.npy", x[np.minimum(indices[:, 0], 399)])
    np.save("one.npy", np.array([3]))
    succeeds("gather", "x.npy", "one.npy", "-o", "out.npy")
    equal("out.npy", np.array(3.0))


def test_empty_and_zero_dimensional(slab_bytes, folder, capsys):
    np.save("empty.npy", np.zeros((0, 3), np.float32))
    succeeds("argmax", "empty.npy", "--axis", "1", "-o", "out.npy")
    equal("out.npy", np.zeros((0, 1), np.uint32))
    succeeds("topk", "empty.npy", "-k", "2", "-o", "v.npy", "i.npy")
    equal("v.npy", np.zeros((0, 2), np.float32))
    np.save("indices.npy", np.zeros((0, 1), int))
    succeeds("gather", "empty.npy", "indices.npy", "-o", "out.npy")
    equal("out.npy", np.zeros((0, 3), np.float32))
    with pytest.raises(ValueError) as raised:
        dmlcpu.argmax(np.zeros((0, 3), np.float32))
    text = str(raised.value).replace("input", "input (empty.npy)", 1)
    fails(capsys, text, "argmax", "empty.npy", "-o", "out.npy")
    np.save("narrow.npy", np.zeros((5, 0), np.float32))
    np.save("indices.npy", np.array([[7]]))
    text = (
        "indices (indices.npy): must be in [-5, 4] for axis 0, of size 5, got 7 at position (0, 0)"
    )
    fails(capsys, text, "gather", "narrow.npy", "indices.npy", "-o", "out.npy")
    np.save("scalar.npy", np.float32(3))
    for axis in ([], ["--axis", "0"], ["--axis", "-1"], ["--axis="]):
        succeeds("argmin", "scalar.npy", "-o", "out.npy", *axis)
        equal("out.npy", np.zeros((), np.uint32))
    text = "axis: must be in [-1, 0] (input has 0 dimensions), got 1"
    fails(capsys, text, "argmin", "scalar.npy", "--axis", "1", "-o", "out.npy")
    succeeds("topk", "scalar.npy", "-k", "1", "-o", "v.npy", "i.npy")
    equal("v.npy", np.array(3, np.float32))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("the following arguments are required: input", ["argmax"]),
        ("argument --axis: must be integers with commas, got '1,b'", ["argmax", "x.npy", "-o", "y", "--axis", "1,b"]),
        ("argument --axis: invalid int value: '0,1'", ["topk", "x.npy", "-k", "1", "-o", "y", "z", "--axis", "0,1"]),
        ("the following arguments are required: -k", ["topk", "x.npy", "-o", "y", "z"]),
        ("argument -o/--output: expected 2 arguments", ["topk", "x.npy", "-k", "1", "-o", "y"]),
        ("argument --index-dtype: invalid choice: 'float32'", ["argmin", "x.npy", "-o", "y", "--index-dtype", "float32"]),
        ("argument --index-dtype: invalid choice: 'int8'", ["topk", "x.npy", "-k", "1", "-o", "y", "z", "--index-dtype", "int8"]),
        ("argument --last: not allowed with argument --axis-direction", ["argmin", "x.npy", "-o", "y", "--axis-direction", "decreasing", "--last"]),
        ("invalid choice: 'sort'", ["sort"]),
        ("argument --seconds: must be a positive number, got -1", ["bench", "--seconds", "-1"]),
        ("argument --seconds: must be a positive number, got soon", ["bench", "--seconds", "soon"]),
        ("not allowed with argument --include-dir", ["--include-dir", "--cmake-dir"]),
    ],
)  # fmt: skip
def test_wrong_options(text, arguments, folder, capsys):
    with pytest.raises(SystemExit) as raised:
        run(*arguments)
    assert raised.value.code == 2
    assert text in capsys.readouterr().err


def test_exit_codes_of_a_process(folder):
    np.save("x.npy", np.array([1, 3, 2]))
    codes = []
    output = ["-o", folder / "out.npy"]
    for arguments in (output, [*output, "--axis", "3"], [], ["--axis", "a"]):
        done = start_python("-m", "dmlcpu", "argmax", folder / "x.npy", *arguments)
        codes.append(done.returncode)
        assert "Traceback" not in done.stderr
        assert done.stdout == ("" if arguments else "[1]\n")
    assert codes == [0, 1, 0, 2]
    equal("out.npy", np.array([1], np.uint32))


def test_an_empty_name(folder, capsys):
    fails(capsys, "'': No such file or directory", "argmax", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("options", ["--version", "--help", "--include-dir", ""])
@pytest.mark.parametrize(
    ("output", "why"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_what_is_printed_is_lost_with_a_text(options, output, why, folder):
    code, _, said = run_shell(f'"$PYTHON" -m dmlcpu {options} {output}', folder)
    assert code == 1
    assert said.endswith(f"error: standard output: {why}\n")
    assert said.count("\n") == 1


def test_main_works_in_another_thread(folder):
    """Where no signals can be handled."""
    np.save("x.npy", np.array([1, 3, 2]))
    codes = []
    thread = threading.Thread(
        target=lambda: codes.append(run("argmax", "x.npy", "-o", "out.npy")),
    )
    thread.start()
    thread.join()
    assert codes == [0]
