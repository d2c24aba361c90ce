"""The core behind torch's own functions on the CPU, and the switch.

The overrides are registered once and stay: the dispatcher has no lock for those who call it, so
that taking them back could crash a call of another thread. Switched off, they pass calls on to
torch's kernels, as they do with calls that are too small to gain.
"""

import contextlib
import contextvars
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch import library as torch_library

from dmlcpu._untraced import untraced
from dmlcpu.torch._kernels import Function, pays, run_core

__all__ = ["disable", "enable", "enabled"]

# The operators behind which the core is put, and their overloads that write to given tensors.
_OPERATORS = {
    "argmax": "out",
    "argmin": "out",
    "index_select": "out",
    "kthvalue": "values",
    "max.dim": "dim_max",
    "median.dim": "dim_values",
    "min.dim": "dim_min",
    "nanmedian.dim": "dim_values",
    "sort.stable": "values_stable",
    "topk": "values",
}

_SHORT = 65536  # elements for which torch's kernel may keep Python's lock

_lock = threading.Lock()
_library: Any = None
_everywhere = False
_blocks = contextvars.ContextVar("dmlcpu.torch.enabled", default=0)


def enable() -> None:
    """Put dmlcpu behind torch's own functions on the CPU, so that a program gets faster as it is.

    Behind `topk`, `sort`, `argsort`, `msort`, `kthvalue`, `argmax`, `argmin`, `index_select`, and behind
    `max`, `min`, `median` and `nanmedian` with a `dim`. It holds for tensors of the CPU in the whole
    process, whoever calls, until `disable`. Gradients, transforms and compilation stay torch's own; what
    torch.compile makes code of itself is not dmlcpu's. What dmlcpu does not take (see `argmax`) goes to
    torch's kernels, as do calls with ``out=`` and small ones: below 1024 elements (sorts), 2048 (argmax,
    argmin), 4096 (topk, kthvalue), 8192 (max, min, medians) or 2048 indices; for kthvalue and the
    medians of 64-bit elements 8 times as many. These take about 3 us longer than before.

    Results are torch's, except where it leaves them open: sorts are stable, unless they have ``out=``;
    where dmlcpu runs, a search finds the first of equal elements, kthvalue and medians the one that a
    stable sort has there. They hold memory of NumPy's, which ``resize_()`` cannot enlarge.

    >>> import torch, dmlcpu.torch
    >>> dmlcpu.torch.enable()
    >>> torch.topk(torch.arange(10000), 2).values
    tensor([9999, 9998])
    >>> dmlcpu.torch.disable()
    """
    global _everywhere
    _register()
    _everywhere = True


def disable() -> None:
    """Take `enable` back: torch's kernels run again, 3 us later than if it had never been called.

    Blocks of `enabled` are not ended.
    """
    global _everywhere
    _everywhere = False


@contextlib.contextmanager
def enabled() -> Iterator[None]:
    """`enable` for a ``with`` block, or the decorated function.

    It is a setting of the context (see `contextvars`): an asyncio task has its own, other threads
    keep theirs. Enter it outside of compiled functions, whose graphs it would end.

    >>> import torch, dmlcpu.torch
    >>> with dmlcpu.torch.enabled():
    ...     torch.arange(10000).argmin()
    tensor(0)
    """
    _register()
    _blocks.set(_blocks.get() + 1)
    try:
        yield
    finally:
        # Another context, in which the garbage collector ends a generator, is not in the block.
        _blocks.set(max(_blocks.get() - 1, 0))


def _override(operator: str) -> Function:
    name = operator.partition(".")[0]
    write = getattr(getattr(torch.ops.aten, name), _OPERATORS[operator])
    own = torch_library.get_kernel(f"aten::{operator}", "CPU")
    outs = [argument.name for argument in write._schema.arguments if argument.is_out]
    dtypes = {"argmax": [torch.int64], "argmin": [torch.int64]}.get(name, [None, torch.int64])

    # The dispatcher leaves defaults out, and gives by name what follows a star in the schema.
    @untraced
    def run(keys: Any, input: Tensor, *args: Any, **named: Any) -> Any:
        worth, size = pays(name, (input, *args)), input.nbytes // input.itemsize
        if name == "index_select" and not torch._C._get_tracing_state():
            dim, index = args
            size = size * index.numel() // max(*input.shape[dim:][:1], 1, 1)
        on = _everywhere or _blocks.get()
        if name == "sort" and on:
            named["stable"] = True  # whichever kernel sorts
        if not worth and size < _SHORT:
            return own.call_boxed(keys, input, *args, **named)
        if worth and on:
            result = run_core(name, input, *args, **named)
            if result is not None:
                return result
        # By the other overload, which lets other threads run, as call_boxed() does not.
        named |= {out: input.new_empty(0, dtype=dtype) for out, dtype in zip(outs, dtypes)}
        return write(input, *args, **named)

    return run


def _register() -> None:
    global _library
    with _lock:
        if _library is None:
            library = torch_library.Library("aten", "IMPL")
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Warning only once for all operators")
                for operator in _OPERATORS:
                    library.impl(operator, _override(operator), "CPU", with_keyset=True)
            _library = library
