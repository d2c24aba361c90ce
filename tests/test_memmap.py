"""Files larger than the memory that a process may allocate: memory maps are read in place."""

import sys

import pytest

from scripts import run_python

CODE = """
    import resource, sys
    import numpy as np
    import dmlcpu

    rows, columns = 2**16, 1024  # 256 MiB of float32
    file, places = sys.argv[1], [5, 40000, rows - 1]
    x = np.memmap(file, np.float32, "w+", shape=(rows, columns))
    x[places, 3] = [7, 9, 9]
    x.flush()
    x = np.memmap(file, np.float32, "r", shape=(rows, columns))

    dmlcpu.argmax(np.zeros(3))
    with open("/proc/self/status") as status:
        data = next(int(line.split()[1]) for line in status if line.startswith("VmData")) * 1024
    limit = data + x.nbytes // 8
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.array(x)
    except MemoryError:
        print("no memory for a copy")

    best = dict(keepdims=False, index_dtype=np.int64)
    assert dmlcpu.argmax(x, **best) == 40000 * columns + 3
    assert dmlcpu.argmax(x, 0, axis_direction="decreasing", **best)[3] == rows - 1
    assert dmlcpu.argmax(x, 1, **best)[places].tolist() == [3, 3, 3]
    values, indices = dmlcpu.top_k(x, 3, axis=0)
    assert values[:, 3].tolist() == [9, 9, 7]
    assert indices[:, 3].tolist() == [40000, rows - 1, 5]
    flat = dmlcpu.top_k(x.reshape(-1), 2).indices
    assert flat.tolist() == [40000 * columns + 3, (rows - 1) * columns + 3]
    assert dmlcpu.gather_nd(x, [[5, 3], [-1, 3]]).tolist() == [7, 9]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on what is allocated")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_memory_maps_of_8_times_what_may_be_allocated(tmp_path, threads):
    printed = run_python(CODE, str(tmp_path / "matrix"), OMP_NUM_THREADS=threads)
    assert printed == "no memory for a copy"
