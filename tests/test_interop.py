"""Arrays of other libraries: read in their own element type, nulls refused, memory shared.

Each library is skipped where it is missing; the extra `interop` installs them all.
"""

import re

import ml_dtypes
import numpy as np
import pytest

import dmlcpu

BIG = 2**53 + 1  # the least integer that float64 does not hold


def load(name):
    return pytest.importorskip(name, exc_type=ImportError)


def refused(obj, text, name="input"):
    """The error is of the right type and text, as an input and inside of lists and tuples."""
    for wrapped in (obj, [obj], (obj, obj), [[obj]], [np.zeros(2), [obj]]):
        with pytest.raises(TypeError, match=f"^{name}: {re.escape(text)}$"):
            dmlcpu.argmax(wrapped)


def check(obj, want):
    """The elements are `want`, of that dtype, by itself and in a list."""
    want = np.asarray(want)
    if want.ndim:
        got = dmlcpu.top_k(obj, 1, axis=0).values
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got[0], want.max(0))
    for shape, wrapped in [((), obj), ((1,), [obj]), ((1, 2), [(obj, obj)])]:
        axes = tuple(range(len(shape), len(shape) + want.ndim))
        got = dmlcpu.argmax(wrapped, axes, keepdims=False)
        np.testing.assert_array_equal(got, np.full(shape, want.argmax()))
        nested = dmlcpu.top_k(wrapped, 1).values
        assert nested.dtype == want.dtype


def shares(obj, memory):
    """Whether dmlcpu reads `obj` where NumPy finds `memory`: seen by the refusal to write there."""
    out = memory.view()
    if not out.flags.writeable:  # only dmlcpu's look at the addresses matters, nothing is written
        address = memory.__array_interface__["data"][0]
        interface = {"data": (address, False), "shape": memory.shape, "version": 3}
        interface |= {"typestr": memory.dtype.str, "strides": memory.strides}
        out = np.asarray(type("Memory", (), {"__array_interface__": interface})())
    with pytest.raises(ValueError, match="^out: must not overlap input, got shared memory$"):
        dmlcpu.gather_nd(obj, np.arange(len(out))[:, None], out=out)
    return True


PANDAS = "fillna() fills and dropna() drops them"
PYARROW = "fill_null() fills and drop_null() drops them"
POLARS = "fill_null() fills and drop_nulls() drops them"


@pytest.mark.parametrize(
    ("dtype", "want"),
    [
        ("Int64", "int64"), ("UInt8", "uint8"), ("boolean", "bool"), ("Float32", "float32"),
        ("int64", "int64"), ("float16", "float16"), ("category", "int64"),
        ("int64[pyarrow]", "int64"), ("uint8[pyarrow]", "uint8"), ("bool[pyarrow]", "bool"),
        ("float[pyarrow]", "float32"),
    ],
)  # fmt: skip
def test_pandas(dtype, want):
    pandas = load("pandas")
    if "pyarrow" in dtype:
        load("pyarrow")
    values = np.array([0, 1, 1], want)
    series = pandas.Series(values).astype(dtype)
    check(series, values)
    check(series[::-1], values[::-1])
    check(series.array, values)
    if want != "float16":  # pandas has no index of it
        check(pandas.Index(series), values)
    frame = pandas.DataFrame({"a": series, "b": series[::-1].array})
    check(frame, np.stack([values, values[::-1]], 1))


@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt8", "boolean", "Float32", "Float64", "category"]
    + [f"{name}[pyarrow]" for name in ("int64", "double", "bool")],
)  # fmt: skip
def test_pandas_nulls(dtype):
    pandas = load("pandas")
    if "pyarrow" in dtype:
        load("pyarrow")
    series = pandas.Series([1, None, 0, None], dtype=dtype)
    refused(series, f"must have no nulls, got 2 in pandas.Series ({PANDAS})")
    kind = type(series.array).__name__
    refused(series.array, f"must have no nulls, got 2 in pandas.{kind} ({PANDAS})")
    frame = pandas.DataFrame({"a": [1.0, 2, 3, 4], "b": series, "c": series})
    refused(frame, f"must have no nulls, got 4 in pandas.DataFrame ({PANDAS})")
    assert dmlcpu.argmax(series[2:3]) == 0  # without its nulls


