"""Arrays that begin or end at a page that nobody may touch: what reads or writes beyond one crashes."""

import ctypes
import math
import mmap

import numpy as np

PROT_NONE = 0


class GuardedMemory:
    """Writable memory between two inaccessible pages."""

    def __init__(self, least_bytes):
        page = mmap.PAGESIZE
        pages = -(-least_bytes // page)
        self._memory = mmap.mmap(-1, (pages + 2) * page)
        self._first = page
        self._last = (pages + 1) * page
        self._protect(0)
        self._protect(self._last)

    def _protect(self, offset):
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        libc = ctypes.CDLL(None, use_errno=True)
        guard, size = ctypes.c_void_p(begin + offset), ctypes.c_size_t(mmap.PAGESIZE)
        if libc.mprotect(guard, size, PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")

    def protect_every_other_page(self):
        """Makes the second page inaccessible, the fourth, and so on."""
        for offset in range(self._first + mmap.PAGESIZE, self._last, 2 * mmap.PAGESIZE):
            self._protect(offset)

    def array(self, shape, dtype, at_end, strides=None):
        """An array, with strides in elements, that lies at the end of the memory or its begin."""
        strides = c_strides(shape) if strides is None else strides
        size = dtype.itemsize
        span = sum((n - 1) * abs(stride) for n, stride in zip(shape, strides)) + 1
        lowest = self._last - span * size if at_end else self._first
        if lowest < self._first or self._first + span * size > self._last:
            raise ValueError(f"{span} elements of {dtype} do not fit")
        first = lowest - sum((n - 1) * min(stride, 0) for n, stride in zip(shape, strides)) * size
        return np.ndarray(shape, dtype, self._memory, first, [stride * size for stride in strides])


def c_strides(shape):
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def layouts(rows, columns):
    """Strides of a matrix: contiguous, reversed, padded, strided, transposed."""
    yield columns, 1
    yield columns, -1
    yield -columns, 1
    yield columns + 3, 1
    yield 2 * columns, 2
    yield -5 * columns, -5
    yield 1, rows
    yield -1, -(rows + 1)
