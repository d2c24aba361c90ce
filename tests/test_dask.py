"""dmlcpu.dask without a cluster: what is known when the graph is built, and what its tasks are."""

import itertools
import math

import numpy as np
import pytest
from numpy.exceptions import AxisError

pytest.importorskip("dask.array")

import dask
import dask.array as da
from dask.utils import key_split

import dmlcpu
import dmlcpu.dask

import reference
from dask_cases import Results, check_meta, check_result, random_case

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
CHUNKED = da.from_array(X, chunks=(1, 2, 3))
NAMES = ("argmin", "argmax", "top_k", "gather_nd")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def graph_of(array):
    """The tasks as a scheduler gets them."""
    return dict(dask.optimize(array)[0].__dask_graph__())


@pytest.mark.parametrize("seed", range(10))
def test_random_cases(seed):
    rng = np.random.default_rng(seed)
    cases = [random_case(rng) for _ in range(20)]
    for want, lazy in cases:
        check_meta(want, lazy)
    for (want, _), got in zip(cases, dask.compute([lazy for _, lazy in cases])[0]):
        check_result(want, got)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_ties_where_chunks_are_not_in_order(largest, direction, policy):
    """Over several chunked axes the indices of chunks interleave; beside the reference implementation."""
    rng = np.random.default_rng(0)
    for pool in ([0.0], [0.0, -0.0, 1.0], [0.0, np.nan], [np.nan, -np.inf, np.inf]):
        x = rng.choice(np.array(pool, np.float32), (4, 5, 6))
        for axes in ((0, 1), (1, 2), (0, 2), (0, 1, 2)):
            want = reference.arg(x, axes, largest=largest, direction=direction, nan_policy=policy)
            find = dmlcpu.dask.argmax if largest else dmlcpu.dask.argmin
            for split_every in (2, 100):
                got = find(
                    da.from_array(x, chunks=(2, 2, 4)), axes, axis_direction=direction,
                    nan_policy=policy, index_dtype=np.int64, split_every=split_every,
                )  # fmt: skip
                check_result(want, got.compute())


