"""Calls in threads with small stacks: 128 KiB for Python, NumPy and the call together, 64 KiB for
OpenMP's workers. A call that needs more ends the process, or overwrites what is past the guard page."""

import pytest

import data
from scripts import run_python

CODE = """
    import threading
    import sys
    import numpy as np
    import ml_dtypes
    import dmlcpu
    from dmlcpu import _core
    from dmlcpu import directml as dml

    rng = np.random.default_rng(0)
    types = [np.dtype(ml_dtypes.bfloat16) if n == "bfloat16" else np.dtype(n) for n in _core.data_types()]
    threads = int(sys.argv[2])
    dmlcpu.use_instruction_set(sys.argv[1])
    dmlcpu.set_num_threads(threads)
    if threads > 1:
        _core.set_grain_bytes(1)

    def arg(x):
        for function in (dmlcpu.argmin, dmlcpu.argmax):
            for direction in (0, 1):
                for axes in ([0], [1], [0, 1], [2], [0, 2]):
                    function(x, axes[: x.ndim], axis_direction=direction)

    def top_k(x, axis, *counts):
        for k in counts:
            dmlcpu.top_k(x, k, axis=axis)
            dmlcpu.top_k(x, k, axis=axis, axis_direction=0)

    def calls(dtype):
        x = (rng.standard_normal(300_000) * 40).astype(dtype)
        # Wide and narrow columns, short rows forwards and backwards, strided ones, one long row.
        arg(x[:16].reshape(2, 2, 4))
        arg(x[:30_000].reshape(3, 5000, 2))
        arg(x[:30_000].reshape(3, 5, 2000))
        arg(x[:29_988].reshape(4, 2499, 3)[:, :, ::-1])
        arg(x[:30_000].reshape(30, 20, 50).T)
        arg(x[:30_000].reshape(30, 20, 50)[::-2, :, ::3])
        dmlcpu.argmax(x)
        dmlcpu.argmax(x[::3], axis_direction=1)
        # Side by side, whole rows, thresholds from blocks, samples and counting, sorted.
        top_k(x[:20_000].reshape(100, 200), 1, 1, 2, 8, 32, 33, 60, 150)
        top_k(x[:20_000].reshape(200, 100), 0, 1, 2, 32, 33, 150)
        top_k(x[:60_000].reshape(2, 30_000), 1, 3, 40, 400, 5000, 20_000)
        top_k(x[:60_000].reshape(30_000, 2), 0, 3, 400, 5000, 20_000)
        top_k(x[::2], 0, 2, 3000, 149_000)
        top_k(x, 0, 2, 5000, 100_000, 299_000)
        # A sample that misses all that is large: its threshold is of no use.
        y = np.zeros(300_000, dtype)
        y[-2000:] = 1
        top_k(y, 0, 100, 3000, 20_000)
        for mode in ("raise", "clip"):
            dmlcpu.gather_nd(x, rng.integers(0, x.size, (5000, 1)), mode=mode)
            rows = rng.integers(-300, 300, (500, 1), np.int32)
            dmlcpu.gather_nd(x.reshape(300, 1000), rows, mode=mode)
            pairs = rng.integers(0, 10, (500, 2))
            dmlcpu.gather_nd(x.reshape(300, 10, 100)[:, :, ::-2], pairs, mode=mode)

    def others():
        dmlcpu.argmax([[1, 2], [3, 4]], 0)
        for wrong in ((dict(axis=5)), (dict(index_dtype="float32")), (dict(out=np.zeros(3)))):
            try:
                dmlcpu.argmax(np.zeros((3, 3)), **wrong)
            except (ValueError, TypeError):
                continue
            raise AssertionError(wrong)
        try:
            dmlcpu.gather_nd(np.zeros((3, 3)), [[5]])
        except IndexError:
            pass
        tensor = lambda sizes, type: dml.BufferTensorDesc(type, sizes=sizes)
        desc = dml.ArgmaxOperatorDesc(
            input_tensor=tensor((2, 3, 4), dml.TensorDataType.FLOAT32),
            output_tensor=tensor((2, 1, 4), dml.TensorDataType.UINT32),
            axes=(1,),
            axis_direction=dml.AxisDirection.INCREASING,
        )
        dml.compile(desc)(np.zeros((2, 3, 4), np.float32))

    # What Python and NumPy do once, with deep stacks, is done before.
    np.zeros(1).argmax()
    threading.stack_size(128 * 1024)
    done = []
    for work in [others, *(lambda dtype=dtype: calls(dtype) for dtype in types)]:
        thread = threading.Thread(target=lambda: done.append(work()))
        thread.start()
        thread.join()
    assert len(done) == len(types) + 1, done
    print("done")
"""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("instruction_set", data.INSTRUCTION_SETS)
def test_small_stacks(instruction_set, threads):
    assert run_python(CODE, instruction_set, str(threads), OMP_STACKSIZE="64k") == "done"
