"""What dmlcpu.directml refuses, and since when DirectML takes what."""

import dataclasses
import re
from itertools import product

import ml_dtypes
import numpy as np
import pytest

from dmlcpu import directml as dml

TYPES = dml.TensorDataType
X = dml.BufferTensorDesc(TYPES.FLOAT32, (3, 4))
ARG = dml.ArgminOperatorDesc(X, dml.BufferTensorDesc(TYPES.UINT32, (3, 1)), axes=(1,))
TOP_K = dml.TopK1OperatorDesc(
    X, dml.BufferTensorDesc(TYPES.FLOAT32, (3, 2)), dml.BufferTensorDesc(TYPES.UINT32, (3, 2)),
    axis=1, k=2,
)  # fmt: skip
GATHER = dml.GatherNd1OperatorDesc(
    dml.BufferTensorDesc(TYPES.FLOAT32, (1, 5, 3, 4)),
    dml.BufferTensorDesc(TYPES.INT64, (1, 5, 7, 1)),
    dml.BufferTensorDesc(TYPES.FLOAT32, (1, 5, 7, 4)),
    input_dimension_count=3, indices_dimension_count=3, batch_dimension_count=1,
)  # fmt: skip
REDUCE = dml.ReduceOperatorDesc(dml.ReduceFunction.ARGMAX, X, ARG.output_tensor, (1,))


def change(desc, **changes):
    """The descriptor with other fields; a dict changes a tensor's fields."""
    fields = {
        name: dataclasses.replace(getattr(desc, name), **value)
        if isinstance(value, dict)
        else value
        for name, value in changes.items()
    }
    return dataclasses.replace(desc, **fields)


