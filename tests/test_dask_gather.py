"""gather_nd of dmlcpu.dask without a cluster: its errors, its chunks and what its tasks get."""

import numpy as np
import pytest

pytest.importorskip("dask.array")

import dask
import dask.array as da

import dmlcpu
import dmlcpu.dask

from dask_cases import Results, check_result


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.parametrize("chunks", [(1, 2, 3), (2, 3, 4)])
@pytest.mark.parametrize("lazy", [False, True])
def test_indices_out_of_range_are_errors_when_computed(chunks, lazy):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = da.from_array(values, chunks=chunks)
    for bad, dtype in ((4, "i8"), (-5, "i8"), (2**64 - 1, "u8"), (4, "u4"), (-128, "i1")):
        indices = np.zeros((3, 5, 3), dtype)
        indices[2, 1, 2] = bad
        with pytest.raises(IndexError) as wanted:
            dmlcpu.gather_nd(values, indices)
        given = da.from_array(indices, chunks=2) if lazy else indices
        gathered = dmlcpu.dask.gather_nd(x, given)
        with pytest.raises(IndexError) as caught:
            gathered.compute()
        assert str(caught.value) == str(wanted.value)
        with dask.config.set({"array.chunk-size": "8B"}):  # a chunk of the result for two tuples
            gathered = dmlcpu.dask.gather_nd(x, given)
        check_result(dmlcpu.gather_nd(values, indices[:2]), gathered[:2].compute())
        with pytest.raises(IndexError) as caught:
            gathered.compute()
        assert str(caught.value) == str(wanted.value)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("chunks", [2, 7])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_clip_at_the_ends_of_every_index_type(dtype, chunks, lazy):
    """uint64 counts on where int64 has negative numbers, which count from the end."""
    x, ends = np.arange(7), np.iinfo(dtype)
    bits = [
        value for value in (2**7, 2**15, 2**31, 2**63 - 1, 2**63, 2**64 - 7) if value < ends.max
    ]
    values = [ends.min, -8, -7, -1, 0, 6, 7, *bits, ends.max - 1, ends.max]
    at = np.array([[value] for value in values if ends.min <= value], dtype)
    given = da.from_array(at, chunks=2) if lazy else at
    got = dmlcpu.dask.gather_nd(da.from_array(x, chunks=chunks), given, mode="clip").compute()
    check_result(dmlcpu.gather_nd(x, at, mode="clip"), got)
    wrapped = [value + 7 if value < 0 else value for value in at[:, 0].tolist()]
    assert got.tolist() == [min(max(value, 0), 6) for value in wrapped]


@pytest.mark.parametrize("lazy", [False, True])
def test_tuples_without_slices(lazy):
    """Dask itself chooses no chunks of arrays without elements."""
    for shape, tuples in [((3, 0), (2, 1)), ((3, 2), (0, 1)), ((3, 2), (0, 5, 1))]:
        x, at = np.zeros(shape, np.float32), np.zeros(tuples, np.int64)
        with dask.config.set({"array.chunk-size": "1 B"}):
            given = da.from_array(at, chunks=1) if lazy else at
            array = dmlcpu.dask.gather_nd(da.from_array(x, chunks=1), given)
        check_result(dmlcpu.gather_nd(x, at), array.compute())


@pytest.mark.parametrize("lazy", [False, True])
def test_gather_sends_a_chunk_its_own_tuples(lazy):
    x = np.arange(100 * 20).reshape(100, 20)
    tuples = np.array([[5], [99], [7], [42], [-1], [5]])
    given = da.from_array(tuples, chunks=1) if lazy else tuples
    with dask.config.set({"array.chunk-size": "640 B" if lazy else "128 MiB"}):  # 4 slices or all
        array = dmlcpu.dask.gather_nd(da.from_array(x, chunks=(10, 20)), given)
    assert array.chunks == ((4, 2) if lazy else (6,), (20,))
    results = Results()
    with results:
        check_result(x[tuples[:, 0]], array.compute())
    rows = results.by_kind["dmlcpu-gathernd-rows"]
    assert sorted(np.concatenate(rows)[:, 0].tolist()) == sorted(x[tuples[:, 0], 0].tolist())
    if lazy:
        parts = results.by_kind["dmlcpu-gathernd-part"]
        assert len(parts) == 2 * 10
        assert sum(map(len, parts)) == len(tuples)
    else:
        assert len(rows) == 3  # chunks 0, 4 and 9; no other chunk is read
        assert all(len(row) for row in rows)
