"""Objects that are not plain NumPy arrays, as arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["as_array"]


def as_array(obj: Any, name: str) -> npt.NDArray[Any]:
    """An array that shares `obj`'s memory where it has any; called by the extension module."""
    if isinstance(obj, np.ma.MaskedArray):
        raise TypeError(f"{name}: must not be a masked array, whose mask would be lost, got one")
    if not isinstance(obj, np.ndarray) and hasattr(obj, "__dlpack__"):
        try:
            return np.from_dlpack(obj)
        except (BufferError, RuntimeError, TypeError, ValueError):
            pass  # a type that DLPack cannot pass to NumPy; the object may still know how
    return np.asarray(obj)