ORDERED = "FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8, UINT64 or INT64"
BROKEN = [
    # Fields that are none.
    (ARG, dict(input_tensor=None), TypeError, "input_tensor: must be a BufferTensorDesc, got NoneType"),
    (ARG, dict(axes=1), TypeError, "axes: must be a sequence of ints, got int"),
    (ARG, dict(axes=(0.5,)), TypeError, "axes[0]: must be an int, got float"),
    (ARG, dict(axes=(np.array([0, 1]),)), TypeError, "axes[0]: must be an int, got numpy.ndarray"),
    (ARG, dict(axes=(-1,)), ValueError, "axes[0]: must be an unsigned int of 32 bits, got -1"),
    (ARG, dict(axis_direction="up"), TypeError, "axis_direction: must be an AxisDirection, got str"),
    (ARG, dict(input_tensor=dict(sizes=(3, 2**32))), ValueError, "input_tensor.sizes[1]: must be an unsigned int of 32 bits, got 4294967296"),
    (ARG, dict(input_tensor=dict(sizes="34")), TypeError, "input_tensor.sizes: must be a sequence of ints, got str"),
    (ARG, dict(input_tensor=dict(strides=(1,))), ValueError, "input_tensor.strides: must be as many as sizes, 2, got 1"),
    (ARG, dict(input_tensor=dict(strides=(12, 3, 1))), ValueError, "input_tensor.strides: must be as many as sizes, 2, got 3"),
    (ARG, dict(input_tensor=dict(data_type=None)), TypeError, "input_tensor.data_type: must be a TensorDataType, got NoneType"),
    (TOP_K, dict(k=True), TypeError, "k: must be an int, got bool"),
    # Tensors.
    (ARG, dict(input_tensor=dict(data_type=TYPES.INT4)), ValueError, "input_tensor.data_type: must be FLOAT32, FLOAT16, FLOAT64 or an integer type of 8 to 64 bits, got INT4"),
    (ARG, dict(input_tensor=dict(flags=2)), ValueError, "input_tensor.flags: must be NONE (0) or OWNED_BY_DML (1), got 2"),
    (ARG, dict(output_tensor=dict(flags=1)), ValueError, "output_tensor.flags: must be NONE (0), got 1"),
    (ARG, dict(input_tensor=dict(sizes=())), ValueError, "input_tensor.dimension_count: must be in [1, 8], got 0"),
    (ARG, dict(input_tensor=dict(sizes=(1,) * 9)), ValueError, "input_tensor.dimension_count: must be in [1, 8], got 9"),
    (ARG, dict(input_tensor=dict(sizes=(3, 0))), ValueError, "input_tensor.sizes: must be at least 1 in every dimension, got (3, 0)"),
    (ARG, dict(input_tensor=dict(total_tensor_size_in_bytes=44)), ValueError, "input_tensor.total_tensor_size_in_bytes: must be at least 48 (its elements, rounded up to 4 bytes), got 44"),
    (ARG, dict(input_tensor=dict(guaranteed_base_offset_alignment=3)), ValueError, "input_tensor.guaranteed_base_offset_alignment: must be 0 or a power of two of at least the element's 4 bytes, got 3"),
    (ARG, dict(output_tensor=dict(strides=(0, 0))), ValueError, "output_tensor.strides: must give every element a place of its own, got (0, 0)"),
    (ARG, dict(input_tensor=dict(sizes=(2**32 - 1,) * 2)), ValueError, "input_tensor: must have sizes and strides of at most 2^60 bytes, got shape (4294967295, 4294967295)"),
    # argmin, argmax, reduce.
    (ARG, dict(input_tensor=dict(data_type=TYPES.FLOAT64)), ValueError, f"input_tensor.data_type: must be {ORDERED}, got FLOAT64"),
    (ARG, dict(output_tensor=dict(data_type=TYPES.FLOAT32)), ValueError, "output_tensor.data_type: must be UINT32, INT32, UINT64 or INT64, got FLOAT32"),
    (ARG, dict(output_tensor=dict(sizes=(3,))), ValueError, "output_tensor.dimension_count: must be 2, that of input_tensor, got 1"),
    (ARG, dict(output_tensor=dict(sizes=(3, 4))), ValueError, "output_tensor.sizes: must be (3, 1), got (3, 4)"),
    (ARG, dict(axes=(0, 1, 0)), ValueError, "len(axes): must be at most 2, input_tensor.dimension_count, got 3"),
    (ARG, dict(axes=(2,)), ValueError, "axes[0]: must be in [0, 1], got 2"),
    (ARG, dict(axes=(1, 1)), ValueError, "axes[1]: must not repeat an axis, got 1"),
    (ARG, dict(axis_direction=2), ValueError, "axis_direction: must be INCREASING (0) or DECREASING (1), got 2"),
    (REDUCE, dict(function=10), ValueError, "function: must be ARGMAX (0) or ARGMIN (1), got 10"),
    # top-k.
    (TOP_K, dict(axis=2), ValueError, "axis: must be in [0, 1], got 2"),
    (TOP_K, dict(k=0), ValueError, "k: must be in [1, 4] (the size of axis 1), got 0"),
    (TOP_K, dict(k=5), ValueError, "k: must be in [1, 4] (the size of axis 1), got 5"),
    (TOP_K, dict(output_value_tensor=dict(data_type=TYPES.INT32)), ValueError, "output_value_tensor.data_type: must be FLOAT32, that of input_tensor, got INT32"),
    (TOP_K, dict(output_index_tensor=dict(data_type=TYPES.INT32)), ValueError, "output_index_tensor.data_type: must be UINT32 or UINT64, got INT32"),
    (TOP_K, dict(output_index_tensor=dict(sizes=(3, 1))), ValueError, "output_index_tensor.sizes: must be (3, 2), got (3, 1)"),
    # gather.
    (GATHER, dict(input_dimension_count=5), ValueError, "input_dimension_count: must be in [1, 4] (input_tensor.dimension_count), got 5"),
    (GATHER, dict(indices_dimension_count=0), ValueError, "indices_dimension_count: must be in [1, 4] (indices_tensor.dimension_count), got 0"),
    (GATHER, dict(input_dimension_count=2), ValueError, "input_tensor.sizes: must be 1 in the 2 dimensions before the last 2 (input_dimension_count), got (1, 5, 3, 4)"),
    (GATHER, dict(batch_dimension_count=3), ValueError, "batch_dimension_count: must be in [0, 2] (below input_dimension_count and indices_dimension_count), got 3"),
    (GATHER, dict(indices_tensor=dict(sizes=(1, 4, 7, 1))), ValueError, "indices_tensor.sizes: must have the batch dimensions of input_tensor (5,), got (4,)"),
    (GATHER, dict(indices_tensor=dict(sizes=(1, 5, 7, 3))), ValueError, "indices_tensor.sizes: must end in a size in [1, 2] (input_dimension_count without the batch), got 3"),
    (GATHER, dict(output_tensor=dict(sizes=(1, 5, 7, 3))), ValueError, "output_tensor.sizes: must be (1, 5, 7, 4), got (1, 5, 7, 3)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "changes", "error", "text"), BROKEN, ids=lambda v: v if isinstance(v, str) else ""
)
def test_broken_descriptors(desc, changes, error, text):
    dml.compile(desc)
    for call in (dml.compile, dml.feature_level_required):
        with pytest.raises(error) as caught:
            call(change(desc, **changes))
        assert str(caught.value) == text
        assert type(caught.value) is error


def test_other_arguments():
    with pytest.raises(
        TypeError, match=r"^desc: must be an operator descriptor of dmlcpu.directml, got int$"
    ):
        dml.compile(1)
    with pytest.raises(TypeError, match="^desc: must be an operator descriptor"):
        dml.compile(dml.OperatorDesc())
    text = re.escape('feature_level: must be a FeatureLevel, "1.0" to "6.4", got ')
    for level in ("4.2", 0x4200):
        with pytest.raises(ValueError, match=f"^{text}{level!r}$"):
            dml.compile(ARG, feature_level=level)
    for level in (4.1, None, True):
        with pytest.raises(TypeError, match=f"^{text}{type(level).__name__}$"):
            dml.compile(ARG, feature_level=level)
    with pytest.raises(ValueError, match="^nan_policy: "):
        dml.compile(ARG, nan_policy="raise")
    with pytest.raises(ValueError, match="^mode: "):
        dml.compile(ARG, mode="wrap")
    with pytest.raises(ValueError, match="^strides: must be as many as sizes, 2, got 1$"):
        dml.calc_buffer_tensor_size(TYPES.FLOAT32, (2, 3), (1,))
    for sizes, name in ((3, "int"), ("34", "str")):
        with pytest.raises(TypeError, match=f"^sizes: must be a sequence of ints, got {name}$"):
            dml.calc_buffer_tensor_size(TYPES.FLOAT32, sizes)
    assert dml.calc_buffer_tensor_size(TYPES.FLOAT32, iter((2, 3)), iter((3, 1))) == 24


def test_sizes_are_counted_in_64_bits():
    assert dml.calc_buffer_tensor_size(TYPES.FLOAT32, (70000, 70000)) == 19_600_000_000
    assert dml.calc_buffer_tensor_size(TYPES.UINT8, (3, 3), (0, 1)) == 4
    assert dml.calc_buffer_tensor_size(TYPES.UNKNOWN, (3, 3)) == 0
    assert dml.calc_buffer_tensor_size(TYPES.FLOAT32, (3, 0)) == 0
    assert dml.calc_buffer_tensor_size(TYPES.UINT8, (2**32 - 1, 2**32 - 1)) == 2**64 - 2**33 + 4
    assert dml.calc_buffer_tensor_size(TYPES.UINT8, (2**31, 2**31, 1), (2**31, 1, 9)) == 2**62
    for sizes in ((2**31, 2**31), (2**32 - 1,) * 3, (2**16,) * 4):
        with pytest.raises(ValueError, match="^sizes: must give bytes that fit 64 bits, got "):
            dml.calc_buffer_tensor_size(TYPES.FLOAT32, sizes)


class Unknown(dml.ArgmaxOperatorDesc):
    operator_type = 7


def test_other_operators():
    desc = Unknown(X, ARG.output_tensor, (1,))
    text = "operator_type: must be REDUCE (55), TOP_K (71), GATHER_ND (108), "
    with pytest.raises(ValueError, match=f"^{re.escape(text)}.*, got 7$"):
        dml.compile(desc)


def test_describing_arrays():
    from_array = dml.BufferTensorDesc.from_array
    x = np.zeros((4, 6), np.int16)
    assert from_array(x) == dml.BufferTensorDesc(TYPES.INT16, (4, 6))
    assert from_array(x[:, 1:3]) == dml.BufferTensorDesc(TYPES.INT16, (4, 2), (6, 1))
    assert from_array(np.broadcast_to(x[0], (3, 6))).strides == (0, 1)
    with pytest.raises(
        ValueError, match=r"^array: must have strides of at least 0, got \(-12, 2\)$"
    ):
        from_array(x[::-1])
    with pytest.raises(
        ValueError, match=r"^array: must have strides of whole elements, got \(3,\)$"
    ):
        from_array(np.zeros(3, [("a", "i2"), ("b", "i1")])["a"])
    for dtype in (bool, np.complex64, ">f4", ml_dtypes.int4, ml_dtypes.bfloat16):
        with pytest.raises(TypeError, match="^array: must be of a dtype that DirectML has, got "):
            from_array(np.zeros(3, dtype))
    with pytest.raises(TypeError, match="^array: must be a numpy.ndarray, got list$"):
        from_array([1, 2])
    with pytest.raises(ValueError, match="^array: must have 1 to 8 dimensions, got 0$"):
        from_array(np.array(1.0))
    with pytest.raises(ValueError, match=r"^array: must not be empty, got shape \(2, 0\)$"):
        from_array(np.zeros((2, 0)))
    odd = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1, 2), (3, 4))
    assert from_array(odd).sizes == (1, 2)


