"""gather_nd of the door for PyTorch checks its arguments as dmlcpu.gather_nd does, on every road."""

import importlib
import random

import numpy as np
import pytest

import dmlcpu

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")

from torch._subclasses import FakeTensorMode  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


def with_gradient(x, indices, batch_dims):
    return door.gather_nd(x.clone().requires_grad_(), indices, batch_dims).detach()


def forward(x, indices, batch_dims):
    return torch.func.jvp(lambda x: door.gather_nd(x, indices, batch_dims), (x,), (x,))[1]


def under_vmap(x, indices, batch_dims):
    batch = torch.stack([x, x + 1])
    return torch.vmap(lambda x: door.gather_nd(x, indices, batch_dims))(batch)[0]


def under_vmap_of_indices(x, indices, batch_dims):
    batch = torch.stack([indices] * 3, -1) if indices.dim() else indices.expand(3)
    return torch.vmap(lambda i: door.gather_nd(x, i, batch_dims), -1)(batch)[1]


def as_complex(x, indices, batch_dims):
    return door.gather_nd(x.to(torch.complex64), indices, batch_dims).real.to(x.dtype)


def of_nine_dimensions(x, indices, batch_dims):
    rank = x.dim()
    if not rank or not indices.dim() or indices.shape[-1] > rank - batch_dims:
        return door.gather_nd(x, indices, batch_dims)
    result = door.gather_nd(x.reshape(*x.shape, *[1] * (9 - rank)), indices, batch_dims)
    return result.reshape(result.shape[: result.dim() + rank - 9])


def with_out(x, indices, batch_dims):
    return door.gather_nd(x, indices, batch_dims, out=x.new_empty(0))


ROADS = [
    door.gather_nd, with_gradient, forward, under_vmap, under_vmap_of_indices, as_complex,
    of_nine_dimensions, with_out,
]  # fmt: skip


def faked(x, indices, batch_dims):
    with FakeTensorMode() as mode:
        return door.gather_nd(mode.from_tensor(x), mode.from_tensor(indices), batch_dims)


def outcome(call, *args):
    try:
        return call(*args)
    except (TypeError, ValueError, IndexError) as error:
        return error


def cases():
    """Mostly wrong arguments: input, indices, batch_dims."""
    choice = random.Random(1)
    for _ in range(60):
        rank = choice.randint(1, 3)
        x = torch.rand([choice.choice((0, 1, 2, 3)) for _ in range(rank)])
        batch = choice.choice((0, 0, 1, 2, -1))
        tail = choice.randint(0, 3)
        sizes = [*x.shape[: max(batch, 0)], *[choice.randint(0, 2) for _ in range(2)], tail]
        if choice.random() < 0.2 and batch > 0:
            sizes[0] = 1
        dtype = choice.choice(
            ("int64", "int32", "int8", "uint8", "uint64", "uint32", "bool", "float32")
        )
        low = 0 if dtype[0] in "ub" else -3
        indices = torch.randint(low, choice.choice((1, 2, 4)), sizes).to(getattr(torch, dtype))
        yield x, indices, batch
    x = torch.rand(2, 3)
    yield x, torch.tensor([[0, -1]]).view(torch.uint64), 0
    yield x, torch.tensor([[-1]]).view(torch.uint64), 0
    yield x, torch.tensor([[2**31], [1]]).view(torch.uint64), 0
    yield x, torch.tensor([[[0]]]), 1
    yield torch.rand(3, 0), torch.tensor([[5]]), 0
    yield torch.rand(()), torch.tensor([0]), 0
    yield x, torch.tensor(0), 0
    yield x, torch.zeros(2, 1), 0


@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.__name__)
def test_errors_of_every_road(road):
    wrong = 0
    for x, indices, batch_dims in cases():
        array, at = x.numpy(), indices.numpy()
        want = outcome(lambda: dmlcpu.gather_nd(array, at, batch_dims=batch_dims))  # noqa: B023
        got = outcome(road, x, indices, batch_dims)
        if not isinstance(want, Exception):
            assert not isinstance(got, Exception), got
            np.testing.assert_array_equal(got.numpy(), want)
            continue
        wrong += 1
        assert type(got) is type(want), (got, want, x.shape, indices.shape)
        if road in (door.gather_nd, with_out, with_gradient, as_complex):
            assert str(got).replace("torch.", "") == str(want)
    assert wrong > 20


def test_errors_of_fake_tensors():
    for x, indices, batch_dims in cases():
        want = outcome(lambda: dmlcpu.gather_nd(x.numpy(), indices.numpy(), batch_dims=batch_dims))  # noqa: B023
        got = outcome(faked, x, indices, batch_dims)
        if isinstance(want, Exception) and not isinstance(want, IndexError):
            assert type(got) is type(want)
        elif not isinstance(want, Exception):
            assert got.shape == want.shape


def test_results_beside_the_core():
    choice = random.Random(2)
    for _ in range(60):
        rank, batch = choice.randint(2, 3), choice.randint(0, 1)
        x = torch.rand([choice.randint(1, 4) for _ in range(rank)])
        tail = choice.randint(1, rank - batch)
        sizes = [*x.shape[:batch], *[choice.randint(0, 3) for _ in range(choice.randint(0, 2))]]
        at = [torch.randint(-n, n, sizes) for n in x.shape[batch : batch + tail]]
        indices = torch.stack(at, -1).to(choice.choice((torch.int64, torch.int32, torch.int8)))
        want = dmlcpu.gather_nd(x.numpy(), indices.numpy(), batch_dims=batch)
        for road in ROADS:
            np.testing.assert_array_equal(road(x, indices, batch).numpy(), want)
        assert faked(x, indices, batch).shape == want.shape
