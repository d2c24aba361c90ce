""".npy files that are read: files are mapped into memory, pipes are read into it."""

import errno
import math
import mmap
import os
import stat
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

__all__ = ["STANDARD_INPUT", "Input", "named", "opened", "shown"]

_Array = npt.NDArray[Any]

STANDARD_INPUT = ("-", "/dev/stdin")

_READERS = {
    b"\1\0": np.lib.format.read_array_header_1_0,
    b"\2\0": np.lib.format.read_array_header_2_0,
    # As 2.0, with names of fields in UTF-8: elements with fields are refused.
    b"\3\0": np.lib.format.read_array_header_2_0,
}


def shown(path: str) -> str:
    """A path in a row of text."""
    return path if path and path.isprintable() else repr(path)


@contextmanager
def named(name: str) -> Iterator[None]:
    """Errors of the system name what the user does."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from None


class Input:
    """A file whose header was read: its dtype and shape are known, no element is read."""

    def __init__(self, name: str, file: IO[bytes], is_bfloat16: bool) -> None:
        self.name = name
        self.status = os.fstat(file.fileno())
        self._file = file
        self._is_mapped = stat.S_ISREG(self.status.st_mode)
        if file.isatty():
            raise ValueError(f"{self.name}: must be a file or a pipe, got a terminal")
        self._check_format()
        shape, self._is_fortran, self.dtype = self._header()
        self.shape: tuple[int, ...] = shape
        self._text = f"{self.dtype} of shape {shape}"
        self._offset = file.tell() if self._is_mapped else 0
        self._check_elements()
        self._check_bfloat16(is_bfloat16)
        self._size = math.prod(shape) * self.dtype.itemsize
        if self._is_mapped:
            self._check_size(self.status.st_size - self._offset)

    def stand_in(self, dtype: npt.DTypeLike) -> _Array:
        """An array of the same shape, of one element, repeated."""
        try:
            return np.broadcast_to(np.zeros((), dtype), self.shape)
        except ValueError:
            raise ValueError(
                f"{self.name}: must have a shape that NumPy takes, got {self.shape}"
            ) from None

    def array(self) -> _Array:
        """The elements. Pages of a file are read when they are first used; a pipe is read to the last
        element."""
        order: Any = "F" if self._is_fortran else "C"
        if not self._is_mapped:
            return self._read().reshape(self.shape, order=order)
        length = self._offset + self._size
        try:
            with named(self.name):
                pages = mmap.mmap(self._file.fileno(), length, access=mmap.ACCESS_READ)
        except (OSError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOMEM:
                raise
            raise ValueError(
                f"{self.name}: {self._text} must be mapped, and its {self._size} bytes do not fit the "
                "address space that is left; raise the limit (ulimit -v), or divide the file"
            ) from None
        return np.ndarray(self.shape, self.dtype, pages, self._offset, order=order)

    def _check_format(self) -> None:
        magic = self._file.read(6)
        if magic == b"\x93NUMPY":
            return
        if not magic:
            got = "an empty one; write it again"
        elif magic.startswith(b"PK"):
            got = f"an .npz archive{self._members()}; save one of its arrays by numpy.save"
        elif magic[:1] == b"\x80":
            got = "a pickle; if you trust it, load it and save its array by numpy.save"
        else:
            got = "another format; save the array by numpy.save"
        raise ValueError(f"{self.name}: must be an .npy file, got {got}")

    def _members(self) -> str:
        """The names of an archive's arrays."""
        if not self._is_mapped:
            return ""
        try:
            with zipfile.ZipFile(self._file) as archive:
                names = [shown(name.removesuffix(".npy")) for name in archive.namelist()]
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return ", which is damaged"
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return f" of {', '.join(names[:5]) or 'nothing'}{more}"

    def _header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        try:
            version = self._file.read(2)
            if version not in _READERS:
                raise ValueError(f"version {'.'.join(map(str, version)) or 'none'}")
            shape, is_fortran, dtype = _READERS[version](self._file)
            if dtype.subdtype is not None or not all(0 <= size <= sys.maxsize for size in shape):
                raise ValueError(f"{dtype} of shape {shape}")
        except OSError:
            raise
        except Exception as error:  # of whatever kind the text of a damaged header raises
            raise ValueError(
                f"{self.name}: must have a header that NumPy reads, got: {error}; the file is truncated "
                "or damaged, write it again"
            ) from None
        return shape, is_fortran, dtype

    def _check_elements(self) -> None:
        if self.dtype.hasobject:
            raise ValueError(
                f"{self.name}: must hold numbers, got Python objects, {self._text}; if you trust the "
                "file, load it with allow_pickle=True, and save it with a numeric dtype"
            )

    def _check_bfloat16(self, is_bfloat16: bool) -> None:
        is_void = self.dtype.kind == "V" and self.dtype.itemsize == 2 and not self.dtype.names
        if is_void and not is_bfloat16:
            raise ValueError(
                f"{self.name}: must hold numbers, got {self.dtype.str}, which does not say what its 2 "
                "bytes are; if they are bfloat16, give --bfloat16"
            )
        if is_bfloat16:
            if not is_void:
                raise ValueError(
                    f"--bfloat16: must be for a file of |V2, got {self.name}, {self._text}"
                )
            try:
                import ml_dtypes
            except ImportError:
                raise ValueError("--bfloat16: needs ml_dtypes: pip install ml_dtypes") from None
            self.dtype = np.dtype(ml_dtypes.bfloat16)

    def _check_size(self, got: int) -> None:
        if got < self._size:
            raise ValueError(
                f"{self.name}: must hold {self._size} bytes after its header, of {self._text}, got "
                f"{got}; the file is truncated, write or copy it again"
            )

    def _read(self) -> _Array:
        try:
            elements = np.empty(math.prod(self.shape), self.dtype)
        except (MemoryError, ValueError):
            raise ValueError(
                f"{self.name}: {self._text} comes through a pipe and must fit the memory; give a file"
            ) from None
        left = elements.view(np.uint8).data
        while left:
            with named(self.name):
                count = self._file.readinto(left)  # type: ignore[attr-defined]
            if not count:
                self._check_size(self._size - len(left))
            left = left[count:]
        return elements


@contextmanager
def opened(path: str, is_bfloat16: bool = False) -> Iterator[Input]:
    """The input of a path, `-` for standard input."""
    is_standard = path in STANDARD_INPUT
    name = "standard input" if is_standard else shown(path)
    # A pipe's reader waits for its writer here.
    with open(0 if is_standard else path, "rb", closefd=not is_standard) as file:
        with named(name):
            source = Input(name, file, is_bfloat16)
        yield source
