"""PyTorch's tensors whose elements are not as they lie in memory, in every door: resolved or refused."""

import importlib

import numpy as np
import pytest

import dmlcpu
import dmlcpu.directml as dml
import dmlcpu.numpy as dn

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")

from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

# PyTorch's own transforms use what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


def described(x):
    # Bits are resolved by a clone, which keeps the strides of dense tensors alone.
    strided = x.clone() if x.is_neg() else x
    strides = tuple(strided.stride()) if x.layout == torch.strided else None
    tensor = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, tuple(x.shape), strides)
    result = dml.BufferTensorDesc(dml.TensorDataType.UINT32, (1,) * x.dim())
    axes = tuple(range(x.dim()))
    desc = dml.ArgmaxOperatorDesc(tensor, result, axes, dml.AxisDirection.INCREASING)
    return dml.compile(desc)(x)


def of(module, call):
    return call(pytest.importorskip(module, exc_type=ImportError))


# What reads a tensor without PyTorch's dispatcher: of float32, and as indices into the rows of TABLE.
TABLE = np.arange(64) * 3
READERS = {
    "argmin": dmlcpu.argmin,
    "argmax": lambda x: dmlcpu.argmax(x, 0),
    "top_k": lambda x: dmlcpu.top_k(x, 1, axis=0).values,
    "gather_nd": lambda x: dmlcpu.gather_nd(x, [[0]]),
    "list": lambda x: dmlcpu.top_k([x, [x, x][1]], 2, axis=0).values,
    "numpy": lambda x: dn.top_k(x, 1, axis=0).values,
    "dask": lambda x: of("dmlcpu.dask", lambda m: m.argmax(x).compute(scheduler="sync")),
    "onnx": lambda x: of("dmlcpu.onnx", lambda m: m.TopK.eval(x, np.array([1]), axis=0)[0]),
    "directml": described,
}
AT = {
    "indices": lambda at: dmlcpu.gather_nd(TABLE, at),
    "list of indices": lambda at: dmlcpu.gather_nd(TABLE, [at] * 2),
    "dask indices": lambda at: of(
        "dmlcpu.dask", lambda m: m.gather_nd(TABLE, at).compute(scheduler="sync")
    ),
}


def views(x):
    yield x
    yield x.transpose(0, -1)
    yield x[1:, ::2]
    yield x[0]
    yield x.unsqueeze(1).expand(-1, 2, *[-1] * (x.dim() - 1))


@pytest.mark.parametrize("reader", READERS)
def test_negative_bits_are_resolved(reader):
    torch.manual_seed(1)
    names = ["float32"] if reader == "directml" else ["float32", "bfloat16", "float64", "int16"]
    for dtype in (getattr(torch, name) for name in names):
        x = torch._neg_view(torch.randint(-50, 50, (3, 4, 5)).to(dtype))
        for view in views(x):
            assert view.is_neg()
            np.testing.assert_array_equal(READERS[reader](view), READERS[reader](view.clone()))
    conjugate = torch.complex(torch.zeros(4, 3), torch.rand(4, 3)).conj().imag
    np.testing.assert_array_equal(READERS[reader](conjugate), READERS[reader](conjugate.clone()))


@pytest.mark.parametrize("reader", AT)
def test_negative_bits_of_indices_are_resolved(reader):
    for dtype in (torch.int64, torch.int32, torch.int8):
        for view in views(torch._neg_view(torch.randint(-50, 50, (3, 4, 5)).to(dtype))):
            view = view[..., None]
            np.testing.assert_array_equal(AT[reader](view), AT[reader](view.clone()))


@pytest.mark.parametrize("reader", [*READERS, *AT])
def test_zeros_without_memory_are_zeros(reader):
    if reader in READERS:
        zeros = torch._efficientzerotensor(3, 4)
        np.testing.assert_array_equal(READERS[reader](zeros), READERS[reader](torch.zeros(3, 4)))
    if reader in AT:
        zeros = torch._efficientzerotensor(3, 1, dtype=torch.int64)
        assert not AT[reader](zeros).any()


class Wrapper(torch.Tensor):
    """A tensor whose elements are those of another, as those of many libraries."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args = tree_map(lambda x: x.inner if isinstance(x, Wrapper) else x, args)
        return function(*args, **(kwargs or {}))


class Readable(Wrapper):
    """One that says what its array is."""

    def __array__(self, dtype=None, copy=None):
        return self.inner.numpy()


def inside(transform):
    """The tensor that a transform's function is given."""

    def call(check, x):
        transform(lambda x: (check(x), x.sum())[1])(x)

    return call


def with_tangent(check, x):
    with forward_ad.dual_level():
        check(forward_ad.make_dual(x, x))


# Tensors that PyTorch takes, and whose memory, if any, does not hold the elements.
WRAPPED = {
    "subclass": lambda check, x: check(Wrapper(x)),
    "fake": lambda check, x: check(FakeTensorMode().from_tensor(x)),
    "vmap": lambda check, x: inside(torch.vmap)(check, x.unsqueeze(0)),
    "grad": inside(torch.func.grad),
    "functionalize": inside(torch.func.functionalize),
    "jvp": lambda check, x: inside(lambda f: lambda x: torch.func.jvp(f, (x,), (x,)))(check, x),
    "dual": with_tangent,
    "sparse": lambda check, x: check(x.to_sparse()),
    "meta": lambda check, x: check(x.to("meta")),
}