def check_in_memory(cases):
    """Calls of (name, array, chunks, options) beside those in memory, computed together."""
    calls = [
        (getattr(dmlcpu, name)(x, **options), getattr(dmlcpu.dask, name)(lazy, **options))
        for name, x, lazy, options in (
            (name, x, da.from_array(x, chunks=chunks), options)
            for name, x, chunks, options in cases
        )
    ]
    for (want, _), got in zip(calls, dask.compute([lazy for _, lazy in calls])[0]):
        check_result(want, got)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_nan_at_every_place(name, policy):
    """Once or twice, in the chunk of the best number or in another; along one axis, or several."""
    cases = []
    for places in itertools.combinations_with_replacement(range(4), 2):
        for direction in (0, 1):
            x = np.array([3, 0, 4, 1], np.float32)
            x[list(places)] = np.nan
            options = {"axis_direction": direction, "nan_policy": policy}
            cases.append((name, x, 2, options))
            cases.append((name, x.reshape(2, 2), 1, options))
    check_in_memory(cases)


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_the_best_at_every_place(direction):
    """Once, with others after it, where the indices of chunks interleave."""
    cases = []
    for place in range(6):
        for index_dtype in ("u4", "i4", "u8", "i8") if place == 0 else ("u4",):
            x = np.zeros((2, 3), np.int16)
            x.flat[place:] = place % 2
            x.flat[place] = 2
            options = {"axis_direction": direction, "index_dtype": index_dtype}
            cases += [("argmax", x, chunks, options) for chunks in (1, (1, 2), (2, 1))]
            cases += [("argmin", -x, chunks, options) for chunks in (1, (1, 2), (2, 1))]
    check_in_memory(cases)


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_top_k_of_ties_ascending_and_descending(direction):
    for x in (np.zeros(50), np.arange(50) // 7, -(np.arange(50) // 7), np.full(50, np.nan)):
        for k in (1, 7, 20, 50):
            want = reference.top_k(x, k, direction=direction)
            found = dmlcpu.dask.top_k(
                da.from_array(x, chunks=6), k, axis_direction=direction, index_dtype=np.int64
            )
            for one, got in zip(want, dask.compute(*found)):
                check_result(one, got)


def test_what_is_no_dask_array_is_one_in_memory():
    check_result(dmlcpu.argmax([3, 5, 4]), dmlcpu.dask.argmax([3, 5, 4]).compute())
    check_result(dmlcpu.argmax(X, 1), dmlcpu.dask.argmax(X, axis=iter([1])).compute())
    check_result(np.int64(7), dmlcpu.dask.gather_nd([[5, 7]], [0, 1]).compute())


def test_indices_of_more_than_32_bits():
    """The index counts over the whole tensor, whose elements are one in memory."""
    big = da.from_array(np.broadcast_to(np.uint8(0), (2**17, 2**16)), chunks=(2**16, 2**16))
    last = dict(axis_direction="decreasing", index_dtype=np.uint64, keepdims=False)
    assert dmlcpu.dask.argmax(big, **last).compute() == 2**33 - 1
    with pytest.raises(ValueError) as wanted:
        dmlcpu.argmax(np.broadcast_to(np.uint8(0), big.shape))
    with pytest.raises(ValueError) as caught:
        dmlcpu.dask.argmax(big)
    assert str(caught.value) == str(wanted.value)


FEW = np.zeros((2, 3, 4), np.float32)
NONE = np.zeros((2, 0, 4), np.float32)
WRONG = [
    ("argmax", FEW, dict(axis=3)),
    ("argmax", FEW, dict(axis=(0, -4))),
    ("argmin", FEW, dict(axis=(0, 0))),
    ("argmin", FEW, dict(axis=1.0)),
    ("argmin", FEW, dict(axis="0")),
    ("argmax", FEW, dict(axis=True)),
    ("argmax", FEW, dict(keepdims=1)),
    ("argmax", FEW, dict(axis_direction=2)),
    ("argmax", FEW, dict(axis_direction="up")),
    ("argmax", FEW, dict(nan_policy="raise")),
    ("argmax", FEW, dict(index_dtype=np.float16)),
    ("argmax", np.zeros(3, complex), {}),
    ("argmax", np.zeros(3, object), {}),
    ("argmax", np.zeros((1,) * 9), {}),
    ("argmax", NONE, {}),
    ("argmax", NONE, dict(axis=1)),
    ("top_k", FEW, dict(k=0)),
    ("top_k", FEW, dict(k=5)),
    ("top_k", FEW[0, 0], dict(k=5)),
    ("top_k", FEW, dict(k=1.0)),
    ("top_k", FEW, dict(k=1, axis=3)),
    ("top_k", FEW, dict(k=1, axis=(0,))),
    ("top_k", FEW, dict(k=1, index_dtype="i1")),
    ("top_k", NONE, dict(k=1, axis=1)),
    ("top_k", NONE[0, :, 0], dict(k=1)),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 4), int))),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 0), int))),
    ("gather_nd", FEW, dict(indices=[])),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1)))),
    ("gather_nd", FEW, dict(indices=np.int64(0))),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1), int), batch_dims=2)),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1), int), batch_dims=-1)),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1), int), batch_dims="0")),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1), int), batch_dims=np.array([1]))),
    ("gather_nd", FEW, dict(indices=np.zeros((3, 2, 1), int), batch_dims=1)),
    ("gather_nd", FEW, dict(indices=np.zeros((2, 1), int), mode="wrap")),
    ("gather_nd", NONE, dict(indices=np.zeros((2, 2), int), mode="clip")),
    ("gather_nd", FEW[0, 0, 0], dict(indices=[[0]])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "options"), WRONG)
def test_errors_when_called_are_the_cores(name, x, options):
    with pytest.raises(Exception) as wanted:
        getattr(dmlcpu, name)(x, **options)
    with pytest.raises(type(wanted.value)) as caught:
        getattr(dmlcpu.dask, name)(da.from_array(x, chunks=1), **options)
    assert str(caught.value) == str(wanted.value)
    assert type(caught.value) is type(wanted.value) in (TypeError, ValueError, AxisError)
    if isinstance(options.get("indices"), np.ndarray) and options["indices"].ndim:
        options = options | {"indices": da.from_array(options["indices"], chunks=1)}
        with pytest.raises(type(wanted.value)) as caught:
            getattr(dmlcpu.dask, name)(x, **options)
        assert str(caught.value) == str(wanted.value)


