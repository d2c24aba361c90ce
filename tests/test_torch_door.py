"""The door for PyTorch: its samples, ties and NaN of the core, memory, errors, gradients."""

import importlib

import numpy as np
import pytest

import reference
from scripts import run_python

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
kernels = importlib.import_module("dmlcpu.torch._kernels")
calls = importlib.import_module("dmlcpu.torch._calls")


from torch_cases import (  # noqa: E402
    ARGUMENTS,
    AT,
    DTYPES,
    NAMES,
    ROWS,
    SEARCHES,
    X,
    agree,
    error_samples,
    same,
    samples,
    tensors,
)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "complex64"])
@pytest.mark.parametrize("name", [name for name in SEARCHES if name != "gather_nd"])
def test_samples_of_torch(name, dtype, core_calls, any_size):
    count = 0
    for input, args, kwargs in samples(name, getattr(torch, dtype)):
        args = (*args, *kwargs.values())
        want = getattr(torch, name)(input, *args)
        agree(name, getattr(door, name)(input, *args), want, input, args)
        count += 1
    assert bool(core_calls) == (dtype in DTYPES or (dtype == "bool" and name == "index_select"))
    assert count or dtype in ("bool", "complex64")


def error_of(call, module):
    try:
        call(module)
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("no error")


def layouts(x):
    """The elements at other strides, and some of them."""
    wide = torch.zeros([2 * size for size in x.shape], dtype=x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
    yield x
    yield wide[tuple(slice(None, None, 2) for _ in x.shape)]
    yield x.permute(2, 0, 1)
    yield x[:, :1].expand(-1, 4, -1)
    yield x[0, :, 0]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gather_nd"])
def test_error_samples_of_torch(name):
    for kind, input, args, kwargs in error_samples(name):
        with pytest.raises(kind, match=r"^\w+: must "):
            getattr(door, name)(input, *args, **kwargs)


@pytest.mark.parametrize("small", ["core", "torch"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_ties_and_nan(dtype, small, core_calls, request):
    """Those of the core, in every layout, read where they are; torch's kernels find the same."""
    if small == "core":
        request.getfixturevalue("any_size")
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
        assert core_calls
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
    negated = torch.tensor([1 + 2j, 3 - 4j]).conj().imag  # whose memory holds 2 and -4
    same(tuple(door.topk(negated, 1)), (torch.tensor([4.0]), torch.tensor([1])))
    same(door.topk(torch._efficientzerotensor(3), 1).values, torch.zeros(1))
    with pytest.raises(RuntimeError, match="Sparse"):
        door.topk(X.to_sparse(), 1)
    core_calls.clear()
    unaligned = torch.frombuffer(bytearray(13), dtype=torch.float32, offset=1)
    assert not kernels._takes("min", unaligned, 0)
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
    assert len(core_calls) == 1 + ("median" in name)  # which look for NaN
    assert all(view._version for view in views)
    assert all(a is b for a, b in zip(tensors(got), views))
    assert all(torch.equal(a, b) for a, b in zip(views, tensors(want)))
    for whole, at in zip(wide, cut):  # elements between were left alone
        whole[at] = 9
        assert (whole == 9).all()
    small = [t.new_empty(0) for t in tensors(want)]
    same(getattr(door, name)(x, *ARGUMENTS[name], out=small if pair else small[0]), want)


@pytest.mark.parametrize("dim", [0, 1])
def test_out_of_gathers(dim, core_calls):
    """The core writes to it, if it fits; other dimensions are torch's."""
    out = torch.empty(3, 3, dtype=torch.int64)
    rows = torch.tensor([2, 0, 2])
    x = torch.arange(9).view(3, 3)
    assert door.index_select(x, dim, rows, out=out) is out
    assert torch.equal(out, torch.index_select(x, dim, rows))
    assert len(core_calls) == (dim == 0)
    out.resize_(4, 4)
    bits = torch.empty(2, dtype=torch.int16)
    with pytest.raises(
        RuntimeError, match=r"^out: must be of dtype torch.bfloat16, got torch.int16"
    ):
        door.gather_nd(torch.ones(2, dtype=torch.bfloat16), torch.tensor([[0], [1]]), out=bits)


@pytest.mark.parametrize("name", NAMES)
def test_calls_of_plain_tensors_need_no_dispatcher(name, monkeypatch, any_size):
    monkeypatch.setattr(calls, "_checked", None)
    x = X.float()
    want = getattr(door, name)(x, *ARGUMENTS[name])
    if "arg" in name:
        getattr(door, name)(x.requires_grad_(), *ARGUMENTS[name])
    with torch.inference_mode():
        got = getattr(door, name)(x.clone(), *ARGUMENTS[name])
    same(got, want)
    assert all(t.is_inference() for t in tensors(got))
    with torch.no_grad():
        got = getattr(door, name)(x.detach().requires_grad_(), *ARGUMENTS[name])
    same(got, want)
    if name in ("gather_nd", "index_select"):
        assert (
            getattr(door, name)(X, *ARGUMENTS[name], out=X[:0].clone().resize_(got.shape))
            is not None
        )


@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "index_select"])
def test_small_calls_are_torchs(name, core_calls):
    """They have the same answer, ties included."""
    least = kernels._LEAST[name]
    for size, expected in ((least - 1, 0), (least, 1)):
        x = torch.arange(10) if name == "index_select" else torch.arange(size)
        getattr(door, name)(x, 0, *[torch.zeros(size, dtype=torch.int64)] * (name[0] == "i"))
        assert len(core_calls) == expected


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
        (lambda m: m.topk(F, 1, largest=1), "largest: must be a bool, got int"),
        (lambda m: m.topk(F, 1, sorted=None), "sorted: must be a bool, got NoneType"),
        (lambda m: m.argmax(F, 1, 1), "keepdim: must be a bool, got int"),
        (lambda m: m.argmin(F, keepdim="1"), "keepdim: must be a bool, got str"),
        (lambda m: m.min(F, 1, 0), "keepdim: must be a bool, got int"),
        (lambda m: m.max(F, True), "dim: must be an int, got bool"),
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
            lambda m: m.index_select(F, 0, LONG[0], out=F[0, 0].expand(1, 3)),
            "out: must not overlap itself, got strides (0, 0)",
        ),
        (
            lambda m: m.max(F.clone().requires_grad_(), 0, out=(F[0], LONG[:, 0])),
            "out: must be None where gradients are wanted, got tensors",
        ),
    ],
)
def test_errors_have_types_of_torch(call, text):
    kind, message = error_of(call, door)
    assert text in message
    assert kind is error_of(call, torch)[0]