def test_pandas_integers_stay_exact():
    pandas = load("pandas")
    series = pandas.Series([BIG - 1, BIG, None], dtype="Int64")
    assert dmlcpu.argmax(series.dropna()) == 1
    assert dmlcpu.top_k([series.dropna()], 1).values.tolist() == [[BIG]]
    with pytest.raises(TypeError, match="^input: must have no nulls, got 1 in pandas.Series"):
        dmlcpu.argmax(series, nan_policy="omit")
    indices = pandas.array([0, None], dtype="Int64")
    with pytest.raises(TypeError, match="^indices: must have no nulls, got 1 in pandas.Integer"):
        dmlcpu.gather_nd([1, 2], indices)


def test_pandas_memory_is_shared():
    pandas = load("pandas")
    x = np.arange(4)
    array = pandas.arrays.IntegerArray(x, np.zeros(4, bool))
    assert shares(array, x)
    assert shares(pandas.Series(array, copy=False), x)
    assert shares(pandas.Series(x, copy=False), x)
    arrow = load("pyarrow").array(x)
    assert shares(pandas.Series(pandas.arrays.ArrowExtensionArray(arrow)), arrow.to_numpy())


def test_pandas_nan_is_no_null():
    pandas = load("pandas")
    check_nan = [
        pandas.Series([1.0, np.nan]), pandas.Index([1.0, np.nan]),
        pandas.DataFrame({"a": [1.0, np.nan]}), pandas.arrays.SparseArray([1.0, np.nan]),
        pandas.Series([1.0, np.nan]).array,
    ]  # fmt: skip
    for obj in check_nan:
        assert dmlcpu.argmax(obj) == 1
        assert dmlcpu.argmax(obj, nan_policy="omit") == 0


def test_pandas_na_in_lists():
    pandas = load("pandas")
    text = "must have no nulls, got <NA> (replace it or leave it out)"
    for x in ([1, pandas.NA], [[1, 2], (3, pandas.NA)]):
        with pytest.raises(TypeError, match=f"^input: {re.escape(text)}$"):
            dmlcpu.argmax(x)
    with pytest.raises(TypeError, match="^input: must have no nulls, got <NA>"):
        dmlcpu.argmax(pandas.NA)


def test_pandas_what_cannot_be_read():
    pandas = load("pandas")
    text = r"got Series \(NumPy reads it as objects, of type NoneType, int\)$"
    with pytest.raises(TypeError, match="^input: must be an array or convertible to one, " + text):
        dmlcpu.argmax(pandas.Series([1, None], dtype=object))
    with pytest.raises(TypeError, match=r"got MultiIndex \(NumPy reads it as objects, of type tu"):
        dmlcpu.argmax(pandas.MultiIndex.from_tuples([(1, 2)]))