UNKNOWN = CHUNKED[CHUNKED[:, 0, 0] >= 0]
FIND = "(compute_chunk_sizes() finds them)"
KIND = "must be a dask.array.Array or an array in memory"
OWN = [
    (dict(input=UNKNOWN), ValueError, f"input: must have known chunk sizes, got nan along axis 0 {FIND}"),
    (dict(input=dask.delayed(X)), TypeError, f"input: {KIND}, got DelayedLeaf"),
    (dict(input=CHUNKED, threads=0), ValueError, "threads: must be in [1, 4096], got 0"),
    (dict(input=CHUNKED, threads="1"), TypeError, "threads: must be an int, got str"),
    (dict(input=CHUNKED, split_every=1), ValueError, "split_every: must be at least 2, got 1"),
    (dict(input=[1], split_every=np.ones(1)), TypeError,
     "split_every: must be None or an int, got ndarray"),
    (dict(input=CHUNKED, split_every={0: 2}), TypeError, "split_every: must be None or an int, got dict"),
]  # fmt: skip
ARGUMENTS = {"top_k": {"k": 1}, "gather_nd": {"indices": [[0]]}}


@pytest.mark.parametrize(("options", "error", "text"), OWN)
@pytest.mark.parametrize("name", NAMES)
def test_errors_of_its_own(name, options, error, text):
    with pytest.raises(error) as caught:
        getattr(dmlcpu.dask, name)(**options, **ARGUMENTS.get(name, {}))
    assert str(caught.value) == text


def test_errors_about_indices():
    unknown = da.from_array(np.array([[0], [1]]), chunks=1)
    unknown = unknown[unknown[:, 0] >= 0]
    with pytest.raises(ValueError) as caught:
        dmlcpu.dask.gather_nd(CHUNKED, unknown)
    assert str(caught.value) == f"indices: must have known chunk sizes, got nan along axis 0 {FIND}"


def test_blocks_that_are_no_arrays_of_numpy():
    class Other(np.lib.mixins.NDArrayOperatorsMixin):
        pass

    array = CHUNKED.copy()
    array._meta = Other()
    with pytest.raises(
        TypeError, match=r"^input: must be a Dask array of NumPy arrays, got one of .*\.Other$"
    ):
        dmlcpu.dask.argmax(array)


def test_indices_into_an_empty_axis():
    x = da.from_array(NONE, chunks=1)
    with pytest.raises(IndexError) as wanted:
        dmlcpu.gather_nd(NONE, [[0, 0]])
    lazy = dmlcpu.dask.gather_nd(x, [[0, 0]])
    with pytest.raises(IndexError) as caught:
        lazy.compute()
    assert str(caught.value) == str(wanted.value)
    check_result(
        dmlcpu.gather_nd(NONE, np.zeros((0, 2), int)),
        dmlcpu.dask.gather_nd(x, np.zeros((0, 2), int)).compute(),
    )


def calls(x=CHUNKED):
    at = np.array([[0, 2], [1, -1]])
    return {
        "dmlcpu-argmin": dmlcpu.dask.argmin(x, 1),
        "dmlcpu-argmax": dmlcpu.dask.argmax(x),
        "dmlcpu-topk": dmlcpu.dask.top_k(x, 2)[1],
        "dmlcpu-gathernd": dmlcpu.dask.gather_nd(x, at),
        "dmlcpu-gathernd-route": dmlcpu.dask.gather_nd(x, da.from_array(at, chunks=1)),
    }


def test_progress_bars_show_the_operators():
    for name, array in calls().items():
        kinds = {key_split(key) for key in graph_of(array)}
        assert name in kinds
        assert key_split(array.name).startswith(name.removesuffix("-route"))


def test_equal_calls_have_equal_names():
    again = calls(da.from_array(X, chunks=(1, 2, 3)))
    assert [array.name for array in calls().values()] == [array.name for array in again.values()]
    base = dmlcpu.dask.argmax(CHUNKED, 0)
    assert dmlcpu.dask.argmax(CHUNKED, (-3,), axis_direction="Increasing").name == base.name
    assert dmlcpu.dask.argmax(CHUNKED, 0, index_dtype="u4", axis_direction=0).name == base.name
    for options in (
        dict(axis_direction=1),
        dict(nan_policy="omit"),
        dict(index_dtype="i8"),
        dict(threads=2),
    ):
        assert dmlcpu.dask.argmax(CHUNKED, 0, **options).name != base.name
    values, indices = dmlcpu.dask.top_k(CHUNKED, 2)
    assert values.name != indices.name


def test_values_and_indices_share_their_tasks():
    values, indices = dmlcpu.dask.top_k(CHUNKED, 2)
    results = Results()
    with results:
        dask.compute(values, indices)
    blocks = math.prod(CHUNKED.numblocks)
    assert len(results.by_kind["dmlcpu-topk"]) == blocks
    assert len(results.by_kind["dmlcpu-topk-aggregate"]) == 2 * blocks // CHUNKED.numblocks[-1]


