"""Four tensor operators of DirectML, fast on any CPU: argmin, argmax, top_k and gather_nd.

They read NumPy arrays (and what shares memory with them) in place, with any strides. What ties, NaNs
and index types give is exactly specified, and no result depends on threads or instruction set.
`dmlcpu.directml` has them by DirectML's own descriptors; `dmlcpu.numpy`, `dmlcpu.torch`, `dmlcpu.onnx`
and `dmlcpu.dask` as these libraries have them. They are loaded when first used.
"""

import typing as _typing

try:
    from dmlcpu._core import __version__
except ImportError as _error:
    from dmlcpu._diagnosis._failure import fail as _fail

    _fail(_error)
from dmlcpu._diagnosis._explain import explain, show_config
from dmlcpu._lazy import lazy_module as _lazy_module
from dmlcpu._lazy import module_on_use as _module_on_use
from dmlcpu._operators import argmax, argmin, gather_nd, top_k
from dmlcpu._runtime import (
    get_instruction_set,
    get_num_threads,
    instruction_sets,
    num_threads,
    set_num_threads,
    use_instruction_set,
)
from dmlcpu._types import AxisDirection, TopK

if _typing.TYPE_CHECKING:
    from dmlcpu import dask as dask
    from dmlcpu import directml as directml
    from dmlcpu import numpy as numpy
    from dmlcpu import onnx as onnx
    from dmlcpu import torch as torch
else:
    directml = _lazy_module("dmlcpu.directml")
    numpy = _lazy_module("dmlcpu.numpy")
    # Their libraries may be missing, which `import dmlcpu.torch` is to say.
    dask = _module_on_use("dmlcpu.dask")
    onnx = _module_on_use("dmlcpu.onnx")
    torch = _module_on_use("dmlcpu.torch")

__all__ = [
    "AxisDirection",
    "TopK",
    "__version__",
    "argmax",
    "argmin",
    "explain",
    "gather_nd",
    "get_instruction_set",
    "get_num_threads",
    "instruction_sets",
    "num_threads",
    "set_num_threads",
    "show_config",
    "top_k",
    "use_instruction_set",
]
