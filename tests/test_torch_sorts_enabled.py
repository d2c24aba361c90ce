"""The core's sorts and selections behind torch's own functions, and what the dispatcher makes of them."""

import importlib

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
kernels = importlib.import_module("dmlcpu.torch._kernels")

from torch import library as torch_library  # noqa: E402

from torch_cases import X, same, tensors  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")

CALLS = {
    "sort": lambda x: torch.sort(x),
    "stable_sort": lambda x: torch.sort(x, stable=True, dim=0, descending=True),
    "sort_of_none": lambda x: x.sort(stable=None, dim=-1),
    "argsort": lambda x: x.argsort(0),
    "stable_argsort": lambda x: torch.argsort(x, stable=True, descending=True),
    "msort": lambda x: torch.msort(x),
    "kthvalue": lambda x: torch.kthvalue(x, 3, 0),
    "kthvalue_of_last_dim": lambda x: x.kthvalue(2, keepdim=True),
    "median": lambda x: torch.median(x, 0),
    "median_keeping_the_dim": lambda x: x.median(-1, True),
    "nanmedian": lambda x: torch.nanmedian(x, 0),
    "nanmedian_keeping_the_dim": lambda x: x.nanmedian(-1, keepdim=True),
}
LARGE = torch.randperm(16384, generator=torch.Generator().manual_seed(1)).view(128, 128).float()


@pytest.mark.parametrize("name", CALLS)
def test_calls(name, core_calls):
    """Every spelling reaches the core, and its answer is that of torch's kernel, tensors and all."""
    call = CALLS[name]
    for x in (LARGE, LARGE.T, torch.cat([LARGE, -LARGE], 1).bfloat16()[:, ::2]):
        want = call(x)
        assert not core_calls
        with door.enabled():
            got = call(x)
        assert core_calls
        if x.unique().numel() == x.numel():
            same(got, want)
        else:
            assert torch.equal(tensors(got)[0], tensors(want)[0]) or "argsort" in name
        core_calls.clear()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("sort", torch.sort), ("sort", torch.argsort), ("kthvalue", lambda x: torch.kthvalue(x, 1)),
        ("median", lambda x: torch.median(x, 0)), ("nanmedian", lambda x: torch.nanmedian(x, 0)),
    ],
)  # fmt: skip
def test_small_calls_are_torchs(name, call, core_calls):
    least = kernels._LEAST[name]
    of_64_bits = 8 * least if name in kernels._SELECTIONS else least
    for dtype, size in ((torch.int16, least), (torch.float32, least), (torch.int64, of_64_bits)):
        for n, expected in ((size - 1, False), (size, True)):
            with door.enabled():
                call(torch.arange(n).to(dtype))
            assert bool(core_calls) == expected
            core_calls.clear()


def test_ties_are_in_ascending_order(core_calls):
    x = torch.ones(3, 50000)
    with door.enabled():
        assert torch.equal(torch.sort(x).indices, torch.arange(50000).expand(3, -1))
        assert torch.equal(torch.argsort(x, descending=True)[1], torch.arange(50000))
        assert torch.kthvalue(x, 40000).indices.tolist() == [39999] * 3
        assert torch.median(x, 1).indices.tolist() == [24999] * 3
        x[1, 7:9] = x[2] = float("nan")
        assert torch.median(x, 1).indices.tolist() == [24999, 7, 0]
        assert torch.nanmedian(x, 1).indices.tolist() == [24999, 25000, 0]
    assert len(core_calls) >= 6


