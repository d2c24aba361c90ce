"""The core behind torch's own functions on the CPU, and the switch.

The overrides are registered once and stay: the dispatcher has no lock for those who call it, so
that taking them back could crash a call of another thread. Switched off, they pass calls on to
torch's kernels, as they do with calls that are too small to gain.
"""

import contextlib
import contextvars
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch import library as torch_library

from dmlcpu.torch._kernels import KERNELS, REFUSED, takes

__all__ = ["disable", "enable", "enabled"]

# The operators behind which the core is put, and their overloads that write to given tensors.
_OPERATORS = {
    "argmax": ("argmax", torch.ops.aten.argmax.out),
    "argmin": ("argmin", torch.ops.aten.argmin.out),
    "max": ("max.dim", torch.ops.aten.max.dim_max),
    "min": ("min.dim", torch.ops.aten.min.dim_min),
    "topk": ("topk", torch.ops.aten.topk.values),
    "index_select": ("index_select", torch.ops.aten.index_select.out),
}

# From how many elements on (of index_select: indices) the core takes less time than torch's kernel
# called from here.
_LEAST = dict(argmax=2048, argmin=2048, max=8192, min=8192, topk=4096, index_select=2048)
_SHORT = 65536  # elements for which torch's kernel may keep Python's lock

_lock = threading.Lock()
_library: Any = None
_everywhere = False
_blocks = contextvars.ContextVar("dmlcpu.torch.enabled", default=0)


def enable() -> None:
    """Put dmlcpu behind torch's own functions on the CPU, so that a program gets faster as it is.

    Behind `topk`, `argmax`, `argmin`, `index_select`, `max` and `min` with a `dim`. It holds for
    tensors of the CPU in the whole process, whoever calls, until `disable`. Gradients, vmap and
    compilation stay torch's own. What dmlcpu does not take (see `argmax`) goes to torch's kernels,
    as do calls with ``out=`` and small ones: below 2048 elements (argmax, argmin), 4096 (topk),
    8192 (max, min) or 2048 indices. These take about 3 us longer than before.

    Results are torch's, but where it leaves them open: of equal elements the first is found. They
    hold memory of NumPy's, which ``resize_()`` cannot enlarge.

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
    keep theirs.

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


def _override(name: str) -> Callable[..., Any]:
    operator, write = _OPERATORS[name]
    own = torch_library.get_kernel(f"aten::{operator}", "CPU")
    outs = [argument.name for argument in write._schema.arguments if argument.is_out]
    dtypes = {"argmax": [torch.int64], "argmin": [torch.int64]}.get(name, [None, torch.int64])

    def run(keys: Any, input: Tensor, *args: Any) -> Any:
        count = size = input.numel()
        if name == "index_select":
            dim, index = args
            count = index.numel()
            size = size * count // max(*input.shape[dim:][:1], 1, 1)
        worth = count >= _LEAST[name]
        if not worth and size < _SHORT:
            return own.call_boxed(keys, input, *args)
        if worth and (_everywhere or _blocks.get()) and takes(name, input, *args):
            try:
                return KERNELS[name](input, *args)
            except REFUSED:
                pass
        # By the other overload, which lets other threads run, as call_boxed() does not.
        return write(input, *args, **{o: input.new_empty(0, dtype=d) for o, d in zip(outs, dtypes)})

    return run


def _register() -> None:
    global _library
    with _lock:
        if _library is None:
            library = torch_library.Library("aten", "IMPL")
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Warning only once for all operators")
                for name, (operator, _) in _OPERATORS.items():
                    library.impl(operator, _override(name), "CPU", with_keyset=True)
            _library = library