@pytest.mark.parametrize("name", ["int64", "uint8", "int8", "bool_", "float32", "float16"])
def test_pyarrow(name):
    pa = load("pyarrow")
    values = np.array([0, 1, 1], name)
    array = pa.array(values)
    check(array, values)
    check(array[1:], values[1:])
    check(pa.chunked_array([array]), values)
    check(pa.chunked_array([array[:1], array[1:]]), values)
    if name != "float16":  # pyarrow has no dictionaries of it
        check(array.dictionary_encode(), values)
        check(pa.chunked_array([array.dictionary_encode()]), values)
    for table in (
        pa.table({"a": array, "b": array}),
        pa.RecordBatch.from_pydict({"a": array, "b": array}),
    ):
        check(table, np.stack([values, values], 1))
    check(array[1], values[1])
    check(list(array), values)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("int64", [1, None, 0]), ("float64", [1, None]), ("bool_", [True, None, False]),
        ("null", [None, None]),
    ],
)  # fmt: skip
def test_pyarrow_nulls(name, values):
    pa = load("pyarrow")
    array = pa.array(values, getattr(pa, name)())
    nulls = array.null_count
    kind = type(array).__name__
    refused(array, f"must have no nulls, got {nulls} in pyarrow.{kind} ({PYARROW})")
    chunked = pa.chunked_array([array[:1], array[1:]])
    refused(chunked, f"must have no nulls, got {nulls} in pyarrow.ChunkedArray ({PYARROW})")
    scalar = type(array[1]).__name__
    hint = "replace it or leave it out"
    refused(array[1], f"must have no nulls, got 1 in pyarrow.{scalar} ({hint})")
    columns = "drop_null() drops them, fill_null() of a column fills its own"
    for table in (pa.table({"a": array, "b": array}), pa.RecordBatch.from_pydict({"a": array})):
        kind = type(table).__name__
        nulls = table.num_columns * array.null_count
        refused(table, f"must have no nulls, got {nulls} in pyarrow.{kind} ({columns})")


def test_pyarrow_nulls_below():
    """Those of a dictionary, a run, and a tensor of an array count, though null_count is 0."""
    pa = load("pyarrow")
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array([5, None]))
    refused(words, f"must have no nulls, got 1 in pyarrow.DictionaryArray ({PYARROW})")
    with pytest.raises(TypeError, match="^input: must have no nulls, got 1 in pyarrow.Chunked"):
        dmlcpu.argmax(pa.chunked_array([words]))
    storage = pa.FixedSizeListArray.from_arrays(pa.array([1, None, 3, 4]), 2)
    rows = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [2]), storage)
    refused(rows, f"must have no nulls, got 1 in pyarrow.FixedShapeTensorArray ({PYARROW})")
    check(pa.FixedShapeTensorArray.from_numpy_ndarray(np.eye(2)), np.eye(2))
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], [7, None])
    for obj in (runs, pa.chunked_array([runs])):
        refused(
            obj, "must not be run-end encoded, got one (pyarrow.compute.run_end_decode() decodes)"
        )


def test_pyarrow_memory_is_shared():
    pa = load("pyarrow")
    array = pa.array(np.arange(4))
    assert shares(array, array.to_numpy())
    assert shares(array[1:3], array.to_numpy()[1:3])
    assert shares(pa.chunked_array([array]), array.to_numpy())
    tensor = np.arange(4)
    assert shares(pa.Tensor.from_numpy(tensor), tensor)
    rows = np.arange(6).reshape(3, 2)
    assert shares(pa.FixedShapeTensorArray.from_numpy_ndarray(rows), rows)


def test_pyarrow_nan_is_no_null():
    pa = load("pyarrow")
    assert dmlcpu.argmax(pa.array([1.0, np.nan])) == 1
    assert dmlcpu.argmax(pa.array([1.0, np.nan]), nan_policy="omit") == 0


def test_pyarrow_what_cannot_be_read():
    pa = load("pyarrow")
    text = r"got ListArray \(NumPy reads it as objects, of type ndarray\)$"
    with pytest.raises(TypeError, match="^input: must be an array or convertible to one, " + text):
        dmlcpu.argmax(pa.array([[1, 2], [3, 4]]))


