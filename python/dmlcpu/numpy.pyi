# numpy.py for type checkers: every name of NumPy's, with the overloads of its functions, and top_k.
import builtins
from typing import Any, Literal, SupportsIndex, overload

import numpy as _np
import numpy.typing as npt
from numpy import *  # noqa: F403
from numpy import matrixlib as matrixlib
from numpy import version as version
from typing_extensions import TypeVar

from dmlcpu._types import TopK, _Input

_Element = TypeVar("_Element", bound=_np.generic)

@overload
def top_k(
    a: npt.NDArray[_Element],
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
    mode: Literal["largest", "smallest"] | None = None,
) -> TopK[npt.NDArray[_Element], npt.NDArray[_np.intp]]: ...
@overload
def top_k(
    a: _Input,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
    mode: Literal["largest", "smallest"] | None = None,
) -> TopK[npt.NDArray[Any], npt.NDArray[_np.intp]]: ...
