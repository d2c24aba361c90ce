"""The door for PyTorch under vmap, compile and export, and behind torch's own functions."""

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
switch = importlib.import_module("dmlcpu.torch._enabled")

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

BEHIND = [name for name in NAMES if name != "gather_nd"]
LARGE = torch.arange(20000).flip(0)


def batched(function, in_dims, *args):
    """vmap gives what a call for each member of the batch gives."""
    got = torch.vmap(function, in_dims)(*args)
    (size, *_) = (x.shape[d] for x, d in zip(args, in_dims) if d is not None)
    rows = [
        tensors(function(*(x if d is None else x.select(d, i) for x, d in zip(args, in_dims))))
        for i in range(size)
    ]
    for at, result in enumerate(tensors(got)):
        assert torch.equal(result, torch.stack([row[at] for row in rows]))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1, -3, None])
def test_vmap_of_selections(dim, keepdim):
    x = torch.stack([X, X.flip(1), X.flip(2)])
    for batch in (0, 1, 3):
        for function in (door.argmax, door.argmin):
            batched(lambda x, f=function: f(x, dim, keepdim), (batch,), x)
        if dim is not None:
            for function in (door.max, door.min):
                batched(lambda x, f=function: f(x, dim, keepdim), (batch,), x)
            batched(lambda x: door.topk(x, 2, dim, largest=keepdim), (batch,), x)
    if dim in (0, -1, None):
        batched(lambda x: door.argmax(x, dim, keepdim), (0,), x.flatten())
    batched(door.argmax, (1,), x)
    batched(lambda x: door.topk(x, 1), (2,), x)
    twice = torch.vmap(torch.vmap(lambda x: door.topk(x, 2).indices))(x)
    assert torch.equal(twice, door.topk(x, 2).indices)


def test_vmap_of_gathers():
    x = torch.stack([X, X.flip(1), X.flip(2)])
    at = torch.stack([AT, AT.flip(0), AT.flip(1)])
    for in_dims in ((0, 0), (0, None), (None, 0), (1, 1)):
        inputs = (x if in_dims[0] == 0 else x.movedim(0, 1) if in_dims[0] else X,
                  at if in_dims[1] == 0 else at.movedim(0, 1) if in_dims[1] else AT)  # fmt: skip
        batched(door.gather_nd, in_dims, *inputs)
        batched(lambda x, i: door.gather_nd(x, i[:, :1], 1), in_dims, *inputs)
        for dim in (0, 1, -1):
            rows = tuple(i[..., 0] % 2 for i in inputs[1:])
            batched(lambda x, i, d=dim: door.index_select(x, d, i), in_dims, inputs[0], *rows)
    with pytest.raises(IndexError):
        torch.vmap(lambda i: door.index_select(X, 0, i))(torch.tensor([[0], [-1]]))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_compile(name, dynamic):
    """In one graph, with gradients, with `out`."""
    torch._dynamo.reset()
    function = getattr(door, name)

    def program(x):
        return function(x * 2, *ARGUMENTS[name])

    compiled = torch.compile(program, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for x in (X.double(), torch.cat([X, X], 2).double()):
        got, want = compiled(x), program(x)
        assert type(got) is type(want)
        assert all(torch.equal(a, b) for a, b in zip(tensors(got), tensors(want)))
    if name not in ("argmax", "argmin"):
        leaves = [X.double().requires_grad_() for _ in range(2)]
        for run, leaf in zip((compiled, program), leaves):
            tensors(run(leaf))[0].sum().backward()
        assert torch.equal(leaves[0].grad, leaves[1].grad)


def test_compile_with_out():
    values, indices = torch.empty(2, 2, 1), torch.empty(2, 2, 1, dtype=torch.int64)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def program(x):
        door.topk(x, 1, out=(values, indices))
        return values + 1

    x = X.float()
    assert torch.equal(program(x), door.topk(x, 1).values + 1)
    assert torch.equal(indices, door.topk(x, 1).indices)


@pytest.mark.parametrize("name", NAMES)
def test_export(name):
    class Program(torch.nn.Module):
        def forward(self, x):
            return getattr(door, name)(x, *ARGUMENTS[name])

    x = torch.cat([X, X]).float()
    shapes = None if name == "max" else ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(Program(), (x,), dynamic_shapes=shapes)
    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert getattr(torch.ops.dmlcpu, name).default in targets
    same(program.module()(x), Program()(x))


@pytest.fixture
def any_size(monkeypatch):
    for name in BEHIND:
        monkeypatch.setitem(switch._LEAST, name, 0)


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
    least = switch._LEAST[name]
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
    assert len(lines) == 2
    assert all(line.endswith("results agree") for line in lines)
