"""Derivatives of the door for PyTorch: what they keep, inputs modified, dims of size 1, unknown sizes."""

import gc
import importlib
import random
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")

from torch_cases import tensors  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")

CALLS = {
    "topk": lambda m, x: m.topk(x, 2)[0],
    "topk_of_dim_0": lambda m, x: m.topk(x, 2, 0, False)[0],
    "max": lambda m, x: m.max(x, 1)[0],
    "min": lambda m, x: m.min(x, 0, True)[0],
    "sort": lambda m, x: m.sort(x, 0, True)[0],
    "msort": lambda m, x: m.msort(x),
    "kthvalue": lambda m, x: m.kthvalue(x, 4, 1)[0],
    "median": lambda m, x: m.median(x, 1, True)[0],
    "nanmedian": lambda m, x: m.nanmedian(x, 0)[0],
    "index_select": lambda m, x: m.index_select(x, 0, torch.tensor([2, 0, 2])),
    "gather_nd": lambda m, x: (
        m.gather_nd(x, torch.tensor([[1, 2], [0, 0], [1, 2]]))
        if m is door
        else x[torch.tensor([1, 0, 1]), torch.tensor([2, 0, 2])]
    ),
}


@pytest.fixture(autouse=True)
def of_any_size(any_size):
    """Small calls are the core's too."""


class Memory(torch.autograd.Function):
    """A tensor of an array's memory, which needs a gradient and is no leaf."""

    @staticmethod
    def forward(ctx, weight, array):
        return torch.from_numpy(array)

    @staticmethod
    def backward(ctx, grad):
        return grad.sum(), None


@pytest.mark.parametrize("name", CALLS)
def test_a_dropped_input_is_freed(name):
    weight = torch.ones((), requires_grad=True)
    array = np.random.default_rng(1).random((4, 5), np.float32)
    memory = weakref.ref(array)
    values = CALLS[name](door, Memory.apply(weight, array))
    del array
    gc.collect()
    assert memory() is None
    values.sum().backward()
    assert weight.grad == values.numel()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_the_input_may_be_modified(name, compiled):
    def program(weight, module=door):
        hidden = weight * 1
        values = CALLS[name](module, hidden)
        hidden[hidden < 0.5] = 0
        return values.pow(2).sum() + hidden.sum()

    torch._dynamo.reset()
    run = torch.compile(program, fullgraph=True, backend="aot_eager") if compiled else program
    weight = torch.rand(4, 5, requires_grad=True)
    (got,) = torch.autograd.grad(run(weight), weight)
    (want,) = torch.autograd.grad(program(weight, torch), weight)
    assert torch.equal(got, want)


def test_top_k_that_masks_its_input():
    weight = torch.rand(3, 6, requires_grad=True)
    hidden = weight * 1
    values = door.topk(hidden, 2).values
    hidden[hidden < values[:, -1:].detach()] = 0
    values.sum().backward()
    assert (weight.grad.sum(1) == 2).all()


def random_calls():
    """Calls of tensors with dims of size 1, in which every element has another value."""
    choice = random.Random(1)
    for _ in range(40):
        shape = [choice.choice((1, 1, 2, 3)) for _ in range(choice.randint(0, 4))]
        x = torch.randperm(int(np.prod(shape))).double().view(shape)
        dim = choice.randint(-len(shape), len(shape) - 1) if shape else 0
        keepdim = choice.random() < 0.5
        size = shape[dim] if shape else 1
        k = choice.randint(1, size)
        yield x, lambda m, x, d=dim, keep=keepdim: m.max(x, d, keep)
        yield x, lambda m, x, d=dim, keep=keepdim: m.min(x, d, keepdim=keep)
        yield x, lambda m, x, d=dim, k=k, keep=keepdim: m.topk(x, k, d, keep)
        yield x, lambda m, x, d=dim, down=keepdim: m.sort(x, d, down)
        yield x, lambda m, x: m.msort(x)
        yield x, lambda m, x, d=dim, k=k, keep=keepdim: m.kthvalue(x, k, d, keep)
        yield x, lambda m, x, d=dim, keep=keepdim: m.median(x, d, keep)
        if shape:
            rows = torch.randint(size, (choice.randint(0, 3),))
            yield x, lambda m, x, d=dim, rows=rows: m.index_select(x, d, rows)


