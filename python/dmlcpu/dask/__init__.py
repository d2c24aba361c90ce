"""The operators on Dask's arrays: lazy, for any chunks, also those that split the searched axes.

`argmin`, `argmax`, `top_k` and `gather_nd` have the meaning of dmlcpu's functions of these names, ties
and NaN included: the answer is that of the same call on the whole array in memory. dmlcpu's kernels run
in the tasks, on one thread each. Tasks are named ``dmlcpu-argmin``, ``dmlcpu-argmax``, ``dmlcpu-topk``
and ``dmlcpu-gathernd`` in progress bars and on the dashboard.

What is wrong with the arguments is told when the graph is built, in dmlcpu's words; an index out of
range when it is computed. It is loaded when first used, and needs Dask 2025.1 or newer with its arrays.
"""

try:
    import dask as _dask

    _is_planned = _dask.config.get("array.query-planning", None)
    if not _is_planned:
        import dask.array as _dask_array  # noqa: F401  (has requirements of its own)
except ImportError as _error:
    raise ImportError(
        f'dmlcpu.dask: needs Dask\'s arrays, got {_error} (pip install "dmlcpu[dask]" installs them)'
    ) from _error

if _is_planned:  # Dask has no argmax or topk there either
    raise ImportError("dmlcpu.dask: needs Dask's configuration array.query-planning off, got on")

from dmlcpu._untraced import untraced as _untraced
from dmlcpu.dask._arg import argmax, argmin
from dmlcpu.dask._gather import gather_nd
from dmlcpu.dask._top_k import top_k

for _function in (argmax, argmin, gather_nd, top_k):
    _untraced(_function)

__all__ = ["argmax", "argmin", "gather_nd", "top_k"]
