"""The command line: options, exit codes, signals."""

import argparse
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import dmlcpu
from dmlcpu import _core
from dmlcpu._command import _bench, _operators
from dmlcpu._command._inputs import shown
from dmlcpu._command._signals import Interrupted, interruptible

__all__ = ["main", "program"]


def program(name: str = "dmlcpu") -> int:
    """The process of the command line, by the name that it was started by."""
    _open_standard_files()
    try:
        code = main(sys.argv[1:], name)
    except SystemExit as end:  # the parser's, which printed a help, the version or an error
        code = int(end.code or 0)
    try:
        sys.stdout.flush()
    except OSError as error:
        if code == 0:
            print(f"{name}: error: standard output: {error.strerror}", file=sys.stderr)
        code = code or 1
        # What is left must not be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if threading.active_count() > 1:
        # Work that a signal ended, in a call that takes long: nothing that it uses may be taken down.
        sys.stderr.flush()
        os._exit(code)
    return code


def _open_standard_files() -> None:
    """Standard files that are closed are opened so that using them fails: an output file must not get the
    number of one, to which others write."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if os.name == "nt" and isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        # As Python does from 3.15 on: a code page may lack letters of a folder's name.
        sys.stdout.reconfigure(encoding="utf-8")


def main(arguments: Sequence[str], name: str = "python -m dmlcpu") -> int:
    """Runs a command line; 0 if it did its work, 1 if that failed, 2 for wrong options, and 128 and
    the signal's number where one ended it."""
    options = _parser(name).parse_args(arguments)
    title = " ".join(filter(None, (name, options.command)))
    try:
        with interruptible():
            options.run(options)
    except Interrupted as interrupted:
        number: int = interrupted.args[0]
        print(f"{title}: ended by {signal.Signals(number).name}", file=sys.stderr)
        return 128 + number
    except (OSError, MemoryError, TypeError, ValueError, IndexError) as error:
        print(f"{title}: error: {_text(error, options)}", file=sys.stderr)
        return 1
    return 0


def _show(options: argparse.Namespace) -> None:
    """The command without a command's name."""
    if options.place is None:
        dmlcpu.show_config()
    else:
        print(options.place)


def _text(error: Exception, options: argparse.Namespace) -> str:
    """One row, which names files beside the arguments that the operators know."""
    if isinstance(error, OSError) and error.strerror:
        file = error.filename
        return error.strerror if file is None else f"{shown(file)}: {error.strerror}"
    text = " ".join((str(error) or "out of memory").split("\n"))
    argument, colon, rest = text.partition(": ")
    if argument in ("input", "indices"):
        return f"{argument} ({shown(getattr(options, argument))}){colon}{rest}"
    return text


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=name,
        description="Without arguments: how dmlcpu was built and runs here, as dmlcpu.show_config().",
    )
    parser.set_defaults(run=_show, place=None)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--version", action="version", version=f"dmlcpu {_core.__version__}")
    # Where CMake installed everything: in an editable install not where the Python sources are.
    folder = Path(_core.__file__).parent
    for option, place, text in (
        ("--cmake-dir", "lib/cmake/dmlcpu",
         "the folder for CMake: -Ddmlcpu_DIR=$(python -m dmlcpu --cmake-dir)"),
        ("--pkg-config-dir", "lib/pkgconfig",
         "the folder for pkg-config: PKG_CONFIG_PATH=$(python -m dmlcpu --pkg-config-dir)"),
        ("--include-dir", "include", "the folder of the headers"),
    ):  # fmt: skip
        which.add_argument(
            option, action="store_const", dest="place", const=folder / place, help=text
        )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", help="each has a --help of its own"
    )
    _operators.add_commands(commands)
    _bench.add_command(commands)
    return parser