def test_derivatives_beside_torchs():
    for x, call in random_calls():
        outcomes = []
        for module in (torch, door):

            def values(x, module=module, call=call):
                return tensors(call(module, x))[0]

            def cubes(x, values=values):
                return values(x).pow(3).sum()

            leaf = x.clone().requires_grad_()
            (grad,) = torch.autograd.grad(cubes(leaf), leaf, create_graph=True)
            (second,) = torch.autograd.grad(grad.pow(2).sum(), leaf)
            outcomes.append([
                values(x), grad.detach(), second,
                torch.func.jvp(values, (x,), (x + 1,))[1],
                torch.func.jvp(torch.func.grad(cubes), (x,), (x + 1,))[1],
                torch.func.grad(lambda x: torch.func.jvp(cubes, (x,), (x + 1,))[1])(x),
                torch.func.vmap(torch.func.grad(cubes))(torch.stack([x, -x])),
            ])  # fmt: skip
        for want, got in zip(*outcomes):
            assert got.shape == want.shape
            assert torch.equal(got, want)


def test_gradients_that_nobody_gives():
    x = torch.rand(3, 4, requires_grad=True)
    values, indices = door.topk(x, 2)
    assert not indices.requires_grad
    assert torch.autograd.grad(values[:0].sum(), x, allow_unused=True)[0].abs().sum() == 0
    with pytest.raises(RuntimeError, match="does not require grad"):
        indices.sum().backward()


def program_of(name, module):
    """A program whose sizes depend on data."""

    def run(x, mask):
        rows = x[mask]
        calls = {
            "argmax": lambda: module.argmax(rows, 0),
            "argmax_of_all": lambda: module.argmax(rows),
            "argmin": lambda: module.argmin(rows, 0, True),
            "max": lambda: module.max(rows, 0)[0],
            "min": lambda: module.min(rows, -2, True)[0],
            "topk": lambda: module.topk(rows, 2, 0)[0],
            "topk_of_all": lambda: module.topk(rows, rows.shape[0], 0)[0],
            "topk_of_rows": lambda: module.topk(rows, 1)[0],
            "sort": lambda: module.sort(rows, 0, True)[0],
            "argsort": lambda: module.argsort(rows),
            "msort": lambda: module.msort(rows),
            "kthvalue": lambda: module.kthvalue(rows, 2, 0)[0],
            "kthvalue_of_all": lambda: module.kthvalue(rows, rows.shape[0], 0)[0],
            "median": lambda: module.median(rows, 0)[0],
            "nanmedian": lambda: module.nanmedian(rows, -2, True)[0],
            "index_select": lambda: module.index_select(rows, 0, torch.tensor([1, 0])),
        }
        return calls[name]()

    return run


SIZED = [
    "argmax", "argmax_of_all", "argmin", "max", "min", "topk", "topk_of_all", "topk_of_rows",
    "sort", "argsort", "msort", "kthvalue", "kthvalue_of_all", "median", "nanmedian", "index_select",
]  # fmt: skip


@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_depend_on_data(name):
    torch._dynamo.reset()
    x = torch.randperm(40).view(10, 4).double()
    mask = x[:, 0] > 9
    want = program_of(name, torch)(x, mask)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(program_of(name, door), fullgraph=True, backend="aot_eager")
        assert torch.equal(compiled(x, mask), want)
        if want.is_floating_point():
            leaf = x.clone().requires_grad_()
            (got,) = torch.autograd.grad(compiled(leaf, mask).pow(2).sum(), leaf)
            (wanted,) = torch.autograd.grad(program_of(name, torch)(leaf, mask).pow(2).sum(), leaf)
            assert torch.equal(got, wanted)

    class Program(torch.nn.Module):
        def forward(self, x, mask):
            return program_of(name, door)(x, mask)

    assert torch.equal(torch.export.export(Program(), (x, mask)).module()(x, mask), want)
