"""Scratch memory of one call is that of the next. What the system gives anew it clears first, page by
page, which takes longer than many a call."""

import platform

import pytest

from scripts import run_python

CODE = """
    import resource
    import numpy as np
    import dmlcpu

    dmlcpu.set_num_threads(1)
    x = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    k = x.size - 1

    def faults():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        kept.append(dmlcpu.top_k(x, k))
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    # Results that are kept lie between what is freed.
    kept = []
    text = dmlcpu._core.plan_text(dmlcpu.top_k, x, k)
    scratch = int(text.rsplit("scratch ", 1)[1].split()[0])
    results = sum(array.nbytes for array in dmlcpu.top_k(x, k))
    print(scratch, results, resource.getpagesize(), *[faults() for _ in range(10)])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators may return memory")
def test_scratch_memory_is_used_again():
    scratch, results, page, *faults = map(int, run_python(CODE).split())
    assert scratch > 2**20  # many pages
    # Each call's results are new pages.
    assert all(count * page < results + scratch / 4 for count in faults[4:]), faults
