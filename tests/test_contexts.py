"""num_threads is a setting of the context: of a task, a thread, whatever contextvars make one of."""

import asyncio
import contextvars
import sys
import threading

import pytest

import dmlcpu

from scripts import run_python


@pytest.fixture(autouse=True)
def process_number():
    """A number that no block below sets, and that is in force again after each test."""
    dmlcpu.set_num_threads(7)
    yield
    assert dmlcpu.get_num_threads() == 7
    dmlcpu.set_num_threads(None)


def test_nested():
    with dmlcpu.num_threads(2):
        with dmlcpu.num_threads(3):
            assert dmlcpu.get_num_threads() == 3
        assert dmlcpu.get_num_threads() == 2


def test_one_block_entered_twice():
    block = dmlcpu.num_threads(2)
    with block:
        with dmlcpu.num_threads(3):
            with block:
                assert dmlcpu.get_num_threads() == 2
            assert dmlcpu.get_num_threads() == 3
        assert dmlcpu.get_num_threads() == 2


def test_decorator():
    @dmlcpu.num_threads(2)
    def function():
        return dmlcpu.get_num_threads()

    assert (function(), function()) == (2, 2)


def test_tasks_that_overlap():
    async def first(inside, leave):
        with dmlcpu.num_threads(2):
            inside.set()
            await leave.wait()
            assert dmlcpu.get_num_threads() == 2

    async def second(inside, leave):
        await inside.wait()
        assert dmlcpu.get_num_threads() == 7
        with dmlcpu.num_threads(3):
            leave.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert dmlcpu.get_num_threads() == 3

    async def both():
        inside, leave = asyncio.Event(), asyncio.Event()
        await asyncio.gather(first(inside, leave), second(inside, leave))
        assert dmlcpu.get_num_threads() == 7

    asyncio.run(both())


def test_a_task_takes_the_setting_along():
    async def inner():
        return dmlcpu.get_num_threads()

    async def outer():
        with dmlcpu.num_threads(2):
            return await asyncio.create_task(inner())

    assert asyncio.run(outer()) == 2


def test_other_threads():
    seen = []
    with dmlcpu.num_threads(2):
        thread = threading.Thread(
            target=contextvars.Context().run, args=(lambda: seen.append(dmlcpu.get_num_threads()),)
        )
        thread.start()
        thread.join()
    assert seen == [7]


def test_copied_context():
    with dmlcpu.num_threads(2):
        context = contextvars.copy_context()
    assert dmlcpu.get_num_threads() == 7
    assert context.run(dmlcpu.get_num_threads) == 2
    seen = []
    thread = threading.Thread(
        target=context.run, args=(lambda: seen.append(dmlcpu.get_num_threads()),)
    )
    thread.start()
    thread.join()
    assert seen == [2]


def test_generators_that_end_in_any_order():
    def block(count):
        with dmlcpu.num_threads(count):
            yield dmlcpu.get_num_threads()

    first, second = block(2), block(3)
    assert (next(first), next(second)) == (2, 3)
    first.close()
    assert dmlcpu.get_num_threads() == 3
    second.close()
    assert dmlcpu.get_num_threads() == 7


def test_a_generator_that_another_context_ends():
    def block():
        with dmlcpu.num_threads(2):
            yield

    generator = block()
    context = contextvars.copy_context()
    context.run(next, generator)
    with dmlcpu.num_threads(3):
        generator.close()
        assert dmlcpu.get_num_threads() == 3


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux lists them")
def test_calls_and_compiling_use_it():
    """Worker threads are started for the first call that may use them, and stay."""
    assert run_python(CODE) == "0 0 0 0 3"


CODE = """
    import os
    import numpy as np
    import dmlcpu
    from dmlcpu import directml as dml

    x = np.zeros((2000, 2000), np.float32)
    desc = dml.ArgmaxOperatorDesc(
        input_tensor=dml.BufferTensorDesc(dml.TensorDataType.FLOAT32, sizes=x.shape),
        output_tensor=dml.BufferTensorDesc(dml.TensorDataType.UINT32, sizes=(2000, 1)),
        axes=(1,),
        axis_direction=dml.AxisDirection.INCREASING,
    )
    dmlcpu.set_num_threads(4)
    threads = lambda: len(os.listdir("/proc/self/task"))
    before = threads()
    started = []
    with dmlcpu.num_threads(1):
        compiled = dml.compile(desc)
        for call in (
            lambda: dmlcpu.argmax(x, 1),
            lambda: dmlcpu.top_k(x, 2),
            lambda: dmlcpu.gather_nd(x, np.zeros((2000, 1), np.int64)),
            lambda: compiled(x),
        ):
            call()
            started.append(threads() - before)
    dmlcpu.argmax(x, 1)
    print(*started, threads() - before)
"""
