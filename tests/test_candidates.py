"""Every way in which the planner could do an argmin or argmax has the reference implementation's answer,
and the same bits, whatever it costs: lanes, walks and blocks that the planner would not choose."""

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core

import data
import reference

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 64, 65, 130, 257, 300)
SEEDS = [pytest.param(seed, marks=[] if seed < 2 else pytest.mark.slow) for seed in range(20)]
PROBLEMS = 100  # of each seed


@pytest.fixture
def every_setting():
    """Each instruction set, on one thread and on three, of which any tensor is split among all."""

    def each():
        for name in data.INSTRUCTION_SETS:
            dmlcpu.use_instruction_set(name)
            for count in (1, 3):
                with dmlcpu.num_threads(count):
                    yield name, count

    before = dmlcpu.get_instruction_set()
    _core.set_grain_bytes(1)
    yield each
    _core.set_grain_bytes(0)
    dmlcpu.use_instruction_set(before)


@pytest.fixture
def candidates():
    """(number, plan) of each candidate of a call, which is then the one that runs."""

    def each(*arguments, **options):
        number, count = 0, 1
        while number < count:
            _core.force_candidate(number)
            text = _core.plan_text(dmlcpu.argmax, *arguments, **options)
            count = int(text.splitlines()[-1].rsplit(" ", 1)[1])
            if number < count:
                yield number, text
            number += 1
        _core.force_candidate(-1)

    yield each
    _core.force_candidate(-1)


def random_call(rng, most):
    """An array of few different elements, so that many tie, in some layout; axes and a direction."""
    rank = rng.integers(1, 6)
    shape, left = [], most
    for _ in range(rank):
        shape.append(int(min(rng.choice(SIZES), max(1, left))))
        left //= shape[-1]
    rng.shuffle(shape)
    dtype = np.dtype(rng.choice(data.DTYPES))
    order = rng.permutation(rank).tolist()
    steps = [1 if rng.random() < 0.7 else int(rng.choice([-1, 2, -3])) for _ in shape]
    pads = [0 if rng.random() < 0.8 else int(rng.integers(1, 4)) for _ in shape]
    x = rng.integers(0, rng.choice([2, 3, 100]), shape).astype(dtype)
    if dtype.kind == "f" and rng.random() < 0.3:
        x[rng.random(shape) < 0.01] = np.nan
    axes = tuple(np.flatnonzero(rng.random(rank) < 0.6).tolist())
    return data.in_layout(x, order, steps, pads), axes, int(rng.random() < 0.3)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_candidate_has_the_same_answer(every_setting, seed, candidates):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS):
        x, axes, direction = random_call(rng, 3000)
        name = ("increasing", "decreasing")[direction]
        want = reference.arg(x, axes, largest=True, direction=name)
        for setting in every_setting():
            for number, plan in candidates(x, axes, axis_direction=direction):
                got = dmlcpu.argmax(x, axes, axis_direction=direction)
                assert np.array_equal(got, want), (setting, number, plan, x.strides)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_candidate_of_larger_calls(every_setting, seed, candidates):
    """Rows that are longer than a counter of their width, in vectors of them, tiles and periods: NumPy
    has the answers, as the reference implementation would take minutes."""
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS // 10):
        x, axes, direction = random_call(rng, 200_000)
        if x.dtype.name == "bfloat16" or not axes:
            continue
        last = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*np.delete(x.shape, axes), -1)
        want = last.argmax(-1)
        if direction == 1:
            want = last.shape[-1] - 1 - last[..., ::-1].argmax(-1)
        for setting in every_setting():
            for number, plan in candidates(x, axes, axis_direction=direction):
                got = dmlcpu.argmax(x, axes, axis_direction=direction, keepdims=False)
                assert np.array_equal(got, want), (setting, number, plan, x.strides)


@pytest.mark.parametrize(
    ("dtype", "sizes"), [(np.uint8, (255, 256, 257, 700)), (np.float16, (65536, 65537))], ids=str
)
def test_rows_of_more_positions_than_a_counter_holds(every_setting, dtype, sizes, candidates):
    """Random shapes seldom have as many of them as a vector has lanes."""
    for n in sizes:
        x = np.zeros((70, n), dtype)
        at = n - 1 - np.arange(70) % 9
        x[np.arange(70), at] = 1
        for setting in every_setting():
            for number, plan in candidates(x, 1):
                assert (dmlcpu.argmax(x, 1)[:, 0] == at).all(), (setting, number, plan)


def test_candidates_find_the_same_elements(instruction_set, candidates):
    """The elements of top-k with k = 1, which may be zeros of either sign and NaNs of any payload."""
    rng = np.random.default_rng(1)
    for shape in ((300, 5), (40, 7, 3), (6, 90), (2, 31, 33)):
        for axis in range(len(shape)):
            x = rng.choice(np.array([0.0, -0.0, -1.0, np.nan], np.float32), shape)
            x[np.isnan(x) & (rng.random(shape) < 0.95)] = -2
            want = dmlcpu.top_k(x, 1, axis=axis)
            for number, plan in candidates(x, axis):
                got = dmlcpu.top_k(x, 1, axis=axis)
                assert np.array_equal(got.indices, want.indices), (number, plan)
                assert got.values.tobytes() == want.values.tobytes(), (number, plan)


def test_a_number_beyond_the_candidates_is_the_chosen_plan(candidates):
    x = np.arange(3000.0).reshape(1000, 3)
    chosen = _core.plan_text(dmlcpu.argmax, x, 0)
    _core.force_candidate(99)
    text = _core.plan_text(dmlcpu.argmax, x, 0)
    assert text.startswith(chosen)
    assert "candidate 99 of " in text
    assert dmlcpu.argmax(x, 0).tolist() == [[999] * 3]
