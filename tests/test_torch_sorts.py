"""The door's sorts and selections beside torch's: order, NaN, layouts, samples, spellings, errors."""

import contextlib
import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
kernels = importlib.import_module("dmlcpu.torch._kernels")

from torch_cases import DTYPES, SORTS, X, same, same_outcomes, samples, tensors  # noqa: E402

NAN = float("nan")
WIDE = ["uint16", "uint32", "uint64"]
FUNCTIONS = [*SORTS, "msort"]


def elements(shape, dtype, seed=1):
    """Few values, so that many are equal; of floating-point types NaN, infinities and both zeros too."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 5, shape, generator=generator)
    if dtype.is_floating_point:
        x = torch.tensor([NAN, -0.0, float("inf"), 0.0, -2.0])[x]
        rows = x.view(-1, x.shape[-1]) if x.numel() else x
        rows[: len(rows) // 3] = rows[: len(rows) // 3].nan_to_num(1)
    elif dtype.is_signed:
        x = x - 2
    return x.to(dtype)


def layouts(x):
    """The elements at other strides, and some of them."""
    yield x
    yield x.transpose(0, 2)
    yield x[:, ::2].transpose(1, 2)
    yield x[:1].expand(2, -1, -1)
    yield x[0, :, :1]
    yield x[1, 0]


def selected(x, k, dim):
    """What a stable sort has at k, a number or one of each row."""
    values, indices = torch.sort(x, stable=True, dim=dim)
    at = torch.as_tensor(k).expand(values.sum(dim, True).shape)
    return values.gather(dim, at), indices.gather(dim, at)


def medians(x, dim):
    """torch's rules, by a stable sort: any NaN is the median; ignored, it counts for nothing."""
    n, nans = x.shape[dim], x.isnan()
    middle = selected(x, (n - 1) // 2, dim)
    first = nans.byte().argmax(dim, True)
    some = nans.any(dim, True)
    of_all = [torch.where(some, a, b) for a, b in zip((x.gather(dim, first), first), middle)]
    counts = (~nans).sum(dim, True)
    return of_all, selected(x, (counts - 1).clamp(min=0) // 2, dim)


@pytest.mark.parametrize("small", ["core", "torch"])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", *WIDE])
def test_sorts(dtype, small, core_calls, request):
    """They are stable, have torch's strides, and are read where they are."""
    if small == "core":
        request.getfixturevalue("any_size")
    for view in layouts(elements((3, 5, 4), getattr(torch, dtype))):
        for dim in range(-view.dim(), view.dim()):
            for descending in (False, True):
                want = torch.sort(view, stable=True, dim=dim, descending=descending)
                same(door.sort(view, dim, descending), want)
                same(door.sort(view, dim, descending, stable=True), want)
                same(door.argsort(view, dim, descending), want.indices)
        same(door.msort(view), torch.msort(view))
        assert bool(core_calls) == (small == "core")
        for array in core_calls:
            assert array.__array_interface__["data"][0] == view.data_ptr()
        core_calls.clear()


@pytest.mark.parametrize("dtype", DTYPES)
def test_selections(dtype, core_calls):
    """Which of equal elements is found is what a stable sort has there, and the values are torch's."""
    for view in layouts(elements((4, 6, 5), getattr(torch, dtype))):
        for dim in range(-view.dim(), view.dim()):
            for k in range(1, view.shape[dim] + 1):
                want = tuple(selected(view, k - 1, dim))
                same(tuple(door.kthvalue(view, k, dim, True)), want)
                found, theirs = door.kthvalue(view, k, dim), torch.kthvalue(view, k, dim)
                same(tuple(found), tuple(t.squeeze(dim) for t in want))
                same(found.values, theirs.values)
            for name, want in zip(("median", "nanmedian"), medians(view, dim)):
                same(tuple(getattr(door, name)(view, dim, keepdim=True)), tuple(want))
                found = getattr(door, name)(view, dim)
                same(tuple(found), tuple(t.squeeze(dim) for t in want))
                # Of a dim of stride 0 torch reads elements past the tensor.
                theirs = getattr(torch, name)(view.contiguous(), dim)
                same(found.values, theirs.values)
                nans = found.values.isnan()
                if name == "median":
                    assert torch.equal(found.indices[nans], theirs.indices[nans])
    assert core_calls


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1001])
def test_long_rows(n):
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        x = elements((5, n), dtype)
        x[0] = 3
        if dtype.is_floating_point:
            x[1], x[2, n // 2] = NAN, NAN
        for name, want in zip(("median", "nanmedian"), medians(x, 1)):
            same(tuple(getattr(door, name)(x, 1, True)), tuple(want))
        for k in {1, n // 3 + 1, (n + 1) // 2, n // 2 + 1, n}:
            same(tuple(door.kthvalue(x, k, 1, True)), selected(x, k - 1, 1))


def test_values_keep_their_bits(any_size):
    bits = np.array([0x7FC00001, 0x80000000, 0xFFC00002, 0x00000000], np.uint32)
    x = torch.from_numpy(bits.view(np.float32))
    for result in (door.sort(x).values, door.msort(x)):
        assert result.numpy().view(np.uint32).tolist() == [0x80000000, 0, 0x7FC00001, 0xFFC00002]
    assert door.median(x, 0).values.numpy().view(np.uint32) == 0x7FC00001
    assert door.nanmedian(x, 0).values.numpy().view(np.uint32) == 0x80000000
    assert door.kthvalue(x, 4).values.numpy().view(np.uint32) == 0xFFC00002


QUICK = ["float32", "bfloat16", "int64", "bool"]


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize(
    "dtype",
    [
        pytest.param(dtype, marks=[pytest.mark.slow] * (dtype not in QUICK))
        for dtype in [*DTYPES, "bool", "complex64"]
    ],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_samples_of_torch(name, dtype, enabled, core_calls, any_size):
    """Those of its own tests, by the door and behind torch's function: as torch, ties excepted."""
    theirs = getattr(torch, name)
    for input, args, kwargs in samples(name, getattr(torch, dtype)):
        want = theirs(input, *args, **kwargs)
        if enabled:
            with door.enabled():
                got = theirs(input, *args, **kwargs)
        else:
            got = getattr(door, name)(input, *args, **kwargs)
        assert type(got) is type(want)
        if not isinstance(want, tuple) and name != "argsort":
            same(got, want)
            continue
        found, wanted = tensors(got)[-1], tensors(want)[-1]
        assert (found.dtype, found.shape, found.stride()) == (
            wanted.dtype, wanted.shape, wanted.stride(),
        )  # fmt: skip
        dim = of_dim(name, args, kwargs)
        flat = input.reshape(-1) if input.dim() == 0 else input
        values = []
        for at in (found, wanted):
            if at.dim() < flat.dim():
                at = at.unsqueeze(dim)
            values.append(flat.gather(dim, at.reshape(-1) if input.dim() == 0 else at))
        torch.testing.assert_close(*values, rtol=0, atol=0, equal_nan=True)
        same(tensors(got)[:-1], tensors(want)[:-1])
    expected = dtype in DTYPES or (dtype == "bool" and "sort" in name)
    assert bool(core_calls) == expected


def of_dim(name, args, kwargs):
    at = int(name == "kthvalue")
    return kwargs.get("dim", args[at] if len(args) > at else -1)


def test_what_the_core_does_not_take(core_calls, any_size):
    deep = torch.arange(512).view([2] * 9)
    same(door.sort(deep, 3, True), torch.sort(deep, 3, True))
    same(door.kthvalue(deep, 1, 0), torch.kthvalue(deep, 1, 0))
    meta = X.to("meta")
    assert door.sort(meta, 1).values.stride() == torch.sort(meta, 1).values.stride()
    assert door.median(meta, 1).indices.device.type == "meta"
    assert not core_calls
    same(door.msort(torch._efficientzerotensor(3)), torch.zeros(3))
    zero_d = torch.tensor(5.0)
    for args in ((), (0,), (-1, True)):
        same(door.sort(zero_d, *args), torch.sort(zero_d, *args))
        same(door.argsort(zero_d, *args), torch.argsort(zero_d, *args))
    same(door.msort(zero_d), torch.msort(zero_d))
    for keepdim in (False, True):
        same(door.kthvalue(zero_d, 1, 0, keepdim), torch.kthvalue(zero_d, 1, 0, keepdim))
        same(door.median(zero_d, -1, keepdim), torch.median(zero_d, -1, keepdim))
        same(door.nanmedian(zero_d, 0, keepdim), torch.nanmedian(zero_d, 0, keepdim))
    for empty in (torch.empty(0), torch.empty(0, 3), torch.empty(2, 0, 3)):
        for dim in range(empty.dim()):
            same(door.sort(empty, dim), torch.sort(empty, dim))
            same(door.argsort(empty, dim), torch.argsort(empty, dim))
            if empty.shape[dim]:
                same(door.kthvalue(empty, 2, dim), torch.kthvalue(empty, 2, dim))
                same(door.median(empty, dim, True), torch.median(empty, dim, True))
                same(door.nanmedian(empty, dim), torch.nanmedian(empty, dim))
        same(door.msort(empty), torch.msort(empty))


F = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
PAIR = (torch.empty(0), torch.empty(0, dtype=torch.int64))
CALLS = [
    "sort(F)", "sort(F, 0, True)", "sort(F, dim=0, descending=True)", "sort(F, stable=True)",
    "sort(F, stable=None)", "sort(F, stable=True, dim=0)", "sort(F, axis=0)", "sort(F, True, 0)",
    "sort(F, 1, 0)", "sort(F, '1')", "sort(F, 0, False, True)", "sort(F, 2)", "sort(F, -3)",
    "sort(F, stable=1)", "sort(F, None)", "sort([1])", "sort(F + 0j)", "sort(F + 0j, 3)",
    "sort(F[0, 0], 1)", "sort(F, out=PAIR)", "sort(F, out=F)", "sort(F, 0, axis=0)",
    "sort(F, out=(PAIR[1], PAIR[0]))", "sort(F.to(torch.float8_e5m2))", "sort(F, k=1)",
    "argsort(F)", "argsort(F, 0, True)", "argsort(F, stable=True, dim=0)", "argsort(F, axis=0)",
    "argsort(F, stable=None)", "argsort(F, 2)", "argsort(F + 0j)", "argsort(F, 1.5)",
    "msort(F)", "msort(F, 0)", "msort(F, out=PAIR[0])", "msort(F + 0j)", "msort(3)", "msort(F, out=PAIR)",
    "msort(F, out=PAIR[1])",
    "kthvalue(F, 2)", "kthvalue(F, 2, 0)", "kthvalue(F, k=1, axis=0)", "kthvalue(F, 1, keepdims=True)",
    "kthvalue(F, 1, 1, True)", "kthvalue(F, 0)", "kthvalue(F, 4)", "kthvalue(F, -1)", "kthvalue(F, 1.5)",
    "kthvalue(F, True)", "kthvalue(F, 1, 2)", "kthvalue(F, 1, 1, 1)", "kthvalue(F, 9, 2)", "kthvalue(F)",
    "kthvalue(F > 1, 1)", "kthvalue(F > 1, 9)", "kthvalue(F + 0j, 1)", "kthvalue(F[0, 0], 0)",
    "kthvalue(F[0, 0], 2)", "kthvalue(F[:0], 1, 0)", "kthvalue(F[:0], 0, 0)", "kthvalue(F, 1, out=PAIR)",
    "kthvalue(F, 1, out=PAIR[0])", "kthvalue(F, 1, out=PAIR[::-1])",
    *(call.format(name) for name in ("median", "nanmedian") for call in (
        "{}(F)", "{}(F, 1)", "{}(F, 0, True)", "{}(F, axis=0)", "{}(F, axis=0, keepdims=True)",
        "{}(F, 1, keepdims=True)", "{}(F, dim=1, keepdim=True)", "{}(F, keepdim=True)",
        "{}(F, keepdims=True)", "{}(F, None)", "{}(F, True)", "{}(F, F)", "{}(F, 2)", "{}(F, 1.0)",
        "{}(F, 1, 1)", "{}(F, out=PAIR[0])", "{}(F, 1, out=PAIR)", "{}(F, 1, out=PAIR[::-1])",
        "{}(F > 1, 1)", "{}(F > 1)", "{}(F + 0j, 0)", "{}(F[:0], 0)", "{}(F[:0], 1)", "{}(F[0, 0], 0)",
        "{}(F[0, 0], 1)", "{}(F[:0])", "{}(F, 1, axis=1)", "{}(F, 1, k=1)")),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_spellings_and_errors_of_torch(call):
    same_outcomes(call, {"F": F, "PAIR": PAIR}, (torch, door))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: door.kthvalue(F, 4), r"k: must be in \[1, 3\] \(the size of dim -1\), got 4"),
        (lambda: door.kthvalue(F, 0, 0), r"k: must be in \[1, 2\] \(the size of dim 0\), got 0"),
        (lambda: door.sort(F, stable=1), "stable: must be a bool, got int"),
        (lambda: door.sort(F, 0, None), "descending: must be a bool, got NoneType"),
        (lambda: door.argsort(F, 2), r"dim: must be in \[-2, 1\], got 2"),
        (lambda: door.median(F, None), "dim: must be an int, got NoneType"),
        (lambda: door.nanmedian(F, keepdim=True), "keepdim: must not be given without a dim"),
        (lambda: door.median(F[:0], 0), "dim: must have at least 1 element, got dim 0 of size 0"),
        (lambda: door.sort(F, out=F), "out: must be a pair of tensors, got Tensor"),
    ],
)
def test_errors_name_the_argument(call, text):
    with pytest.raises(Exception, match=f"^{text}$"):
        call()


def test_sorts_in_place():
    x = elements((40, 30), torch.float32)
    want = torch.sort(x, stable=True, dim=0)
    indices = torch.empty(0, dtype=torch.int64)
    assert door.sort(x, 0, out=(x, indices)).values is x
    same((x, indices), tuple(want))
    other = want.values.flip(0)
    assert door.msort(other, out=other) is other
    torch.testing.assert_close(other, x, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["sort", "argsort", "msort"])
def test_small_sorts_are_torchs(name, core_calls):
    least = kernels._LEAST[name]
    for dtype in (torch.float32, torch.int64):
        for n, expected in ((least - 1, 0), (least, 1)):
            x = torch.ones(n, dtype=dtype)
            found = tensors(getattr(door, name)(x))[-1]
            assert name == "msort" or torch.equal(found, torch.arange(n))
            assert len(core_calls) == expected
        core_calls.clear()


@pytest.mark.parametrize(
    "x", [F.T, F[:, ::2], F.expand(2, 2, 3).permute(2, 0, 1)], ids=["T", "apart", "permuted"]
)
@pytest.mark.parametrize("enabled", [False, True])
def test_wrong_dims_of_views(x, enabled, any_size):
    """Dimensions are permuted to the order of memory, which must not wrap one that there is not."""
    module = torch if enabled else door
    with door.enabled() if enabled else contextlib.nullcontext():
        for dim in (x.dim(), 9, -x.dim() - 1):
            for call in (module.sort, module.argsort, torch.ops.dmlcpu.sort):
                args = (False, False) if call is torch.ops.dmlcpu.sort else ()
                with pytest.raises(IndexError):
                    call(x, dim, *args)


@pytest.mark.parametrize("n", [900, 2700])
def test_msort_has_the_bits_of_sort(n):
    """Of equal elements of different bits, each at its place; small ones are sorted by torch."""
    zeros = torch.where(torch.rand(n, generator=torch.Generator().manual_seed(3)) < 0.5, -0.0, 0.0)
    for x in (zeros, zeros.clone().requires_grad_()):
        assert torch.equal(door.msort(x).detach().view(torch.int32), zeros.view(torch.int32))
