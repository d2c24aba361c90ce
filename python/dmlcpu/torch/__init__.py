"""The operators as PyTorch has them: its names, defaults, named tuples and error types.

Tensors go in and out without a copy. What the core does not take (complex numbers, other devices,
more than 8 dimensions) goes to torch's own function. Gradients, every transform of `torch.func`,
`torch.compile` and `torch.export` work as with torch's functions. `enable()` puts the core behind
torch's own functions, so that a program gets faster without a change.

It is loaded when first used, and needs PyTorch 2.9 or newer.
"""

import sys as _sys

try:
    import torch as _torch
    from torch import library as _torch_library
except ModuleNotFoundError as _error:
    raise ImportError(
        f'dmlcpu.torch: needs PyTorch, got {_error} (pip install "dmlcpu[torch]" installs it)'
    ) from _error

if not hasattr(_torch_library, "get_kernel"):
    raise ImportError(f"dmlcpu.torch: needs PyTorch 2.9 or newer, got {_torch.__version__}")

# PyTorch knows the operators for the life of the process: a package that is imported again, after it was
# dropped from sys.modules, has the modules that told PyTorch of them.
_modules = vars(_torch.ops.dmlcpu).setdefault("_modules_of_dmlcpu", {})
_sys.modules.update(_modules)

from dmlcpu.torch._enabled import disable, enable, enabled  # noqa: E402
from dmlcpu.torch._functions import (  # noqa: E402
    argmax,
    argmin,
    gather_nd,
    index_select,
    max,
    min,
    topk,
)
from dmlcpu.torch._sorts import argsort, kthvalue, median, msort, nanmedian, sort  # noqa: E402

_names = ("_calls", "_enabled", "_functions", "_kernels", "_registered", "_sorts")
_modules.update({name: _sys.modules[name] for name in (f"dmlcpu.torch.{n}" for n in _names)})

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "disable",
    "enable",
    "enabled",
    "gather_nd",
    "index_select",
    "kthvalue",
    "max",
    "median",
    "min",
    "msort",
    "nanmedian",
    "sort",
    "topk",
]
