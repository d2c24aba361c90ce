"""Outputs that are other libraries' own: written in place and returned, or refused.

Each library is skipped where it is missing; the extra `interop` installs them all.
"""

import numpy as np
import pytest

import dmlcpu


def load(name):
    return pytest.importorskip(name, exc_type=ImportError)


@pytest.mark.parametrize("name", ["bfloat16", "float32", "int64"])
def test_torch_outputs(name):
    """Tensors of any strides are written in place, by name, and returned."""
    torch = load("torch")
    x = torch.tensor([[1, 3, 2], [6, 4, 5]]).to(getattr(torch, name))
    values = torch.zeros(2, 2, dtype=x.dtype).t()
    indices = torch.full((2, 4), 9)[:, ::2]
    top = dmlcpu.top_k(x, 2, index_dtype=np.int64, out=[values, indices])
    assert top.values is values
    assert top.indices is indices
    want = torch.topk(x, 2)
    assert torch.equal(values, want.values)
    assert torch.equal(indices, want.indices)
    at = torch.zeros(2, dtype=torch.int32)
    assert dmlcpu.argmax(x, 1, keepdims=False, index_dtype=np.int32, out=at) is at
    assert at.tolist() == [1, 0]
    row = torch.zeros(1, 3, dtype=x.dtype)
    assert dmlcpu.gather_nd(x, torch.tensor([[1]]), out=row) is row
    assert torch.equal(row, x[1:])


def test_torch_bfloat16_as_the_documentation_says():
    torch = load("torch")
    values = dmlcpu.top_k(torch.tensor([1.0, 3.0, 2.0], dtype=torch.bfloat16), 2).values
    tensor = torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    assert tensor.tolist() == [3, 2]
    values[0] = 7
    assert tensor[0] == 7


def test_torch_outputs_that_backward_needs():
    """Writing to a tensor that a gradient needs is seen by PyTorch, as that of its own out=."""
    torch = load("torch")
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    kept = x.detach() * 2
    result = (x * kept).sum()
    dmlcpu.gather_nd(np.float32([5, 6]), [[0], [1]], out=kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_torch_outputs_refused():
    torch = load("torch")
    refusals = [
        (torch.zeros(1, requires_grad=True), "must not require gradients, got a tensor that does"),
        (torch.zeros(1, device="meta"), "must be an array, or share .*, got Tensor [(]can't conv"),
        (torch.zeros(1).to_sparse(), "must be an array, or share .*, got Tensor [(]can't convert"),
        (torch.zeros(1), "must be of dtype uint32, got float32$"),
        (torch.masked.masked_tensor(torch.zeros(1), torch.tensor([True])), "must not be a masked"),
    ]
    for out, text in refusals:
        with pytest.raises(TypeError, match=f"^out: {text}"):
            dmlcpu.argmax([1, 2], out=out)
    twice = torch.zeros(1, dtype=torch.uint32).expand(2)
    with pytest.raises(ValueError, match="^out: must have elements that do not overlap"):
        dmlcpu.argmax([[1, 2], [1, 2]], 1, keepdims=False, out=twice)


def test_jax_and_pyarrow_outputs_are_read_only():
    text = "^out: must be writable, got a read-only array$"
    for make in (
        lambda: load("jax").numpy.uint32([0]),
        lambda: load("pyarrow").array(np.uint32([0])),
    ):
        with pytest.raises(ValueError, match=text):
            dmlcpu.argmax([1, 2], out=make())
