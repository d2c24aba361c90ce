"""The command line: options, exit codes, signals."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import dmlcpu
from dmlcpu import _core
from dmlcpu._command import _bench, _operators
from dmlcpu._command._signals import Interrupted, interruptible

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Runs a command line; 0 if it did its work, 1 if that failed, 2 for wrong options, and 128 and
    the signal's number where one ended it."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        if options.place is None:
            dmlcpu.show_config()
        else:
            print(options.place)
        return 0
    try:
        with interruptible():
            options.run(options)
    except Interrupted as interrupted:
        number: int = interrupted.args[0]
        print(f"{_name(options)}: ended by {signal.Signals(number).name}", file=sys.stderr)
        return 128 + number
    except (OSError, MemoryError, TypeError, ValueError, IndexError) as error:
        print(f"{_name(options)}: error: {_text(error)}", file=sys.stderr)
        return 1
    return 0


def _name(options: argparse.Namespace) -> str:
    return f"python -m dmlcpu {options.command}"


def _text(error: Exception) -> str:
    """One row."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join((str(error) or "out of memory").split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dmlcpu",
        description="Without arguments: how dmlcpu was built and runs here, as dmlcpu.show_config().",
    )
    parser.set_defaults(place=None)
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
