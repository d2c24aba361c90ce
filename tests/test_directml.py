"""dmlcpu.directml: the reference's examples, arrays as buffers, results against reference
implementations."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmlcpu
from dmlcpu import directml as dml

import data
import reference

FLOAT32 = dml.TensorDataType.FLOAT32
UINT32 = dml.TensorDataType.UINT32
INCREASING = dml.AxisDirection.INCREASING
DECREASING = dml.AxisDirection.DECREASING

SETTINGS = settings(deadline=None)

SQUARE = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)
DML_DTYPES = [d for d in data.DTYPES if d.name.upper() in dml.TensorDataType.__members__]
ORDERED_DTYPES = [d for d in DML_DTYPES if d != np.float64]  # which only gather has


def tensor(data_type, *sizes, strides=None):
    return dml.BufferTensorDesc(data_type, sizes, strides)


@pytest.mark.parametrize(
    ("desc", "axes", "sizes", "want"),
    [
        (dml.ArgminOperatorDesc, (0,), (1, 3), [[0, 1, 2]]),
        (dml.ArgminOperatorDesc, (1,), (3, 1), [[0], [1], [0]]),
        (dml.ArgminOperatorDesc, (0, 1), (1, 1), [[4]]),
        (dml.ArgmaxOperatorDesc, (0,), (1, 3), [[1, 2, 1]]),
        (dml.ArgmaxOperatorDesc, (1,), (3, 1), [[2], [2], [1]]),
        (dml.ArgmaxOperatorDesc, (0, 1), (1, 1), [[7]]),
    ],
)
def test_arg_examples(desc, axes, sizes, want):
    compiled = dml.compile(desc(tensor(FLOAT32, 3, 3), tensor(UINT32, *sizes), axes, INCREASING))
    result = compiled(SQUARE)
    assert result.dtype == np.uint32
    assert result.tolist() == want


@pytest.mark.parametrize(("direction", "want"), [(INCREASING, 0), (DECREASING, 4)])
@pytest.mark.parametrize(
    ("desc", "x"),
    [(dml.ArgminOperatorDesc, [1, 2, 3, 2, 1]), (dml.ArgmaxOperatorDesc, [3, 2, 1, 2, 3])],
)
def test_tie_examples(desc, x, direction, want):
    compiled = dml.compile(desc(tensor(FLOAT32, 5), tensor(UINT32, 1), (0,), direction))
    assert compiled(np.array(x, np.float32)).tolist() == [want]


@pytest.mark.parametrize(("function", "want"), [("ARGMAX", [[1, 2, 1]]), ("ARGMIN", [[0, 1, 2]])])
def test_reduce(function, want):
    desc = dml.ReduceOperatorDesc(
        dml.ReduceFunction[function], tensor(FLOAT32, 3, 3), tensor(UINT32, 1, 3), (0,)
    )
    assert dml.compile(desc)(SQUARE).tolist() == want


TOP_K_INPUT = np.array([[[[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]]]], np.float32)
TIES = np.array([[[[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]]]], np.float32)


@pytest.mark.parametrize(
    ("axis", "sizes", "values", "indices"),
    [
        (3, (1, 1, 3, 2), [[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]]),
        (2, (1, 1, 2, 4), [[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]]),
    ],
)
def test_top_k_examples(axis, sizes, values, indices):
    tensors = tensor(FLOAT32, 1, 1, 3, 4), tensor(FLOAT32, *sizes), tensor(UINT32, *sizes)
    for desc in (
        dml.TopKOperatorDesc(*tensors, axis, 2),
        dml.TopK1OperatorDesc(*tensors, axis, 2, DECREASING),
    ):
        result = dml.compile(desc)(TOP_K_INPUT)
        assert isinstance(result, dmlcpu.TopK)
        assert result.values.tolist() == [[values]]
        assert result.indices.tolist() == [[indices]]


@pytest.mark.parametrize(
    ("direction", "values", "indices"),
    [
        (DECREASING, [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]]),
        (INCREASING, [[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2], [0, 1, 2], [0, 1, 2]]),
    ],
)
def test_top_k1_example(direction, values, indices):
    desc = dml.TopK1OperatorDesc(
        input_tensor=tensor(FLOAT32, 1, 1, 3, 4),
        output_value_tensor=tensor(FLOAT32, 1, 1, 3, 3),
        output_index_tensor=tensor(UINT32, 1, 1, 3, 3),
        axis=3,
        k=3,
        axis_direction=direction,
    )
    result = dml.compile(desc)(TIES)
    assert result.values.tolist() == [[values]]
    assert result.indices.tolist() == [[indices]]


def test_gather_nd_examples():
    desc = dml.GatherNdOperatorDesc(
        tensor(FLOAT32, 2, 2), tensor(UINT32, 2, 1), tensor(FLOAT32, 2, 2), 2, 2
    )
    x = np.array([[0, 1], [2, 3]], np.float32)
    assert dml.compile(desc)(x, np.array([[1], [0]], np.uint32)).tolist() == [[2, 3], [0, 1]]

    # Indices of fewer dimensions than the input, after a leading 1.
    desc = dml.GatherNdOperatorDesc(
        tensor(FLOAT32, 2, 2, 2), tensor(UINT32, 1, 2, 2), tensor(FLOAT32, 1, 2, 2), 3, 2
    )
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    at = np.array([[[0, 1], [1, 0]]], np.uint32)
    assert dml.compile(desc)(x, at).tolist() == [[[2, 3], [4, 5]]]

    # The sizes by which the reference's formula of the output is seen to be wrong.
    desc = dml.GatherNdOperatorDesc(
        tensor(FLOAT32, 3, 4, 5, 6, 7), tensor(UINT32, 1, 1, 1, 2, 3),
        tensor(FLOAT32, 1, 1, 2, 6, 7), 5, 3,
    )  # fmt: skip
    x = np.arange(3 * 4 * 5 * 6 * 7, dtype=np.float32).reshape(3, 4, 5, 6, 7)
    at = np.array([[2, 3, 4], [0, 1, 2]], np.uint32)
    got = dml.compile(desc)(x, at.reshape(1, 1, 1, 2, 3))
    assert np.array_equal(got[0, 0], [x[2, 3, 4], x[0, 1, 2]])


def test_gather_nd1_example():
    desc = dml.GatherNd1OperatorDesc(
        tensor(FLOAT32, 1, 3, 2, 2), tensor(UINT32, 1, 3, 2, 2), tensor(FLOAT32, 1, 1, 3, 2),
        input_dimension_count=3, indices_dimension_count=3, batch_dimension_count=1,
    )  # fmt: skip
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)
    at = np.array([[[0, 0], [1, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 0]]], np.uint32)
    got = dml.compile(desc)(x, at.reshape(1, 3, 2, 2))
    assert got.tolist() == [[[[0, 3], [5, 6], [10, 8]]]]


def test_driver_defaults():
    nan = np.array([1, np.nan, 3], np.float32)
    argmax = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 3), tensor(UINT32, 1), (0,))
    assert dml.compile(argmax)(nan).tolist() == [2]
    assert dml.compile(argmax, nan_policy="propagate")(nan).tolist() == [1]
    top_k = dml.TopKOperatorDesc(
        tensor(FLOAT32, 3), tensor(FLOAT32, 2), tensor(UINT32, 2), axis=0, k=2
    )
    assert dml.compile(top_k)(nan).indices.tolist() == [2, 0]
    assert dml.compile(top_k, nan_policy="propagate")(nan).indices.tolist() == [1, 2]

    gather = dml.GatherNdOperatorDesc(
        tensor(FLOAT32, 3, 1), tensor(dml.TensorDataType.INT32, 2, 1), tensor(FLOAT32, 2, 1), 2, 2
    )
    x = np.array([[5], [6], [7]], np.float32)
    at = np.array([[9], [-1]], np.int32)
    assert dml.compile(gather)(x, at).tolist() == [[7], [7]]
    out = np.full((2, 1), -1, np.float32)
    with pytest.raises(IndexError, match=r"^indices_tensor: must be in \[-3, 2\] .*, got 9 at "):
        dml.compile(gather, mode="raise")(x, at, out=out)
    assert (out == -1).all()


def test_arrays_lie_as_described():
    rows = np.arange(8, dtype=np.float32).reshape(2, 4)[:, :3]  # padded by one element
    desc = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 2, 3, strides=(4, 1)), tensor(UINT32, 2, 1), (1,))
    compiled = dml.compile(desc)
    assert compiled(rows).tolist() == [[2], [2]]
    # The tensor's buffer; what lies after its last element does not matter.
    assert compiled(np.arange(7, dtype=np.float32)).tolist() == [[2], [2]]
    assert compiled(np.arange(100, dtype=np.float32)).tolist() == [[2], [2]]
    broadcast = dml.BufferTensorDesc(FLOAT32, (2, 3), (0, 1))
    desc = dml.ArgmaxOperatorDesc(broadcast, tensor(UINT32, 2, 1), (1,))
    row = np.array([1, 5, 2], np.float32)
    assert dml.compile(desc)(np.broadcast_to(row, (2, 3))).tolist() == [[1], [1]]
    assert dml.compile(desc)(row).tolist() == [[1], [1]]
    # Strides along sizes of 1 mean nothing.
    desc = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 1, 3), tensor(UINT32, 1, 1), (1,))
    assert dml.compile(desc)(np.zeros((1, 9), np.float32)[:, :3]).tolist() == [[0]]


def test_outputs():
    desc = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 3, 3), tensor(UINT32, 3, 1, strides=(2, 1)), (1,))
    compiled = dml.compile(desc)
    result = compiled(SQUARE)
    assert result.strides == (8, 4)
    assert result.tolist() == [[2], [2], [1]]
    out = np.full(6, 99, np.uint32)
    assert compiled(SQUARE, out=out) is out
    assert out.tolist() == [2, 99, 2, 99, 1, 99]

    top_k = dml.compile(
        dml.TopKOperatorDesc(
            tensor(FLOAT32, 3, 3), tensor(FLOAT32, 3, 2), tensor(UINT32, 3, 2), 1, 2
        )
    )
    pair = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.uint32)
    got = top_k(SQUARE, out=pair)
    assert got.values is pair[0]
    assert got.indices is pair[1]
    assert pair[1].tolist() == [[2, 1], [2, 0], [1, 0]]


def test_compiled_operator_says_what_it_is():
    desc = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 3, 3), tensor(UINT32, 3, 1), (1,))
    compiled = dml.compile(desc, feature_level="4.1")
    assert compiled.desc is desc
    assert compiled.feature_level is dml.FeatureLevel.LEVEL_4_1
    assert repr(compiled).startswith("CompiledOperator(ArgmaxOperatorDesc(input_tensor=")
    assert repr(compiled).endswith("feature_level='4.1', nan_policy='omit', mode='clip')")
    assert dml.compile(desc, feature_level=0x5000).feature_level == dml.FeatureLevel.LEVEL_5_0
    strict = dml.compile(desc, nan_policy="propagate", mode="raise")
    assert (strict.nan_policy, strict.mode) == ("propagate", "raise")


def test_compiled_operators_pickle():
    desc = dml.ArgmaxOperatorDesc(tensor(FLOAT32, 3), tensor(UINT32, 1), (0,))
    compiled = dml.compile(desc, feature_level="4.1", nan_policy="propagate")
    for again in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        assert repr(again) == repr(compiled)
        assert again == compiled
        assert hash(again) == hash(compiled)
        assert again(np.array([1, np.nan, 3], np.float32)).tolist() == [1]


def test_operators_compiled_from_the_same_are_equal():
    fields = tensor(FLOAT32, 3), tensor(UINT32, 1), (0,)
    desc = dml.ArgmaxOperatorDesc(*fields)
    compiled = dml.compile(desc)
    assert compiled == dml.compile(dml.ArgmaxOperatorDesc(*fields[:2], [0]), feature_level="6.4")
    others = [
        dml.compile(dml.ArgminOperatorDesc(*fields)),
        dml.compile(dml.ArgmaxOperatorDesc(*fields, DECREASING)),
        dml.compile(dml.ArgmaxOperatorDesc(tensor(FLOAT32, 2), *fields[1:])),
        dml.compile(desc, feature_level="5.0"),
        dml.compile(desc, nan_policy="propagate"),
        dml.compile(desc, mode="raise"),
    ]
    assert len({compiled, dml.compile(desc), *others}) == 1 + len(others)
    assert all(compiled != other for other in [*others, desc, None])


def test_calls_from_many_threads():
    x = np.random.default_rng(0).standard_normal((64, 3000)).astype(np.float32)
    desc = dml.TopKOperatorDesc(
        tensor(FLOAT32, 64, 3000), tensor(FLOAT32, 64, 5), tensor(UINT32, 64, 5), 1, 5
    )
    compiled = dml.compile(desc)
    want = dmlcpu.top_k(x, 5).indices
    good = []

    def work():
        good.extend(np.array_equal(compiled(x).indices, want) for _ in range(20))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert good == [True] * 80


@st.composite
def inputs(draw, dtypes=ORDERED_DTYPES, max_dims=4):
    """An array with strides of at least 0: contiguous, transposed, padded or broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=max_dims))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = data.random_values(rng, dtype, shape, distinct=draw(st.sampled_from([None, 2, 5])))
    order = draw(st.permutations(range(len(shape))))
    pads = draw(st.lists(st.integers(0, 2), min_size=len(shape), max_size=len(shape)))
    x = data.in_layout(x, list(order), [1] * len(shape), pads)
    if draw(st.booleans()):
        x = np.broadcast_to(x[:1], x.shape)
    return x


