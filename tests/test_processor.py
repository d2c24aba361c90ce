"""What the library finds out about the processor, beside what Linux says of it."""

from pathlib import Path

import pytest

import dmlcpu
from dmlcpu import _core

# Linux's names of what each level of x86-64 adds, as far as kernels make use of it.
LEVELS = {
    "x86-64-v2": {"ssse3", "sse4_1", "sse4_2", "popcnt"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "fma"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
CPUINFO = Path("/proc/cpuinfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def test_instruction_sets_are_those_of_linux():
    flags = (
        CPUINFO.read_text().partition("\nflags")[2].partition("\n")[0] if CPUINFO.exists() else ""
    )
    if not flags or "generic" in _core.built_instruction_sets():
        pytest.skip("not Linux on x86-64")
    has, wanted = [], set()
    for name in _core.built_instruction_sets():
        for level in list(LEVELS)[: list(LEVELS).index(name) + 1]:
            wanted |= LEVELS[level]
        if wanted <= set(flags.split()):
            has.append(name)
    assert list(dmlcpu.instruction_sets()) == has


@pytest.mark.parametrize("level", [2, 3])
def test_caches_are_those_of_linux(level):
    for cache in CACHES.glob("index*"):
        if (cache / "level").read_text().strip() == str(level):
            size = (cache / "size").read_text().strip()
            assert _core.cache_bytes(level) == int(size.removesuffix("K")) * 1024
            return
    assert _core.cache_bytes(level) >= 128 * 1024


@pytest.mark.parametrize("level", [-1, 1, 4])
def test_only_two_levels_are_known(level):
    with pytest.raises(ValueError, match=f"level: must be 2 or 3, got {level}"):
        _core.cache_bytes(level)
