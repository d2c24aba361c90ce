"""Every way in which the planner could do an argmin, argmax or top-k has the reference implementation's
answer, and the same bits, whatever it costs: lanes, walks and blocks that it would not choose."""

import re

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


def candidate_lines(text):
    """Those of a plan's text, the chosen one of which begins with a star."""
    return text.partition("candidates\n")[2].splitlines()


@pytest.fixture
def candidates():
    """(number, plan) of each candidate of a call, which is then the one that runs."""

    def each(*arguments, function=dmlcpu.argmax, **options):
        text = _core.plan_text(function, *arguments, **options)
        for number, _ in enumerate(candidate_lines(text)):
            _core.force_candidate(number)
            yield number, _core.plan_text(function, *arguments, **options)
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


@pytest.mark.parametrize("seed", SEEDS)
def test_every_candidate_of_top_k(every_setting, seed, candidates):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS // 3):
        x, _, _ = random_call(rng, 3000)
        axis = int(rng.integers(x.ndim))
        k = int(rng.integers(1, min(40, x.shape[axis]) + 1))
        direction = ("increasing", "decreasing")[rng.integers(2)]
        options = {"k": k, "axis": axis, "axis_direction": direction}
        want = reference.top_k(x, k, axis=axis, direction=direction)
        for setting in every_setting():
            for number, plan in candidates(x, function=dmlcpu.top_k, **options):
                got = dmlcpu.top_k(x, **options)
                where = (setting, number, plan, x.strides)
                assert np.array_equal(got.indices, want[1]), where
                assert got.values.tobytes() == want[0].tobytes(), where


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


def test_groups_of_more_positions_than_a_table_has(every_setting, candidates):
    """Groups of few columns are a tile of top-k only if one pass takes all of each."""
    x = (
        np.random.default_rng(0)
        .integers(0, 100, (9, data.TUNING.kWalkRows + 1, 2))
        .astype(np.uint8)
    )
    want = np.sort(x, 1)[:, :-4:-1]
    for setting in every_setting():
        for number, plan in candidates(x, 3, function=dmlcpu.top_k, axis=1):
            got = dmlcpu.top_k(x, 3, axis=1).values
            assert np.array_equal(got, want), (setting, number, plan)


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


def test_a_number_beyond_the_candidates_is_the_chosen_plan():
    x = np.arange(3000.0).reshape(1000, 3)
    chosen = _core.plan_text(dmlcpu.argmax, x, 0)
    _core.force_candidate(99)
    forced = _core.plan_text(dmlcpu.argmax, x, 0)
    found = dmlcpu.argmax(x, 0).tolist()
    _core.force_candidate(-1)
    assert (forced, found) == (chosen, [[999] * 3])


def test_the_cheapest_candidate_is_chosen_and_marked():
    x = np.zeros((1000, 3), np.float32)
    lines = candidate_lines(_core.plan_text(dmlcpu.argmax, x, 0))
    times = [re.match(r"[* ] ([\d.]+) (ns|us)  ", line).groups() for line in lines]
    prices = [float(number) * (1000 if unit == "us" else 1) for number, unit in times]
    assert [line[0] for line in lines].index("*") == prices.index(min(prices))


def test_a_plan_is_made_again_when_anything_changes(every_setting):
    """Each thread keeps the last plan: of another layout, direction, output, number of threads or
    instruction set it must not be used."""
    rng = np.random.default_rng(3)
    base = rng.integers(0, 50, (40, 60, 3)).astype(np.float32)
    views = (base, base[::-1], base[:, ::2], base.transpose(1, 0, 2), base[:, :, :2], base * -1)
    for _ in every_setting():
        for x in views:
            for axis in range(3):
                for keepdims in (True, False):
                    want = np.argmax(x, axis, keepdims=keepdims)
                    assert np.array_equal(dmlcpu.argmax(x, axis, keepdims=keepdims), want)
                    last = dmlcpu.argmax(x, axis, keepdims=keepdims, axis_direction=1)
                    flipped = np.argmax(np.flip(x, axis), axis, keepdims=keepdims)
                    assert np.array_equal(last, x.shape[axis] - 1 - flipped)
                want = np.sort(x, axis)
                for k in (2, 3):
                    if k <= x.shape[axis]:
                        got = dmlcpu.top_k(x, k, axis=axis, axis_direction="increasing").values
                        assert np.array_equal(got, want.take(range(k), axis))