@pytest.mark.parametrize("kind", ["fake", "vmap", "grad", "functionalize"])
def test_the_text_says_who_takes_them(kind):
    def check(x):
        with pytest.raises(TypeError, match="must hold .*dmlcpu.torch takes|require gradients"):
            dmlcpu.argmax(x)

    WRAPPED[kind](check, torch.tensor([1.0, 3.0]))


@pytest.mark.parametrize("kind", WRAPPED)
def test_wrapped_tensors_are_refused(kind):
    def check(x):
        for reader in READERS.values():
            with pytest.raises(TypeError, match=": must |^Issues"):  # onnx has a text of its own
                reader(x)
        with pytest.raises(TypeError, match="^out: must "):
            dmlcpu.gather_nd(np.zeros((2, 2), np.float32), [[0], [0]], out=x)
        with pytest.raises(TypeError, match=r"^indices: must "):
            dmlcpu.gather_nd(TABLE, x)

    WRAPPED[kind](check, torch.ones(2, 2))


def test_a_subclass_may_know_its_array():
    assert dmlcpu.argmax(Readable(torch.tensor([1, 3, 2]))) == 1


@pytest.mark.parametrize(
    "lazy", [lambda: torch._neg_view(torch.zeros(2)), lambda: torch._efficientzerotensor(2)]
)
def test_outputs_that_do_not_hold_their_elements_are_refused(lazy):
    with pytest.raises(TypeError, match="^out: must hold its elements as they are, got a tensor"):
        dmlcpu.gather_nd(np.float32([1]), [[0], [0]], out=lazy())
    pair = torch.zeros(2), lazy().to(torch.float64)
    assert dmlcpu.gather_nd(np.float64([1]), [[0], [0]], out=pair[1]) is pair[1]


def test_outputs_of_lazy_copies_and_of_inference_mode():
    x = torch.zeros(2)
    copy = torch._lazy_clone(x)
    with torch.inference_mode():
        inference = torch.zeros(2)
    for out in (copy, inference):
        dmlcpu.gather_nd(np.float32([1]), [[0], [0]], out=out)
        assert out.tolist() == [1, 1]
    assert x.tolist() == [0, 0]


class Copied:
    """An exporter that copies its memory unless told never to."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, *, copy=None, **options):
        if copy is False:
            raise BufferError("it has to be copied")
        return self.array.copy().__dlpack__(**options)

    def __dlpack_device__(self):
        return 1, 0


def test_outputs_are_never_copies():
    x = np.array([1.0, 3.0])
    assert dmlcpu.argmax(Copied(x)) == 1
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        with pytest.raises(TypeError, match="it has to be copied"):
            dmlcpu.gather_nd(x, [[0], [0]], out=Copied(x))


@pytest.mark.parametrize("bytes_left", [0, 16])
@pytest.mark.parametrize("view", range(5))
def test_storages_that_were_freed_or_made_smaller(view, bytes_left):
    text = r"must be held by its storage, got a tensor that ends at byte \d+ of a storage of"
    x, at = (
        list(views(torch.zeros(6, 4, 50, dtype=d)))[view] for d in (torch.float32, torch.int64)
    )
    at, nothing = at[..., None], x[:0].reshape(0, 1)
    for tensor in (x, at):
        tensor.untyped_storage().resize_(bytes_left)
    for reader, tensor in [*((r, x) for r in READERS.values()), *((r, at) for r in AT.values())]:
        with pytest.raises(ValueError, match=text):
            reader(tensor)
    with pytest.raises(ValueError, match=f"^out: {text}"):
        dmlcpu.gather_nd(np.float32([1]), [[0]], out=x)
    assert dmlcpu.argmax(nothing, 1).shape == (0, 1)


def test_lazy_tensors_of_storages_that_were_freed():
    c = torch.ones(4, dtype=torch.complex64)
    negative, conjugate = c.conj().imag, c.conj()
    c.untyped_storage().resize_(0)
    for tensor in (negative, conjugate):
        with pytest.raises(ValueError, match="^input: must be held by its storage"):
            dmlcpu.argmax(tensor)


def test_what_is_left_of_a_storage_is_read():
    x = torch.arange(6.0)
    rest = x[1:4]
    x.untyped_storage().resize_(16)
    assert dmlcpu.argmax(rest) == 2
    x.untyped_storage().resize_(24)
    assert dmlcpu.argmax(x).shape == (1,)


@pytest.mark.parametrize("bytes_left", [0, 16])
@pytest.mark.parametrize("small", [True, False])
def test_storages_of_the_door(small, bytes_left):
    """Calls that are torch's at once are refused too."""
    text = r"must be held by its storage, got a tensor that ends at byte \d+ of a storage of"
    rows = torch.zeros(3000, dtype=torch.int64)[: 3 if small else 3000]
    args = {"topk": (1,), "index_select": (0, rows), "gather_nd": (rows.unsqueeze(1),)}
    for gradient in (False, True):
        for name in ("argmax", "argmin", "max", "min", "topk", "index_select", "gather_nd"):
            x = torch.zeros(6, 4, 5 if small else 500)
            for view in list(views(x))[:4] if not gradient else [x.requires_grad_()]:
                x.untyped_storage().resize_(bytes_left)
                with pytest.raises(RuntimeError, match=f"^input: {text}"):
                    getattr(door, name)(view, *args.get(name, (0,)))
    x, indices = torch.zeros(6, 4), rows[:2].clone()
    at = indices.unsqueeze(1)
    indices.untyped_storage().resize_(8)
    with pytest.raises(RuntimeError, match=f"^indices: {text}"):
        door.gather_nd(x, at)