@SETTINGS
@given(inputs(), st.data())
def test_arg_against_its_reference(x, draw):
    axes = draw.draw(st.lists(st.integers(0, x.ndim - 1), unique=True))
    largest = draw.draw(st.booleans())
    direction = draw.draw(st.sampled_from(list(dml.AxisDirection)))
    nan_policy = draw.draw(st.sampled_from(["omit", "propagate"]))
    desc_type = dml.ArgmaxOperatorDesc if largest else dml.ArgminOperatorDesc
    sizes = [1 if d in axes else size for d, size in enumerate(x.shape)]
    desc = desc_type(
        dml.BufferTensorDesc.from_array(x),
        dml.BufferTensorDesc(dml.TensorDataType.INT64, sizes), axes, direction,
    )  # fmt: skip
    want = reference.arg(
        x, axes, largest=largest, direction=direction.name.lower(), nan_policy=nan_policy
    )
    assert np.array_equal(dml.compile(desc, nan_policy=nan_policy)(x), want)


@SETTINGS
@given(inputs(), st.data())
def test_top_k_against_its_reference(x, draw):
    axis = draw.draw(st.integers(0, x.ndim - 1))
    k = draw.draw(st.integers(1, x.shape[axis]))
    direction = draw.draw(st.sampled_from(list(dml.AxisDirection)))
    sizes = [k if d == axis else size for d, size in enumerate(x.shape)]
    input_tensor = dml.BufferTensorDesc.from_array(x)
    desc = dml.TopK1OperatorDesc(
        input_tensor, dml.BufferTensorDesc(input_tensor.data_type, sizes),
        dml.BufferTensorDesc(dml.TensorDataType.UINT64, sizes), axis, k, direction,
    )  # fmt: skip
    got = dml.compile(desc)(x)
    values, indices = reference.top_k(
        x, k, axis=axis, direction=direction.name.lower(), nan_policy="omit"
    )
    assert got.values.tobytes() == np.ascontiguousarray(values).tobytes()
    assert np.array_equal(got.indices, indices)


