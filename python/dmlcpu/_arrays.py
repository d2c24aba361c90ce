"""Objects that are not plain NumPy arrays, as arrays."""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["as_array"]


def as_array(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array that shares `obj`'s memory where it has any; called by the extension module."""
    if isinstance(obj, np.ma.MaskedArray):
        raise TypeError(f"{name}: must not be a masked array, whose mask would be lost, got one")
    if obj is None:
        raise TypeError(f"{name}: must be an array or convertible to one, got None")
    try:
        return _shared(obj) if hasattr(obj, "__dlpack__") else np.asarray(obj)
    except Exception as error:  # of whatever kind the object's library raises
        raise TypeError(
            f"{name}: must be an array or convertible to one, got {type(obj).__name__} ({error})"
        ) from error


def _shared(obj: Any) -> npt.NDArray[Any]:
    """An array over the memory of an object with ``__dlpack__``."""
    if isinstance(obj, np.ndarray):
        return np.asarray(obj)
    torch = sys.modules.get("torch")
    if torch and isinstance(obj, torch.Tensor) and obj.dtype is torch.bfloat16:
        import ml_dtypes  # NumPy has no bfloat16 of its own to take the tensor as

        return np.from_dlpack(obj.view(torch.int16)).view(ml_dtypes.bfloat16)
    try:
        return np.from_dlpack(obj)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return np.asarray(obj)  # a type that DLPack cannot pass on; the object may know how