def test_descriptors_do_not_change():
    sizes, axes = [3, 4], [1]
    desc = change(ARG, input_tensor=dict(sizes=sizes), axes=axes)
    sizes[0], axes[0] = 5, 0
    assert desc == ARG
    assert hash(desc) == hash(ARG)
    assert dml.BufferTensorDesc(TYPES.INT8, (s for s in (2, 3))).sizes == (2, 3)


CALLS = [
    (ARG, (), TypeError, "inputs: must be 1, got 0"),
    (GATHER, (np.zeros(60, np.float32),), TypeError, "inputs: must be 2, got 1"),
    (ARG, (np.zeros((3, 4)),), TypeError, "input_tensor: must be of dtype float32, got float64"),
    (ARG, (None,), TypeError, "input_tensor: must be an array or convertible to one, got None"),
    (ARG, (np.zeros((4, 3), np.float32),), ValueError, "input_tensor: must have the tensor's sizes (3, 4), or be 1-D and contiguous, got (4, 3)"),
    (ARG, (np.zeros((4, 3), np.float32).T,), ValueError, "input_tensor: must have the tensor's strides, in elements, (4, 1), or be 1-D and contiguous, got (1, 3)"),
    (ARG, (np.zeros(24, np.float32)[::2],), ValueError, "input_tensor: must have the tensor's sizes (3, 4), or be 1-D and contiguous, got (12,)"),
    (ARG, (np.zeros(11, np.float32),), ValueError, "input_tensor: must have the 48 bytes up to its last element, got 44"),
    (ARG, (np.zeros(49, np.uint8)[1:].view(np.float32),), ValueError, "input_tensor: must be aligned to its elements of 4 bytes, got an unaligned array (copy() aligns it)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desc", "inputs", "error", "text"), CALLS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_wrong_calls(desc, inputs, error, text):
    with pytest.raises(error) as caught:
        dml.compile(desc)(*inputs)
    assert str(caught.value) == text


def test_wrong_outputs():
    x = np.zeros((3, 4), np.float32)
    arg = dml.compile(ARG)
    with pytest.raises(TypeError, match="^output_tensor: must be of dtype uint32, got int64$"):
        arg(x, out=np.zeros((3, 1), np.int64))
    with pytest.raises(TypeError, match="^output_tensor: must be an array, or share .*, got list$"):
        arg(x, out=[0, 0, 0])
    with pytest.raises(
        ValueError, match=r"^output_tensor: must have the tensor's sizes \(3, 1\), "
    ):
        arg(x, out=np.zeros((1, 3), np.uint32))
    with pytest.raises(
        ValueError, match="^output_tensor: must have the 12 bytes up to its last element, got 8$"
    ):
        arg(x, out=np.zeros(2, np.uint32))
    with pytest.raises(
        ValueError, match="^output_tensor: must not overlap input_tensor, got shared memory$"
    ):
        arg(x, out=x.view(np.uint32).reshape(-1))
    assert not x.any()
    top_k = dml.compile(TOP_K)
    with pytest.raises(
        TypeError,
        match=r"^out: must be a pair \(values, indices\) of arrays, got numpy.ndarray$",
    ):
        top_k(x, out=np.zeros((3, 2), np.float32))
    both = np.zeros((3, 2), np.float32)
    with pytest.raises(
        ValueError,
        match="^output_index_tensor: must not overlap output_value_tensor, got shared memory$",
    ):
        top_k(x, out=(both, both.view(np.uint32)))


FLOATS = {TYPES.FLOAT32, TYPES.FLOAT16}
EIGHT = FLOATS | {TYPES.INT32, TYPES.INT16, TYPES.INT8, TYPES.UINT32, TYPES.UINT16, TYPES.UINT8}
WIDE = {TYPES.INT64, TYPES.UINT64}
INDICES = {TYPES.UINT32, TYPES.INT32, TYPES.UINT64, TYPES.INT64}
ANY = range(1, 9)

# What each feature level added: operators, data types, index types, dimensions.
ADDED = {
    "1.0": [("REDUCE TOP_K", FLOATS, {TYPES.UINT32}, {4})],
    "2.1": [("REDUCE TOP_K TOP_K1 GATHER_ND", EIGHT, {TYPES.UINT32}, {4})],
    "3.0": [("ARGMIN ARGMAX REDUCE GATHER_ND GATHER_ND1", EIGHT, INDICES, ANY)],
    "3.1": [("TOP_K TOP_K1", EIGHT, {TYPES.UINT32}, ANY)],
    "4.1": [
        ("ARGMIN ARGMAX REDUCE", WIDE, INDICES, ANY),
        ("GATHER_ND GATHER_ND1", WIDE | {TYPES.FLOAT64}, INDICES, ANY),
    ],
    "5.0": [("TOP_K TOP_K1", EIGHT | WIDE, {TYPES.UINT32, TYPES.UINT64}, ANY)],
}


def smallest(operator, data_type, index_type, dimensions):
    data = dml.BufferTensorDesc(data_type, (1,) * dimensions)
    indices = dml.BufferTensorDesc(index_type, (1,) * dimensions)
    return {
        "ARGMIN": lambda: dml.ArgminOperatorDesc(data, indices, (0,)),
        "ARGMAX": lambda: dml.ArgmaxOperatorDesc(data, indices, (0,)),
        "REDUCE": lambda: dml.ReduceOperatorDesc(dml.ReduceFunction.ARGMIN, data, indices, (0,)),
        "TOP_K": lambda: dml.TopKOperatorDesc(data, data, indices, 0, 1),
        "TOP_K1": lambda: dml.TopK1OperatorDesc(data, data, indices, 0, 1),
        "GATHER_ND": lambda: dml.GatherNdOperatorDesc(data, indices, data, dimensions, 1),
        "GATHER_ND1": lambda: dml.GatherNd1OperatorDesc(data, indices, data, dimensions, 1, 0),
    }[operator]()  # fmt: skip


@pytest.mark.parametrize("operator", [o.name for o in dml.OperatorType])
def test_feature_levels_row_by_row(operator):
    allowed = set()
    for level in dml.FeatureLevel:
        for names, data_types, index_types, dimensions in ADDED.get(str(level), []):
            if operator in names.split():
                allowed |= set(product(data_types, index_types, dimensions))
        for row in product(list(TYPES)[1:12], INDICES | {TYPES.FLOAT32}, ANY):
            desc, caught = smallest(operator, *row), None
            try:
                dml.compile(desc, feature_level=level)
            except ValueError as error:
                caught = error
            assert (caught is None) == (row in allowed)
            if isinstance(caught, dml.FeatureLevelError):
                # It names this level, and the one that is enough.
                words = re.search(
                    r"at feature level (\S+), got .*, which needs (\S+)$", str(caught)
                )
                assert words[1] == str(level)
                assert words[2] == str(dml.feature_level_required(desc))
            elif caught is not None:
                assert ".data_type: must be " in str(caught)


def test_support_table_is_what_compiles():
    table = dml.support_table()
    first = {}
    for level in dml.FeatureLevel:
        for names, data_types, index_types, dimensions in ADDED.get(str(level), []):
            for row in product(names.split(), data_types, index_types, dimensions):
                first.setdefault(row, level)
    assert {(r.operator_type.name, *r[1:4]): r.feature_level for r in table} == first
    lines = str(table).splitlines()
    assert len(lines) == 2 + 2 * 11 + 5 * 10
    top_k = next(line for line in lines if line.split()[:2] == ["TOP_K", "INT8"])
    assert top_k.split() == ["TOP_K", "INT8", "2.1", "5.0", "-", "-", "3.1", "5.0", "-", "-"]


def test_level_errors_name_the_rule():
    with pytest.raises(dml.FeatureLevelError) as caught:
        dml.compile(ARG, feature_level="2.1")
    assert str(caught.value) == (
        "operator_type: must be an operator at feature level 2.1, got ARGMIN, which needs 3.0"
    )
    with pytest.raises(dml.FeatureLevelError) as caught:
        dml.compile(TOP_K, feature_level=dml.FeatureLevel.LEVEL_3_0)
    assert str(caught.value) == (
        "input_tensor.dimension_count: must be 4 at feature level 3.0, got 2, which needs 3.1"
    )
    wide = change(ARG, input_tensor=dict(data_type=TYPES.INT64))
    with pytest.raises(dml.FeatureLevelError) as caught:
        dml.compile(wide, feature_level="2.1")
    assert str(caught.value) == (
        "operator_type: must be an operator at feature level 2.1, got ARGMIN with tensors of later "
        "levels, which needs 4.1"
    )
    # Other rules come first: no level would do.
    with pytest.raises(ValueError, match="^axes") as caught:
        dml.compile(change(wide, axes=(9,)), feature_level="2.1")
    assert not isinstance(caught.value, dml.FeatureLevelError)
    with pytest.raises(dml.FeatureLevelError) as caught:
        dml.compile(wide, feature_level="3.1")
    assert str(caught.value) == (
        "input_tensor.data_type: must be FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16 or "
        "INT8 at feature level 3.1, got INT64, which needs 4.1"
    )
