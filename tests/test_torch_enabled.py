"""The core behind torch's own functions, and the switch."""

import contextvars
import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dmlcpu

from scripts import start_python

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
kernels = importlib.import_module("dmlcpu.torch._kernels")
switch = importlib.import_module("dmlcpu.torch._enabled")

from torch_cases import (  # noqa: E402
    DTYPES,
    ROWS,
    SEARCHES,
    X,
    agree,
    same,
    samples,
)

BEHIND = [name for name in SEARCHES if name != "gather_nd"]
LARGE = torch.arange(20000).flip(0)


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "complex64"])
@pytest.mark.parametrize("name", BEHIND)
def test_samples_of_torch(name, dtype, core_calls, any_size):
    for input, args, kwargs in samples(name, getattr(torch, dtype)):
        args = (*args, *kwargs.values())
        want = getattr(torch, name)(input, *args)
        with door.enabled():
            got = getattr(torch, name)(input, *args)
        agree(name, got, want, input, args)
    assert bool(core_calls) == (dtype in DTYPES or (dtype == "bool" and name == "index_select"))


@pytest.mark.parametrize("name", BEHIND)
def test_small_calls_are_torchs(name, core_calls):
    least = kernels._LEAST[name]
    for size, expected in ((least - 1, 0), (least, 1)):
        x = torch.arange(10) if name == "index_select" else torch.arange(size)
        args = {"topk": (1,), "index_select": (0, torch.zeros(size, dtype=torch.int64))}
        with door.enabled():
            getattr(torch, name)(x, *args.get(name, (0,)))
        assert len(core_calls) == expected


def test_switch(core_calls):
    def count():
        core_calls.clear()
        assert LARGE.argmax() == 0
        return len(core_calls)

    assert count() == 0
    door.enable()
    door.enable()
    assert count() == 1
    door.disable()
    door.disable()
    assert count() == 0
    with door.enabled():
        with door.enabled():
            assert count() == 1
        assert count() == 1
        door.disable()
        assert count() == 1
    assert count() == 0
    with pytest.raises(ZeroDivisionError), door.enabled():
        _ = 1 / 0
    assert count() == 0
    assert door.enabled()(count)() == 1
    assert count() == 0


def test_blocks_are_of_their_context(core_calls):
    def count():
        before = len(core_calls)
        LARGE.argmax()
        return len(core_calls) - before

    with ThreadPoolExecutor(1) as pool:
        with door.enabled():
            assert pool.submit(count).result() == 0
            assert pool.submit(contextvars.copy_context().run, count).result() == 1
        door.enable()
        assert pool.submit(count).result() == 1
        door.disable()
        assert pool.submit(count).result() == 0

    def generator():
        with door.enabled():
            yield

    running = generator()
    next(running)
    contextvars.Context().run(running.close)  # ends in a context that is in no block
    assert count() == 1
    switch._blocks.set(0)


def test_threads_switch_while_others_call():
    failures = []
    done = threading.Event()

    def call():
        x = LARGE.clone()
        while not done.is_set():
            if x.argmin() != 19999 or x.topk(2).indices.tolist() != [0, 1]:
                failures.append(x)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        door.enable()
        LARGE.argmax()
        door.disable()
        with door.enabled():
            LARGE.argmax()
    done.set()
    for thread in threads:
        thread.join()
    assert not failures


F = torch.zeros(2, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.topk(F, 4),
        lambda: torch.topk(F, 1, 2),
        lambda: torch.topk(F > 0, 1),
        lambda: torch.argmax(F[:0], 0),
        lambda: torch.max(F[:0], 0),
        lambda: torch.min(F + 0j, 0),
        lambda: torch.index_select(F, 0, torch.tensor([2])),
        lambda: torch.index_select(F, 0, torch.tensor([-1])),
        lambda: torch.index_select(F, 0, F[0]),
        lambda: torch.index_select(F[0, 0], 0, ROWS),
    ],
)
def test_errors_are_torchs(call, any_size):
    def error():
        try:
            call()
        except (RuntimeError, IndexError) as caught:
            return type(caught), str(caught)
        raise AssertionError("no error")

    want = error()
    with door.enabled():
        assert error() == want


