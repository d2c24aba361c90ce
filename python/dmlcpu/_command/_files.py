""".npy files, mapped into memory; those that are written appear once they are whole."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcpu._command._signals import ignored

__all__ = ["mapped", "written"]

_Array = npt.NDArray[Any]


def mapped(path: str) -> _Array:
    """The array of a file, read-only, whose pages are read when they are first used."""
    try:
        with open(path, "rb") as file:
            magic = file.read(6)
        if magic != b"\x93NUMPY":
            raise ValueError("must be an .npy file, got another format")
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


@contextmanager
def written(paths: Sequence[str], results: Sequence[_Array]) -> Iterator[list[_Array]]:
    """Arrays of new files, of the shapes and dtypes of `results`.

    They are files of other names in the same folders until the block ends without an error; only
    then they get the paths' names, one after the other. Else they are removed.
    """
    targets = [_target(path) for path in paths]
    if len(set(targets)) < len(targets):
        raise ValueError(f"output: must be different files, got {paths[0]} for both")
    parts: list[str] = []
    arrays: list[Any] = []  # of numpy.memmap
    try:
        for target, result in zip(targets, results):
            folder, name = os.path.split(target)
            parts.append(os.path.join(folder, f".{name}.{secrets.token_hex(4)}.part"))
            arrays.append(_create(parts[-1], target, result))
        yield [np.asarray(array) for array in arrays]
        for array in arrays:
            array.flush()
        # Windows renames no file that is mapped.
        arrays.clear()
        with ignored():
            for part, target in zip(parts, targets):
                os.replace(part, target)
    finally:
        arrays.clear()
        for part in parts:
            with suppress(OSError):
                os.unlink(part)


def _target(path: str) -> str:
    """The file that is replaced: of a link, what it leads to."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError(f"{path}: must be a file, got a folder or a device")
    return target


def _create(part: str, target: str, result: _Array) -> Any:
    try:
        array: Any = np.lib.format.open_memmap(part, "w+", result.dtype, result.shape)
        _allocate(part, array.offset)
    except OSError as error:  # it should name what the user knows
        raise OSError(error.errno, error.strerror, target) from None
    return array


def _allocate(path: str, header_bytes: int) -> None:
    """Gives the file all of its blocks: writing to a mapping of a full disk would end the process."""
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        file.seek(header_bytes)
        while file.tell() < size:
            file.write(bytes(min(size - file.tell(), 2**20)))
