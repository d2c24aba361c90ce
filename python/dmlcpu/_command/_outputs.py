"""Where results go: files that appear once they are whole, pipes, text.

No output is a file that is read, and no two outputs are one file, under whatever names: files are known
by their inodes.
"""

import os
import secrets
import stat
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcpu._command._inputs import Input, named, shown
from dmlcpu._command._replaced import Replaced
from dmlcpu._command._signals import ignored

__all__ = ["PRINTED", "written"]

_Array = npt.NDArray[Any]

# Results of up to this many elements are printed where no output is given: as many as NumPy prints.
PRINTED = 1000
_STDOUT = 1


class _Stream:
    """A pipe: an array in memory, whose bytes are written at the end."""

    def __init__(self, path: str, number: int | None = None) -> None:
        """Of an open file, its number is given."""
        self.name = "standard output" if number == _STDOUT else shown(path)
        self._path, self._number = path, number
        self.status: os.stat_result | None = os.stat(path if number is None else number)
        if number is not None and os.isatty(number):
            raise ValueError(
                "output: must be a file or a pipe, got a terminal; without -o small results are printed"
            )

    def create(self, result: _Array) -> _Array:
        try:
            self._array: _Array = np.empty(result.shape, result.dtype)
        except MemoryError:
            raise ValueError(
                f"{self.name}: the {result.nbytes} bytes for a pipe must fit the memory; give a file"
            ) from None
        return self._array

    def complete(self) -> None:
        with named(self.name):
            # A pipe's writer waits for its reader here.
            number = os.open(self._path, os.O_WRONLY) if self._number is None else self._number
            try:
                with open(number, "wb", buffering=0, closefd=False) as file:
                    data = np.lib.format.header_data_from_array_1_0(self._array)
                    np.lib.format.write_array_header_1_0(file, data)
                left = self._array.reshape(-1).view(np.uint8).data
                while left:
                    left = left[os.write(number, left[: 2**20]) :]
            finally:
                if self._number is None:
                    os.close(number)

    def appear(self) -> None:
        """A pipe has no name to get."""

    def discard(self) -> None:
        """Nor anything to be removed."""


class _Text(_Stream):
    """Standard output, to which a small result is printed, after its title."""

    def __init__(self, title: str) -> None:
        self.name, self._title = "standard output", title
        self.status = os.fstat(_STDOUT)

    def create(self, result: _Array) -> _Array:
        if result.size > PRINTED:
            raise ValueError(
                f"output: must be given (-o) for more than {PRINTED} elements, got {result.size}"
            )
        return super().create(result)

    def complete(self) -> None:
        text = np.array2string(self._array, threshold=PRINTED + 1, floatmode="unique")
        with named(self.name):
            print(*filter(None, (self._title, text)), sep="\n", flush=True)


@contextmanager
def written(
    paths: Sequence[str] | None,
    results: Sequence[_Array],
    inputs: Sequence[Input],
    no_clobber: bool = False,
) -> Iterator[list[_Array]]:
    """Arrays of the shapes and dtypes of `results`. They go to the paths, or without paths are printed,
    when the block ends without an error.

    Files have other names in the same folders until then, and are removed if there is an error.
    """
    outputs: Sequence[_Stream | Replaced]
    if paths is None:
        outputs = [_Text(t) for t in (("values", "indices") if len(results) == 2 else ("",))]
    else:
        token = secrets.token_hex(4)
        outputs = [_output(path, token, no_clobber) for path in paths]
        _check_different(outputs)
    _check_not_read(outputs, inputs)
    with ExitStack() as stack:
        arrays = []
        for output, result in zip(outputs, results):
            stack.callback(output.discard)
            arrays.append(output.create(result))
        try:
            yield arrays
        except BaseException as error:
            # Windows removes no file that is mapped; frames that have ended may hold arrays of it.
            arrays.clear()
            traceback.clear_frames(error.__traceback__)
            raise
        for output in outputs:
            output.complete()
        # Windows renames no file that is mapped.
        arrays.clear()
        with ignored():
            for output in outputs:
                output.appear()


def _output(path: str, token: str, no_clobber: bool) -> _Stream | Replaced:
    if path in ("-", "/dev/stdout"):
        return _Stream(path, _STDOUT)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return Replaced(path, token, no_clobber, None)
    if stat.S_ISREG(status.st_mode):
        return Replaced(path, token, no_clobber, status)
    is_null = stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.stat(os.devnull))
    if is_null or stat.S_ISFIFO(status.st_mode):
        return _Stream(path)
    raise ValueError(f"{shown(path)}: must be a file or a pipe, got a folder or a device")


def _is_same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Whether they are one file or pipe; the two directions of a device or a socket are two."""
    if one is None or other is None or not os.path.samestat(one, other):
        return False
    return stat.S_ISREG(one.st_mode) or stat.S_ISFIFO(one.st_mode)


def _check_different(outputs: Sequence[_Stream | Replaced]) -> None:
    """Files that are not there yet are compared as they are made."""
    if len(outputs) == 2 and _is_same(outputs[0].status, outputs[1].status):
        raise ValueError(
            f"output: must be different files, got {outputs[0].name} and {outputs[1].name}, which are one"
        )


def _check_not_read(outputs: Sequence[_Stream | Replaced], inputs: Sequence[Input]) -> None:
    for output in outputs:
        for source in inputs:
            if _is_same(output.status, source.status):
                raise ValueError(
                    f"output: must not be a file that is read, got {output.name}, the same file as "
                    f"{source.name}"
                )