@pytest.mark.parametrize("name", ["Int64", "UInt8", "Int8", "Boolean", "Float32"])
def test_polars(name):
    pl = load("polars")
    values = np.array([0, 1, 1], "bool" if name == "Boolean" else name.lower())
    series = pl.Series("a", values)
    assert series.dtype == getattr(pl, name)
    check(series, values)
    check(series[1:], values[1:])
    check(pl.concat([series[:1], series[1:]], rechunk=False), values)
    check(pl.DataFrame({"a": series, "b": series}), np.stack([values, values], 1))
    pair = pl.Series([[0, 1], [1, 1]], dtype=pl.Array(pl.Int8, 2))
    check(pair, np.array([[0, 1], [1, 1]], np.int8))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Int64", [1, None, 0, None]), ("Float64", [1, None, None]), ("Null", [None, None]),
        ("Boolean", [True, None, None]),
    ],
)  # fmt: skip
def test_polars_nulls(name, values):
    pl = load("polars")
    series = pl.Series("a", values, dtype=getattr(pl, name))
    refused(series, f"must have no nulls, got 2 in polars.Series ({POLARS})")
    frame = pl.DataFrame({"a": series, "b": series})
    refused(frame, f"must have no nulls, got 4 in polars.DataFrame ({POLARS})")


def test_polars_nulls_below():
    pl = load("polars")
    pairs = pl.Series([[1, None], [3, 4]], dtype=pl.Array(pl.Int64, 2))
    boxes = pl.Series([[[1, None]], [[3, 4]]], dtype=pl.Array(pl.Int64, (1, 2)))
    fields = pl.Series([{"a": 1, "b": None}, {"a": 2, "b": 3}])
    for series in (pairs, boxes, fields):
        refused(series, f"must have no nulls, got 1 in polars.Series ({POLARS})")


def test_polars_memory_is_shared():
    pl = load("polars")
    series = pl.Series(np.arange(4))
    assert shares(series, series.to_numpy())


def test_polars_nan_is_no_null():
    pl = load("polars")
    assert dmlcpu.argmax(pl.Series([1.0, np.nan])) == 1
    assert dmlcpu.argmax(pl.DataFrame({"a": [1.0, np.nan]}), nan_policy="omit") == 0


def test_polars_what_cannot_be_read():
    pl = load("polars")
    with pytest.raises(TypeError, match=r"got LazyFrame \(NumPy cannot read it\)$"):
        dmlcpu.argmax(pl.DataFrame({"a": [1]}).lazy())
    with pytest.raises(TypeError, match=r"got Series \(NumPy reads it as objects, of type ndarra"):
        dmlcpu.argmax(pl.Series([[1], [2]]))


@pytest.mark.parametrize(
    "name",
    ["float32", "float16", "float64", "bfloat16", "int8", "int64", "uint8", "uint16", "bool"],
)
def test_torch(name):
    torch = load("torch")
    values = torch.tensor([[0, 1, 1], [1, 0, 0]]).to(getattr(torch, name))
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else name
    want = np.array([[0, 1, 1], [1, 0, 0]]).astype(dtype)
    check(values, want)
    check(values.T, want.T)
    check(values[0, 1], want[0, 1])
    out = np.asarray(values.view(torch.uint16) if name == "bfloat16" else values).view(dtype)
    assert shares(values, out)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_torch_gradients(name):
    torch = load("torch")
    x = torch.tensor([1.0, 3.0], dtype=getattr(torch, name), requires_grad=True)
    refused(
        x, "must not require gradients, got a tensor that does (detach() gives one that does not)"
    )
    check(x.detach(), np.array([1, 3], ml_dtypes.bfloat16 if name == "bfloat16" else name))
    with torch.no_grad():
        assert dmlcpu.argmax(x * 2) == 1


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_torch_masked():
    masked_tensor = load("torch.masked").masked_tensor
    torch = load("torch")
    x, mask = torch.tensor([1, 3, 2]), torch.tensor([True, False, True])
    hint = "to_tensor() fills them"
    refused(
        masked_tensor(x, mask), f"must have no nulls, got 1 in torch.masked.MaskedTensor ({hint})"
    )
    check(masked_tensor(x, mask | True), np.array([1, 3, 2]))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int32", "uint8", "bool_"])
def test_jax(name):
    jnp = load("jax.numpy")
    values = jnp.array([[0, 1, 1], [1, 0, 0]], getattr(jnp, name))
    want = np.asarray(values)
    check(values, want)
    if name in ("float32", "int32"):
        assert shares(values, want)
