import data
import pytest

import dmlcpu
from dmlcpu import _core


@pytest.fixture(params=data.INSTRUCTION_SETS, scope="module")
def instruction_set(request):
    """Each of the machine's instruction sets in turn."""
    before = dmlcpu.get_instruction_set()
    dmlcpu.use_instruction_set(request.param)
    yield request.param
    dmlcpu.use_instruction_set(before)


@pytest.fixture(params=data.THREAD_COUNTS, scope="module")
def threads(request):
    """Several thread counts; with more than one, tensors of any size are split over all threads."""
    with dmlcpu.num_threads(request.param):
        _core.set_grain_bytes(1)
        yield request.param
        _core.set_grain_bytes(0)
