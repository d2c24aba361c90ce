"""The door for PyTorch: its samples, ties and NaN of the core, memory, errors, gradients."""

import importlib

import numpy as np
import pytest

import reference
from scripts import run_python

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
takes = importlib.import_module("dmlcpu.torch._kernels").takes
registered = torch.ops.dmlcpu

from torch import library as torch_library  # noqa: E402

from torch_cases import (  # noqa: E402
    ARGUMENTS,
    AT,
    DTYPES,
    NAMES,
    ROWS,
    X,
    agree,
    same,
    samples,
    tensors,
)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "complex64"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "gather_nd"])
def test_samples_of_torch(name, dtype, core_calls):
    count = 0
    for input, args, kwargs in samples(name, getattr(torch, dtype)):
        args = (*args, *kwargs.values())
        want = getattr(torch, name)(input, *args)
        agree(name, getattr(door, name)(input, *args), want, input, args)
        count += 1
    assert bool(core_calls) == (dtype in DTYPES or (dtype == "bool" and name == "index_select"))
    assert count or dtype in ("bool", "complex64")


def layouts(x):
    """The elements at other strides, and some of them."""
    wide = torch.zeros([2 * size for size in x.shape], dtype=x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
    yield x
    yield wide[tuple(slice(None, None, 2) for _ in x.shape)]
    yield x.permute(2, 0, 1)
    yield x[:, :1].expand(-1, 4, -1)
    yield x[0, :, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_and_nan(dtype, core_calls):
    """Those of the core, in every layout, read where they are."""
    x = X.to(getattr(torch, dtype))
    if x.is_floating_point():
        x[0, 0, 1] = x[1, 1, 0] = x[1, 1, 2] = float("nan")
        x[0, 1, 0] = -0.0
    for view in layouts(x):
        array = view.double().numpy() if x.is_floating_point() else view.numpy()
        for dim in range(-view.dim(), view.dim()):
            largest = reference.arg(array, [dim], largest=True)
            smallest = reference.arg(array, [dim], largest=False)
            for function, want in ((door.argmax, largest), (door.argmin, smallest)):
                same(function(view, dim, True), torch.from_numpy(want))
                same(function(view, dim), torch.from_numpy(want.squeeze(dim)))
            for function, want in ((door.max, largest), (door.min, smallest)):
                indices = torch.from_numpy(want)
                values, found = function(view, dim, keepdim=True)
                same((values, found), (view.gather(dim, indices), indices))
                same(tuple(function(view, dim)), (values.squeeze(dim), indices.squeeze(dim)))
            for direction in ("decreasing", "increasing"):
                k = view.shape[dim]
                want = reference.top_k(array, k, axis=dim, direction=direction)[1]
                indices = torch.from_numpy(np.ascontiguousarray(want))
                got = door.topk(view, k, dim, direction == "decreasing")
                same(tuple(got), (view.gather(dim, indices).contiguous(), indices))
        same(door.argmax(view), torch.tensor(array.argmax()))
        same(door.argmin(view, keepdim=True).flatten(), torch.tensor([array.argmin()]))
        for array in core_calls:
            assert array.__array_interface__["data"][0] == view.data_ptr()
            assert [n // view.itemsize for n in array.strides] == list(view.stride())
        core_calls.clear()


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "uint32", "complex64", "float8_e5m2"])
def test_gathers(dtype):
    x = X.to(getattr(torch, dtype))
    for index_type in (torch.int64, torch.int32):
        rows = ROWS.to(index_type)
        for view in (x, x.permute(2, 0, 1), x[:, :, ::2]):
            same(door.index_select(view, 0, rows), torch.stack([view[i] for i in (1, 0, 1)]))
        same(door.index_select(x, -2, rows), torch.stack([x[:, i] for i in (1, 0, 1)], 1))
        same(door.index_select(x, -3, rows[:0]), x[:0])
    for index_type in (torch.int64, torch.int32, torch.uint64, torch.uint32):
        at = (AT % 2).to(index_type)
        same(door.gather_nd(x, at), torch.stack([x[0, 1], x[1, 0]]))
        same(door.gather_nd(x, at[:, :1], 1), torch.stack([x[0, 0], x[1, 1]]))
    same(door.gather_nd(x, AT), torch.stack([x[0, 1], x[-1, -2]]))


def test_bfloat16_without_ml_dtypes():
    """Torch compares; gathers need no comparison."""
    code = """
        import sys
        sys.modules["ml_dtypes"] = None
        import torch, dmlcpu.torch
        x = torch.tensor([[1.0, 3.0], [2.0, 0.0]], dtype=torch.bfloat16)
        print(dmlcpu.torch.topk(x, 1).values.tolist(), dmlcpu.torch.argmin(x).item())
        print(dmlcpu.torch.index_select(x, 0, torch.tensor([1])).tolist())
    """
    assert run_python(code) == "[[3.0], [2.0]] 3\n[[2.0, 0.0]]"


def test_what_the_core_does_not_take(core_calls):
    deep = torch.arange(512).view([2] * 9)
    same(door.topk(deep, 1, 3), torch.topk(deep, 1, 3))
    same(door.max(X > 1, 1), torch.max(X > 1, 1))
    same(door.topk(X, 0), torch.topk(X, 0))
    same(door.topk(X.to("meta"), 2, 0), torch.topk(X.to("meta"), 2, 0))
    assert not core_calls
    unaligned = torch.frombuffer(bytearray(13), dtype=torch.float32, offset=1)
    assert not takes("min", unaligned, 0)
    empty = torch.empty(0, 3)
    for name, args in (("argmax", (1,)), ("max", (-1,)), ("topk", (2,))):
        same(getattr(door, name)(empty, *args), getattr(torch, name)(empty, *args))
    for name, args in (("argmax", ()), ("min", (0, True)), ("topk", (1,)), ("argmin", (-1, True))):
        zero_d = torch.tensor(5.0)
        same(getattr(door, name)(zero_d, *args), getattr(torch, name)(zero_d, *args))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_out(name, dtype, core_calls):
    x = X.to(getattr(torch, dtype))
    want = getattr(door, name)(x, *ARGUMENTS[name])
    pair = isinstance(want, tuple)
    wide = [torch.full([2 * n for n in t.shape], 9, dtype=t.dtype) for t in tensors(want)]
    cut = [tuple(slice(None, None, 2) for _ in t.shape) for t in wide]
    views = tuple(t[at] for t, at in zip(wide, cut))
    core_calls.clear()
    got = getattr(door, name)(x, *ARGUMENTS[name], out=views if pair else views[0])
    assert len(core_calls) == 1
    assert all(a is b for a, b in zip(tensors(got), views))
    assert all(torch.equal(a, b) for a, b in zip(views, tensors(want)))
    for whole, at in zip(wide, cut):  # elements between were left alone
        whole[at] = 9
        assert (whole == 9).all()
    small = [t.new_empty(0) for t in tensors(want)]
    same(getattr(door, name)(x, *ARGUMENTS[name], out=small if pair else small[0]), want)


def test_out_may_overlap_the_input():
    x = torch.tensor([[1, 5], [7, 2]])
    assert door.argmax(x, 1, out=x[:, 0]) is not None
    assert x.tolist() == [[1, 5], [0, 2]]


def error_of(module, call):
    try:
        call(module)
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("no error")


F = torch.zeros(2, 3)
LONG = torch.zeros(2, 1, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: m.topk(F, 4), "k: must be in [0, 3] (the size of dim -1), got 4"),
        (lambda m: m.topk(F, -1), "k: must be in [0, 3] (the size of dim -1), got -1"),
        (lambda m: m.topk(F, "1"), "k: must be an int, got str"),
        (lambda m: m.topk(F, True), "k: must be an int, got bool"),
        (lambda m: m.topk(F, 1.0), "k: must be an int, got float"),
        (lambda m: m.topk(F, 1, 2), "dim: must be in [-2, 1], got 2"),
        (lambda m: m.topk(F, 1, None), "dim: must be an int, got NoneType"),
        (lambda m: m.topk([1], 1), "input: must be a torch.Tensor, got list"),
        (
            lambda m: m.topk(torch.tensor(1.0), 2),
            "k: must be in [0, 1] (the size of dim -1), got 2",
        ),
        (lambda m: m.argmax(F, -3), "dim: must be in [-2, 1], got -3"),
        (lambda m: m.argmin(F, "0"), "dim: must be an int, got str"),
        (lambda m: m.argmax(F[:0]), "dim: must have at least 1 element, got dim None of size 0"),
        (lambda m: m.argmax(F[:0], 0), "dim: must have at least 1 element, got dim 0 of size 0"),
        (lambda m: m.max(F[:0], 0), "dim: must have at least 1 element, got dim 0 of size 0"),
        (lambda m: m.min(torch.tensor(1.0), 1), "dim: must be in [-1, 0], got 1"),
        (lambda m: m.argmax(F > 0), "argmax(): does not support bool input"),
        (lambda m: m.topk(F + 0j, 1), "topk does not support complex dtypes on CPU"),
        (lambda m: m.index_select(F, 2, LONG[0]), "dim: must be in [-2, 1], got 2"),
        (lambda m: m.index_select(F, 0, [0]), "index: must be a torch.Tensor, got list"),
        (lambda m: m.index_select(F, 0, LONG), "Index is supposed to be a vector"),
        (lambda m: m.index_select(F, 0, F[0]), "Expected dtype int32 or int64 for index"),
        (lambda m: m.index_select(F, 0, torch.tensor([-1])), "index out of range in self"),
        (lambda m: m.index_select(F, 1, torch.tensor([3])), "out of DATA bounds, id=3 axis_dim=3"),
        (
            lambda m: m.topk(F, 1, out=(LONG.int(), LONG)),
            "out: must be of dtype torch.float32, got",
        ),
        (
            lambda m: m.topk(F, 1, out=(F[:, :1], F[:, :1])),
            "out: must be of dtype torch.int64, got",
        ),
        (lambda m: m.topk(F, 1, out=F), "out: must be a pair of tensors, got Tensor"),
        (lambda m: m.argmax(F, 1, out=F[:, 0]), "out: must be of dtype torch.int64, got"),
        (lambda m: m.argmax(F, 1, out=3), "out: must be a torch.Tensor, got int"),
        (
            lambda m: m.max(F.clone().requires_grad_(), 0, out=(F[0], LONG[:, 0])),
            "out: must be None where gradients are wanted, got tensors",
        ),
    ],
)
def test_errors_have_types_of_torch(call, text):
    kind, message = error_of(door, call)
    assert text in message
    assert kind is error_of(torch, call)[0]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: door.gather_nd(X, AT + 2), IndexError, r"indices: .* got 2"),
        (lambda: door.gather_nd(X, AT[:, :0]), ValueError, r"indices: "),
        (lambda: door.gather_nd(X, AT.double()), TypeError, r"indices: must be of dtype"),
        (lambda: door.gather_nd(X, AT, 3), ValueError, r"batch_dims: "),
        (lambda: door.gather_nd(X, AT, "1"), TypeError, r"batch_dims: must be an int, got str"),
        (lambda: door.gather_nd(X, [[0]]), TypeError, r"indices: must be a torch.Tensor, got list"),
    ],
)
def test_errors_of_gather_nd(call, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        call()


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name, gradients):
    for x in (X.float(), X.bfloat16().permute(2, 0, 1), X[:, ::2].double()):
        x = x.clone(memory_format=torch.preserve_format).requires_grad_(gradients)
        args = ARGUMENTS[name]
        if name == "gather_nd":
            args = (torch.zeros(3, 2, dtype=torch.int64), 0)
        torch_library.opcheck(getattr(registered, name).default, (x, *args))
        if not gradients:
            results = tensors(getattr(registered, name).default(x, *args))
            names = ("values", "indices") if len(results) == 2 else ("out",)
            out = dict(zip(names, map(torch.empty_like, results)))
            torch_library.opcheck(getattr(registered, name).out, (x, *args), out)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("max", (1,)), ("max", (0, True)), ("min", (-1,)), ("topk", (2,)), ("topk", (2, 0, False)),
        ("gather_nd", (torch.tensor([[0, 1], [-1, 0], [0, 1]]),)),
        ("gather_nd", (torch.tensor([[[1], [1]], [[0], [2]], [[-1], [0]]]), 1)),
        ("index_select", (0, torch.tensor([2, 0, 2]))), ("index_select", (1, torch.tensor([0]))),
    ],
)  # fmt: skip
def test_gradients(name, args):
    x = torch.randperm(36).double().view(3, 4, 3).requires_grad_()

    def run(x):
        return tensors(getattr(door, name)(x, *args))[0]

    assert torch.autograd.gradcheck(run, x)
    assert torch.autograd.gradgradcheck(run, x)
    zero_d = torch.tensor(2.0, requires_grad=True)
    if name in ("max", "min"):
        tensors(getattr(door, name)(zero_d, 0))[0].backward()
        assert zero_d.grad == 1