def test_gradients_and_transforms(core_calls):
    """They stay torch's own."""

    def cubes(x):
        results = (
            torch.sort(x)[0],
            torch.kthvalue(x, 20)[0],
            torch.median(x, 0)[0],
            torch.msort(x),
        )
        return sum(values.pow(3).mean() for values in results)

    x = LARGE / 16384
    calls = [
        lambda: torch.func.grad(cubes)(x),
        lambda: torch.func.jvp(cubes, (x,), (x + 1,)),
        lambda: torch.autograd.grad(cubes(leaf), leaf)[0],
        lambda: torch.vmap(lambda row: torch.sort(row).indices)(x),
        lambda: torch.vmap(lambda row: row.nanmedian(0).indices)(x),
        lambda: torch.compile(cubes, fullgraph=True, backend="aot_eager")(x),
    ]
    leaf = x.clone().requires_grad_()
    want = [call() for call in calls]
    assert not core_calls
    torch._dynamo.reset()
    with door.enabled():
        for call, result in zip(calls, want):
            got = call()
            for a, b in zip(tensors(got), tensors(result), strict=True):
                torch.testing.assert_close(a, b)
            assert core_calls
            core_calls.clear()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.sort(LARGE + 0j), lambda: torch.sort(LARGE, 2), lambda: torch.kthvalue(LARGE, 0),
        lambda: torch.kthvalue(LARGE, 129), lambda: torch.kthvalue(LARGE > 1, 1),
        lambda: torch.median(LARGE > 1, 1), lambda: torch.median(LARGE[:0], 0),
        lambda: torch.nanmedian(LARGE, -3), lambda: torch.kthvalue(LARGE.to(torch.uint16), 1),
    ],
)  # fmt: skip
def test_errors_are_torchs(call, any_size):
    def error():
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call()
        return type(caught.value), str(caught.value)

    want = error()
    with door.enabled():
        assert error() == want


def test_what_is_torchs_own(core_calls):
    deep = torch.rand(4, *[2] * 8, 20)

    def outs():
        return torch.empty(0), torch.empty(0, dtype=torch.int64)

    calls = [
        lambda: torch.sort(deep, stable=True, dim=0),
        lambda: torch.sort(LARGE.to("meta")).values.stride(),
        lambda: torch.sort(LARGE, out=outs()),
        lambda: torch.kthvalue(LARGE, 2, out=outs()),
        lambda: torch.median(LARGE, 1, out=outs()),
        lambda: torch.median(LARGE),
        lambda: torch.sort(LARGE[:0]),
    ]
    for call in calls:
        want = tensors(call())
        with door.enabled():
            got = tensors(call())
        for a, b in zip(got, want, strict=True):
            assert torch.equal(a, b) if torch.is_tensor(a) else a == b
    assert not core_calls


def test_opcheck_of_msort(any_size):
    """The values alone, but where derivatives need the indices too."""
    for gradients in (False, True):
        for x in (X.float(), X.double().permute(2, 0, 1), X[:, ::2].double()):
            x = x.clone(memory_format=torch.preserve_format).requires_grad_(gradients)
            torch_library.opcheck(torch.ops.dmlcpu.msort.default, (x, 0))


@pytest.mark.parametrize("gradients", [False, True])
def test_msort_computes_what_is_wanted(gradients, any_size, monkeypatch):
    asked = []
    part = kernels._parts.part_of_top_k
    monkeypatch.setattr(
        kernels._parts, "part_of_top_k", lambda *args: asked.append(args[-1]) or part(*args)
    )
    x = X.double().requires_grad_(gradients)
    door.msort(x)
    assert asked == ["values"] * (not gradients)
    assert torch.equal(torch.compile(door.msort, fullgraph=True, backend="aot_eager")(x), x.msort())


def test_nanmedian_of_rows_in_every_order(any_size):
    """Which rows have a NaN is found along any dim."""
    x = torch.rand(4, 5, 6)
    x[0, 1, 2] = x[3, :, 4] = x[2, 2, :] = float("nan")
    for dim in range(3):
        for view in (x, x.permute(1, 2, 0), x.flip(0)[:, ::2]):
            for name in ("median", "nanmedian"):
                got, want = getattr(door, name)(view, dim), getattr(torch, name)(view, dim)
                torch.testing.assert_close(got.values, want.values, rtol=0, atol=0, equal_nan=True)
                found = view.gather(dim, got.indices.unsqueeze(dim)).squeeze(dim)
                torch.testing.assert_close(found, want.values, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("n", [500, 5000])
def test_sorts_are_stable_at_any_size(n):
    x = torch.randint(0, 3, (n,), generator=torch.Generator().manual_seed(2)).float()
    want = torch.sort(x, stable=True)
    with door.enabled():
        for got in (torch.sort(x), torch.sort(x, stable=False)):
            assert torch.equal(got.indices, want.indices)
        assert torch.equal(torch.argsort(x), want.indices)
