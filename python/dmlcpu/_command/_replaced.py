"""An output file: mapped under another name, which is exchanged for its own once it is whole."""

import errno
import mmap
import os
import re
import stat
import subprocess
import sys
import zlib
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcpu._command._inputs import named, shown

__all__ = ["Replaced"]

# What the system does to large files is done to pieces: between two of them a signal is heard.
_PIECE_BYTES = 2**24
_PART_END = ".part"
_WAITING: list[subprocess.Popen[bytes]] = []  # for the end of this process


class Replaced:
    """A file that there may be already, whose mode and owner the new one gets."""

    def __init__(
        self, path: str, token: str, no_clobber: bool, status: os.stat_result | None
    ) -> None:
        """`status` is that of the file that is there."""
        self.name, self.status, self._no_clobber = shown(path), status, no_clobber
        # A link stays; the file that it leads to is replaced.
        self._target = os.path.realpath(path) if os.path.islink(path) else path
        if not os.path.basename(path):
            raise ValueError(f"output: must be the name of a file, got {path!r}")
        if status is not None:
            self._check_replaceable(status)
        self._token = token
        self._number: int | None = None  # of the open file
        self._pages: mmap.mmap | None = None
        self._part = f"{_part_stem(self._target)}{token}{_PART_END}"

    def create(self, result: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The mapped file, all of whose blocks are allocated: writing to a mapping of a full disk would
        end the process."""
        self._note_leftovers()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            # Nobody reads the results before who may read the file that they replace.
            with named(os.path.realpath(self._target)):
                number = os.open(self._part, flags, 0o600 if self.status else 0o666)
                self._number = number
        except FileExistsError:
            # The token is new, so that another output of this run has the name, in another spelling.
            raise ValueError(f"output: must be different files, got {self.name} for both") from None
        try:
            with open(number, "r+b", closefd=False) as file, named(os.path.realpath(self._target)):
                self._keep_mode()
                data = np.lib.format.header_data_from_array_1_0(result)
                np.lib.format.write_array_header_1_0(file, data)
                file.flush()
                offset = file.tell()
                _allocate(number, offset, result.nbytes)
                self._pages = mmap.mmap(number, offset + result.nbytes)
        except OSError as error:
            if error.errno != errno.ENOMEM:
                raise
            raise ValueError(
                f"{self.name}: its {result.nbytes} bytes must be mapped, and do not fit the address "
                "space that is left; raise the limit (ulimit -v), or divide the input"
            ) from None
        return np.ndarray(result.shape, result.dtype, self._pages, offset)

    def complete(self) -> None:
        """Waits until all is on the disk. Windows renames no file that is open."""
        assert self._pages is not None
        assert self._number is not None
        size = len(self._pages)
        for start in range(0, size, _PIECE_BYTES):
            self._pages.flush(start, min(_PIECE_BYTES, size - start))
        self._pages = None
        os.close(self._number)
        self._number = None

    def appear(self) -> None:
        if not self._no_clobber:
            os.replace(self._part, self._target)
            return
        try:
            os.link(self._part, self._target)  # which replaces nothing
        except FileExistsError:
            raise self._is_there() from None
        except OSError:  # a file system without hard links
            if os.path.lexists(self._target):
                raise self._is_there() from None
            os.rename(self._part, self._target)

    def discard(self) -> None:
        """Removes what is left of the other name, and of results that are not whole. Windows removes no
        file that is open."""
        if self._number is not None:
            if self._pages is not None and len(self._pages) > _PIECE_BYTES:
                _free_later(self._number)
            self._pages = None
            os.close(self._number)
        with suppress(OSError):
            os.unlink(self._part)

    def _check_replaceable(self, status: os.stat_result) -> None:
        if self._no_clobber:
            raise self._is_there()
        if not os.path.exists(self._target) or not os.path.samestat(os.stat(self._target), status):
            raise ValueError(f"{self.name}: must have a name, got a file that was removed")
        if not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self._target)

    def _is_there(self) -> ValueError:
        return ValueError(
            f"{self.name}: must be a new file with --no-clobber, got one that is there"
        )

    def _keep_mode(self) -> None:
        if self.status is None:
            return
        if hasattr(os, "chown"):
            with suppress(OSError):  # only an administrator gives files away
                os.chown(self._part, self.status.st_uid, self.status.st_gid)
        os.chmod(self._part, stat.S_IMODE(self.status.st_mode))

    def _note_leftovers(self) -> None:
        """Names the parts of other runs. They may be at work, so that nothing is removed."""
        folder, stem = os.path.split(_part_stem(self._target))
        pattern = f"{re.escape(stem)}(?!{self._token})[0-9a-f]{{8}}{re.escape(_PART_END)}"
        with suppress(OSError), os.scandir(folder or os.curdir) as entries:
            for name in sorted(e.name for e in entries if re.fullmatch(pattern, e.name)):
                print(
                    f"note: {shown(os.path.join(folder, name))} is left of a run that was killed, unless "
                    "that is still at work; remove it",
                    file=sys.stderr,
                )


def _part_stem(target: str) -> str:
    """What parts of `target` begin with, before a token of 8 digits and the end. Names that would be too
    long for the folder are cut, and told apart by a checksum."""
    folder, name = os.path.split(target)
    limit = 255
    if hasattr(os, "pathconf"):
        with suppress(OSError):
            limit = os.pathconf(folder or os.curdir, "PC_NAME_MAX")
    mark = ".dmlcpu-"
    limit -= len(mark) + 8 + len(_PART_END)
    if len(os.fsencode(name)) > limit:
        mark = f"-{zlib.crc32(os.fsencode(name)):08x}{mark}"
        while len(os.fsencode(name)) > limit - 9:
            name = name[:-1]
    return os.path.join(folder, name + mark)


def _allocate(number: int, start: int, size: int) -> None:
    """Gives a file its blocks, from `start` on, where it ends."""
    for at in range(start, start + size, _PIECE_BYTES):
        piece = min(_PIECE_BYTES, start + size - at)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(number, at, piece)
        else:
            os.lseek(number, at, os.SEEK_SET)
            zeros = memoryview(bytes(piece))
            while zeros:
                zeros = zeros[os.write(number, zeros) :]


def _free_later(number: int) -> None:
    """Leaves the blocks of a removed file, which take long to be freed, to a process that has it open
    until this one has ended."""
    if os.name == "posix":
        nothing = subprocess.DEVNULL
        with suppress(OSError):
            _WAITING.append(
                subprocess.Popen(
                    ["cat"], stdin=subprocess.PIPE, stdout=nothing, stderr=nothing,
                    pass_fds=[number], start_new_session=True,
                )
            )  # fmt: skip