@SETTINGS
@given(inputs(DML_DTYPES, 3), st.data())
def test_gather_nd_against_its_reference(x, draw):
    index_dtype = draw.draw(st.sampled_from(data.INDEX_DTYPES))
    batch = draw.draw(st.integers(0, x.ndim - 1))
    tuple_length = draw.draw(st.integers(1, x.ndim - batch))
    others = draw.draw(st.lists(st.integers(1, 3), max_size=2))
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    low = -7 if index_dtype.kind == "i" else 0  # also out of range, both ways
    at = rng.integers(low, 7, (*x.shape[:batch], *others, tuple_length)).astype(index_dtype)
    want = reference.gather_nd(x, at, batch_dims=batch, mode="clip")
    # Leading dimensions of 1 make all tensors' dimensions as many.
    count = max(x.ndim, at.ndim, want.ndim)
    leading = {array.ndim: (1,) * (count - array.ndim) for array in (x, at, want)}
    x_desc, at_desc, out_desc = (
        dml.BufferTensorDesc.from_array(array.reshape(leading[array.ndim] + array.shape))
        for array in (x, at, want)
    )
    desc = dml.GatherNd1OperatorDesc(x_desc, at_desc, out_desc, x.ndim, at.ndim, batch)
    got = dml.compile(desc)(x.reshape(x_desc.sizes), at.reshape(at_desc.sizes))
    assert got.reshape(want.shape).tobytes() == want.tobytes()