def test_building_computes_nothing():
    def fail(block):
        raise AssertionError

    for array in calls(CHUNKED.map_blocks(fail, meta=np.empty((0, 0, 0), np.float32))).values():
        with pytest.raises(AssertionError):
            array.compute()


@pytest.mark.parametrize("split_every", [2, 3, 16])
def test_trees_have_bounded_fan_in(split_every):
    x = da.zeros(300, chunks=1)
    at = np.arange(300)[:, None]
    options = {"split_every": split_every}
    for array in (
        dmlcpu.dask.argmax(x, **options),
        dmlcpu.dask.top_k(x, 1, **options)[0],
        dmlcpu.dask.gather_nd(x, at, **options),
    ):
        assert max(len(task.dependencies) for task in graph_of(array).values()) == split_every
    assert max(len(t.dependencies) for t in graph_of(dmlcpu.dask.argmax(x)).values()) == 16
    with dask.config.set(split_every=5):
        assert max(len(t.dependencies) for t in graph_of(dmlcpu.dask.argmax(x)).values()) == 5


def test_top_k_passes_on_k_elements_of_a_chunk():
    x = np.random.default_rng(0).random((3, 1000))
    results = Results()
    with results:
        dmlcpu.dask.top_k(da.from_array(x, chunks=(3, 100)), 7, split_every=4).values.compute()
    assert {values.shape for values, _ in results.by_kind["dmlcpu-topk"]} == {(3, 7)}
    assert {values.shape for values, _ in results.by_kind["dmlcpu-topk-partial"]} == {(3, 7)}


def test_graphs_of_many_chunks_are_small():
    x = da.zeros((1000, 1000), chunks=10, dtype=np.float32)
    assert math.prod(x.numblocks) == 10000
    at = np.random.default_rng(0).integers(0, 1000, (100, 2))
    lazy = da.from_array(at, chunks=(100, 2))
    for array, tasks in (
        (dmlcpu.dask.argmax(x), 10000 * 1.1),
        (dmlcpu.dask.argmin(x, 0), 10000 * 1.1),
        (dmlcpu.dask.top_k(x, 5, axis=0)[0], 10000 * 1.1),
        (dmlcpu.dask.gather_nd(x, at), 100 * 3),
        (dmlcpu.dask.gather_nd(x, lazy), 10000 * 3.1),
    ):
        assert len(graph_of(array)) <= tasks


@pytest.mark.parametrize("name", NAMES)
def test_threads_of_a_task(name, monkeypatch):
    seen = []
    own = getattr(dmlcpu, name)

    def spy(*args, **kwargs):
        seen.append(dmlcpu.get_num_threads())
        return own(*args, **kwargs)

    for threads, want in ((None, 5), (1, 1), (3, 3)):
        array = getattr(dmlcpu.dask, name)(CHUNKED, **ARGUMENTS.get(name, {}), threads=threads)
        with monkeypatch.context() as patch, dmlcpu.num_threads(5):
            patch.setattr(dmlcpu, name, spy)
            seen.clear()
            dask.compute(array)
        assert set(seen) == {want}


def unaligned(block):
    """As another worker sends it."""
    return (
        np.frombuffer(b"x" + block.tobytes(), np.uint8)[1:].view(block.dtype).reshape(block.shape)
    )


@pytest.mark.parametrize("chunks", [(2, 3), (4, 6)])
@pytest.mark.parametrize("layout", [unaligned, np.asfortranarray])
def test_blocks_of_any_layout(layout, chunks):
    x = np.arange(4 * 6).reshape(4, 6) % 17
    blocks = da.from_array(x, chunks=chunks).map_blocks(layout, dtype=x.dtype)
    at = np.array([[1, 2], [3, 5]])
    lazy = da.from_array(at, chunks=1).map_blocks(layout, dtype=at.dtype)
    for got, want in (
        (dmlcpu.dask.argmax(blocks, 1), dmlcpu.argmax(x, 1)),
        (dmlcpu.dask.argmin(blocks), dmlcpu.argmin(x)),
        (dmlcpu.dask.top_k(blocks, 2)[0], dmlcpu.top_k(x, 2)[0]),
        (dmlcpu.dask.gather_nd(blocks, at), dmlcpu.gather_nd(x, at)),
        (dmlcpu.dask.gather_nd(blocks, lazy), dmlcpu.gather_nd(x, at)),
        (dmlcpu.dask.gather_nd(blocks, at[:, :1]), dmlcpu.gather_nd(x, at[:, :1])),
    ):
        check_result(want, got.compute())
