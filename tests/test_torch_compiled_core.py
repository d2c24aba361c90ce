"""Functions of the core in programs that torch.compile compiles: the graph is broken, and they run."""

import pytest

from scripts import run_python

pytest.importorskip("torch", exc_type=ImportError)

IMPORTS = ["import torch", "import dmlcpu, dmlcpu.numpy as dn, dmlcpu.directml as dml"]
PROGRAM = """
import warnings
import numpy as np
warnings.simplefilter("error")
warnings.filterwarnings("ignore", ".*deprecated")
sizes = dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, (3, 4))
one = dml.BufferTensorDesc(dml.TensorDataType.UINT32, (1, 1))
argmax = dml.compile(dml.ArgmaxOperatorDesc(sizes, one, (0, 1), dml.AxisDirection.INCREASING))
calls = {
    "dn.top_k": lambda x: dn.top_k(x, 2).values,
    "argmax": lambda x: dmlcpu.argmax(x, 1),
    "argmin": lambda x: dmlcpu.argmin(x * 2),
    "top_k": lambda x: dmlcpu.top_k(x * 2, 1).values,
    "gather_nd": lambda x: dmlcpu.gather_nd(x, [[0]]),
    "indices": lambda x: dmlcpu.gather_nd(np.arange(5.0), x.long()[..., None]),
    "out": lambda x: dmlcpu.argmax(x, 1, out=torch.empty(3, 1, dtype=torch.uint32)),
    "list": lambda x: dmlcpu.argmax([x, x]),
    "directml": lambda x: argmax(x + 1),
    "more": lambda x: torch.from_numpy(dmlcpu.argmax(x.sin(), 1, index_dtype=np.int64)) + 1,
}
x = torch.rand(3, 4)
for name in (first, *calls):
    for size in range(3):
        got = torch.compile(calls[name], backend="eager")(x)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(calls[name](x)), name)
"""


@pytest.mark.parametrize("torch_first", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("first", ["argmax", pytest.param("dn.top_k", marks=pytest.mark.slow)])
def test_core_in_compiled_programs(torch_first, first):
    """Whichever is imported and called first."""
    imports = IMPORTS if torch_first else IMPORTS[::-1]
    run_python("\n".join([*imports, f"first = {first!r}", PROGRAM]))


@pytest.mark.slow
def test_dask_in_compiled_programs():
    pytest.importorskip("dmlcpu.dask", exc_type=ImportError)
    code = """
        import numpy as np, torch
        import dmlcpu.dask
        x = torch.rand(3, 4)
        calls = (
            lambda x: dmlcpu.dask.argmax(x * 2, 1).compute(scheduler="sync"),
            lambda x: dmlcpu.dask.top_k(x + 1, 1).values.compute(scheduler="sync"),
        )
        for call in calls:
            np.testing.assert_array_equal(torch.compile(call, backend="eager")(x), call(x))
    """
    run_python(code)


def test_releases_without_exceptions_from_compilation():
    """Too old for the door, but not for the core."""
    run_python(
        """
        import torch, sys
        del sys.modules["torch._C._dynamo.eval_frame"]._FrameAction
        import dmlcpu, dmlcpu.numpy as dn
        assert dmlcpu.argmax([1, 2]) == dn.argmax([1, 2]) == dmlcpu.argmax(torch.tensor([1, 2])) == 1
        """
    )


def test_threads_that_make_the_first_calls():
    """Each may tell PyTorch of functions, while others do."""
    import dmlcpu
    from dmlcpu import _untraced

    class Told(list):
        """None is left when it is popped, as where another thread was faster."""

        def pop(self):
            assert super().pop()
            raise IndexError

    waiting, _untraced._waiting = _untraced._waiting, Told([(lambda: 0).__code__])
    try:
        assert dmlcpu.argmax([1, 2]) == 1
        assert _untraced._waiting == []
    finally:
        _untraced._waiting = waiting
