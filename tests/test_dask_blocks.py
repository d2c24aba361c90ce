"""dmlcpu.dask: what blocks may be, and the layers that have a task for each of them."""

import pickle
import sys

import numpy as np
import pytest

pytest.importorskip("dask.array")

import dask
import dask.array as da
from dask.graph_manipulation import clone

import dmlcpu
import dmlcpu.dask

from dask_cases import check_result


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def calls_of(function):
    """How many functions, Python's and C's, are called."""
    count = 0

    def on_event(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def tasks_of(array):
    return dict(array.__dask_graph__())


SEARCHES = {
    "argmin": lambda x, axis: dmlcpu.dask.argmin(x, axis),
    "argmax": lambda x, axis: dmlcpu.dask.argmax(x, axis),
    "top_k": lambda x, axis: dmlcpu.dask.top_k(x, 1, axis=axis).values,
}


def optimised_tasks_of(array):
    return tasks_of(dask.optimize(array)[0])


@pytest.mark.parametrize("made", [tasks_of, optimised_tasks_of])
@pytest.mark.parametrize("axis", [0, 1])
def test_graphs_take_as_few_calls_as_dasks_own_argmax(axis, made):
    """Along an axis that chunks split, and along another; as many for each chunk, however many. Old
    releases of Dask make a task in more calls."""
    few, many = (da.from_array(np.zeros((n, 4), np.float32), chunks=(1, 4)) for n in (100, 400))
    own = calls_of(lambda: made(da.argmax(many, axis)))
    for name, call in SEARCHES.items():
        made(call(few, axis))  # what is imported and cached
        of_few, of_many = (calls_of(lambda: made(call(x, axis))) for x in (few, many))  # noqa: B023
        assert of_many <= min(own * 1.5, of_few * 4.4), name


@pytest.mark.parametrize("made", [tasks_of, optimised_tasks_of])
@pytest.mark.parametrize("lazy", [False, True])
def test_graphs_of_gathers_take_as_few_calls_as_dasks_own(lazy, made):
    x = da.from_array(np.zeros((300, 4), np.float32), chunks=(1, 4))
    at = np.random.default_rng(0).permutation(300)
    at = da.from_array(at, chunks=300) if lazy else at
    own = calls_of(lambda: made(x[at]))
    assert calls_of(lambda: made(dmlcpu.dask.gather_nd(x, at[:, None]))) <= own * 1.1


def as_made(array):
    """Computed without what Dask does to a graph before."""
    finish, options = array.__dask_postcompute__()
    return finish(dask.get(tasks_of(array), array.__dask_keys__()), *options)


def through_pickle(array):
    return da.Array(
        pickle.loads(pickle.dumps(array.dask)), array.name, array.chunks, meta=array._meta
    )


ROADS = {
    "as made": as_made,
    "optimised": lambda array: array.compute(),
    "pickled": lambda array: through_pickle(array).compute(),
    "made, then pickled": lambda array: (tasks_of(array), through_pickle(array).compute())[1],
}


@pytest.mark.parametrize("source", ["in memory", "fused"])
@pytest.mark.parametrize("road", ROADS)
def test_layers_on_each_road_to_the_result(road, source):
    """Also some of the blocks alone, whose layers Dask culls."""
    x = np.random.default_rng(0).permutation(240).reshape(4, 6, 10)
    lazy = da.from_array(x, chunks=(2, 2, 10))
    lazy = lazy if source == "in memory" else (lazy + 1) - 1
    at = np.array([[3, 1], [0, 5], [2, 2]])
    whole = dmlcpu.dask.gather_nd(da.from_array(x, chunks=(4, 6, 2)), da.from_array(at, chunks=2))
    for want, array in (
        (dmlcpu.argmax(x, (0, 1)), dmlcpu.dask.argmax(lazy, (0, 1))),
        (dmlcpu.argmin(x, 2), dmlcpu.dask.argmin(lazy, 2)),
        (dmlcpu.argmin(x, 2, keepdims=False), dmlcpu.dask.argmin(lazy, 2, keepdims=False)),
        (dmlcpu.top_k(x, 3, axis=1)[1], dmlcpu.dask.top_k(lazy, 3, axis=1)[1]),
        (dmlcpu.top_k(x, 3).values, dmlcpu.dask.top_k(lazy, 3).values),
        (dmlcpu.gather_nd(x, at), whole),
    ):
        check_result(want, ROADS[road](array))
        check_result(want[1:2], ROADS[road](array[1:2]))
        check_result(want[..., -1:], ROADS[road](array[..., -1:]))


def test_clones():
    x = np.random.default_rng(0).permutation(60).reshape(6, 10)
    lazy = da.from_array(x, chunks=(2, 5))
    check_result(dmlcpu.argmax(x, 1), clone(dmlcpu.dask.argmax(lazy, 1)).compute())
    check_result(dmlcpu.top_k(x, 2)[0], clone(dmlcpu.dask.top_k(lazy, 2)[0]).compute())


def masked(values, nulls):
    return np.ma.masked_array(values, mask=nulls)


def pandas_array(values, nulls):
    pandas = pytest.importorskip("pandas")
    return pandas.arrays.IntegerArray(values.copy(), nulls)


def pandas_series(values, nulls):
    return pytest.importorskip("pandas").Series(pandas_array(values, nulls))


def pyarrow_array(values, nulls):
    return pytest.importorskip("pyarrow").array(values, mask=nulls)


def polars_series(values, nulls):
    items = [None if null else int(value) for value, null in zip(values, nulls)]
    return pytest.importorskip("polars").Series(items)


KINDS = [masked, pandas_array, pandas_series, pyarrow_array, polars_series]


def calls_on(x, tuple):
    """`x` has 6 elements, and `tuple` one, an index."""
    at = np.array([[1], [5]])
    return {
        "argmin": dmlcpu.dask.argmin(x, axis_direction="decreasing"),
        "argmax": dmlcpu.dask.argmax(x),
        "top_k": dmlcpu.dask.top_k(x, 2).values,
        "gather_nd": dmlcpu.dask.gather_nd(x, at),
        "gather_nd, lazy": dmlcpu.dask.gather_nd(x, da.from_array(at, chunks=1)),
        "indices": dmlcpu.dask.gather_nd(da.arange(6, chunks=6), tuple),
        "indices, routed": dmlcpu.dask.gather_nd(da.arange(6, chunks=2), tuple),
    }


@pytest.mark.parametrize("chunks", [3, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_with_nulls(kind, chunks):
    """Dask believes what it is told of the blocks' type; without nulls they are read as they are."""
    arrays = [da.from_array(np.array(x), chunks=chunks) for x in ([3, 1, 4, 1, 5, 0], [3])]

    def calls(null):
        def made(block):
            return kind(block, np.arange(len(block)) == null)

        return calls_on(*(x.map_blocks(made, meta=np.empty(0, x.dtype)) for x in arrays))

    for want, got in zip(calls_on(*arrays).values(), calls(None).values()):
        check_result(want.compute(), got.compute())
    for name, array in calls(0).items():
        argument = "indices" if "indices" in name else "input"
        with pytest.raises(TypeError, match=f"^{argument}: must have no nulls, got 1 in "):
            array.compute()


def test_blocks_of_objects():
    blocks = da.from_array(np.arange(6), chunks=3)
    objects = blocks.map_blocks(lambda block: block.astype(object), meta=np.empty(0, np.int64))
    for name, array in calls_on(objects, objects[:1]).items():
        argument = "indices" if "indices" in name else "input"
        with pytest.raises(TypeError, match=f"^{argument}: must be .*, got object$"):
            array.compute()


@pytest.mark.parametrize("chunks", [(1, 5), (2, 2), (6, 1)])
def test_split_every_of_any_size(chunks):
    x = np.random.default_rng(0).permutation(30).reshape(6, 5)
    lazy = da.from_array(x, chunks=chunks)
    at = np.argwhere(x % 3 == 0)
    for split_every in (2, 3, 29, 30, 10**6, 2**31, 2**63, 10**30, 10**400, np.uint64(2**64 - 1)):
        options = {"split_every": split_every}
        check_result(dmlcpu.argmax(x), dmlcpu.dask.argmax(lazy, **options).compute())
        check_result(dmlcpu.argmin(x, 0), dmlcpu.dask.argmin(lazy, 0, **options).compute())
        check_result(
            dmlcpu.top_k(x, 3, axis=0)[1],
            dmlcpu.dask.top_k(lazy, 3, axis=0, **options)[1].compute(),
        )
        check_result(dmlcpu.gather_nd(x, at), dmlcpu.dask.gather_nd(lazy, at, **options).compute())
    with dask.config.set(split_every=10**30):
        check_result(dmlcpu.argmax(x), dmlcpu.dask.argmax(lazy).compute())
    for options in ({"split_every": np.int64(1)}, {"split_every": 0}, {"split_every": -(10**30)}):
        for call in (dmlcpu.dask.argmin, dmlcpu.dask.argmax):
            with pytest.raises(ValueError, match="^split_every: must be at least 2, got "):
                call(lazy, **options)
    for wrong in (2.0, "2", True, [2], {0: 2}):
        with pytest.raises(TypeError, match="^split_every: must be None or an int, got "):
            dmlcpu.dask.argmax(lazy, split_every=wrong)


def test_blocks_of_another_type_than_was_said():
    """NaN decides, though Dask was told of integers."""
    blocks = [np.array([3, np.nan]), np.array([1.0, 2.0])]
    x = da.concatenate([da.from_delayed(dask.delayed(b), (2,), "i8") for b in blocks])
    assert dmlcpu.dask.argmin(x).compute() == dmlcpu.argmin(x.compute()) == 1


def test_blocks_that_are_lists():
    """Dask takes them for lists of blocks."""
    x = da.from_delayed(dask.delayed([[1, 5, 7, 2]]), (1, 4), "i8")
    with pytest.raises(TypeError, match="^input: must have blocks that are arrays, got lists$"):
        dmlcpu.dask.argmax(x, 1).compute()