def test_what_is_torchs_own(core_calls):
    large = torch.rand(9000) < 0.5
    deep = torch.rand(4, *[2] * 8, 20)
    rows = torch.zeros(3000, dtype=torch.int64)
    wide = torch.rand(2, 3000)
    calls = [
        lambda: torch.max(large, 0),
        lambda: torch.topk(deep, 2, 0),
        lambda: torch.index_select(wide, 1, rows),
        lambda: torch.argmax(LARGE.to("meta")),
        lambda: torch.topk(LARGE, 1, out=(LARGE.new_empty(0), LARGE.new_empty(0))),
    ]
    want = [call() for call in calls]
    with door.enabled():
        for call, result in zip(calls, want):
            same(call(), result)
    assert not core_calls


def test_gradients_and_modes(core_calls):
    x = torch.rand(100, 200, requires_grad=True)
    (want,) = torch.autograd.grad(torch.topk(x, 3).values.pow(2).sum(), x)
    weight = torch.nn.Parameter(torch.rand(10, 4))
    rows = torch.arange(5000) % 10
    embedded = torch.nn.functional.embedding(rows, weight)
    with door.enabled():
        values = torch.topk(x, 3).values
        assert torch.equal(torch.autograd.grad(values.pow(2).sum(), x)[0], want)
        same(torch.nn.functional.embedding(rows, weight), embedded)
        with torch.inference_mode():
            assert torch.max(x, 1).values.is_inference()
        with torch.no_grad():
            assert not torch.min(x, 1).values.requires_grad
        got = torch.vmap(lambda x: x.argmax(0))(x.detach())
    assert torch.equal(got, x.argmax(1))
    assert len(core_calls) == 5


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_transforms_and_compiled_programs(core_calls):
    x = torch.rand(100, 200)

    def program(x):
        return torch.topk(x, 3).values.pow(2).sum() + torch.max(x, 1).values.sum()

    def inside(x):
        with door.enabled():
            return torch.topk(x, 3).indices, ours(x, 3, -1, True, True)[1]

    ours = torch.ops.dmlcpu.topk.default
    want = torch.func.grad(program)(x), torch.func.jacfwd(program)(x), torch.topk(x, 3).indices
    compiled = torch.compile(program, fullgraph=True, backend="aot_eager")
    with door.enabled():
        torch.testing.assert_close(torch.func.grad(program)(x), want[0])
        torch.testing.assert_close(torch.func.jacfwd(program)(x), want[1])
        core_calls.clear()
        assert compiled(x) == program(x)
    assert len(core_calls) == 4
    # Between graphs, what runs eagerly is not traced.
    core_calls.clear()
    for got in torch.compile(inside, backend="aot_eager")(x):
        assert torch.equal(got, want[2])
    assert len(core_calls) == 2


def test_inputs_can_be_resized_afterwards():
    x = torch.rand(10000)
    with door.enabled():
        x.argmax()
    x.resize_(20000)


def test_no_more_threads_than_torch_uses(monkeypatch):
    seen = []
    run = dmlcpu.top_k

    def spy(*args, **kwargs):
        seen.append(dmlcpu.get_num_threads())
        return run(*args, **kwargs)

    monkeypatch.setattr(dmlcpu, "top_k", spy)
    before = torch.get_num_threads()
    try:
        for torchs, ours, want in ((1, 2, 1), (2, 1, 1), (2, 2, 2)):
            torch.set_num_threads(torchs)
            with dmlcpu.num_threads(ours):
                door.topk(X, 1)
            assert seen.pop() == want
    finally:
        torch.set_num_threads(before)


def test_example():
    done = start_python(
        Path(__file__).parent.parent / "examples" / "torch_sampling.py", "--rows", "2"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.endswith("results agree") for line in lines)
