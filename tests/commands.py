"""The command line, called in this process."""

import os

import numpy as np

from dmlcpu import _command


def run(*arguments):
    return _command.main([str(argument) for argument in arguments])


def succeeds(*arguments):
    assert run(*arguments) == 0


def fails(capsys, text, *arguments):
    """One row on stderr, and no file but those that were there, as they were."""

    def files():
        return {path: os.lstat(path).st_mtime_ns for path in os.listdir()}

    before = files()
    assert run(*arguments) == 1
    assert capsys.readouterr().err == f"python -m dmlcpu {arguments[0]}: error: {text}\n"
    assert files() == before


def equal(file, want):
    got = np.load(file)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