INTEGERS = {  # calls, and a value that fits
    "k": (lambda k: door.topk(F, k).values, 2),
    "dim": (lambda dim: door.argmax(F, dim), 1),
    "dim of topk": (lambda dim: door.topk(F, 1, dim).values, 1),
    "dim of index_select": (lambda dim: door.index_select(F, dim, LONG[0]), 1),
    "batch_dims": (lambda batch_dims: door.gather_nd(F, LONG, batch_dims), 1),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_other_types(name):
    call, value = INTEGERS[name]
    want = call(value)
    for given in (np.int8(value), np.array(value), torch.tensor(value), torch.tensor([value])):
        same(call(given), want)
    wrong = [torch.tensor(value + 0.7), torch.tensor([0, 1]), torch.tensor(True)]
    wrong += [np.array(value + 0.5), np.array([value]), np.array([0, 1]), np.True_, np.float32(1)]
    for given in wrong:
        kind = type(given).__name__
        with pytest.raises(TypeError, match=f"^{name.split()[0]}: must be an int, got {kind}"):
            call(given)
    error = {"k": RuntimeError, "batch_dims": ValueError}.get(name, IndexError)
    for given in (10**30, -(10**30), 2**63, np.uint64(2**63)):
        with pytest.raises(error, match=rf"^{name.split()[0]}: must be in \[.*, got {given}$"):
            call(given)


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
