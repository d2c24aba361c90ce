"""The operators on files: the options of each command, and its work."""

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import dmlcpu
from dmlcpu import _core
from dmlcpu._command import _files, _progress, _slabs

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_commands"]

_EPILOG = (
    "Files are .npy files, which are mapped, so that they may be larger than the memory. An output "
    "appears once it is whole; what was there before stays until then. Exit codes: 0, 1 for work that "
    "failed, 2 for wrong options."
)


def add_commands(commands: "_Commands") -> None:
    """Adds argmax, argmin, topk and gather."""
    _add_arg(commands, "argmax", "largest")
    _add_arg(commands, "argmin", "smallest")
    _add_top_k(commands)
    _add_gather(commands)


def _add_arg(commands: "_Commands", name: str, which: str) -> None:
    parser = _add(commands, name, f"the index of the {which} element of each subset along axes")
    parser.set_defaults(run=_run_arg)
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the indices")
    parser.add_argument(
        "--axis",
        type=_axes,
        metavar="AXES",
        help="such as 1, -1, 0,2 or --axis=-2,-1; default: all axes",
    )
    _add_direction(
        parser, "increasing", "of equal elements the first (increasing) or the last", "last"
    )
    parser.add_argument(
        "--keepdims",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether reduced axes stay, with size 1 (default: they do)",
    )
    _add_order(parser)


def _add_top_k(commands: "_Commands") -> None:
    parser = _add(commands, "topk", "the k largest or smallest elements along an axis, sorted")
    parser.set_defaults(run=_run_top_k)
    parser.add_argument(
        "-o",
        "--output",
        metavar=("VALUES", "INDICES"),
        nargs=2,
        required=True,
        help="two files",
    )
    parser.add_argument("-k", type=int, required=True, help="how many")
    parser.add_argument("--axis", type=int, default=-1, help="default: the last")
    text = "the largest, largest first (decreasing), or the smallest"
    _add_direction(parser, "decreasing", text, "smallest")
    _add_order(parser)


def _add_gather(commands: "_Commands") -> None:
    parser = _add(commands, "gather", "slices at coordinates, gather_nd")
    parser.set_defaults(run=_run_gather)
    parser.add_argument("indices", help="integers, whose last dimension holds coordinates")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the slices")
    parser.add_argument(
        "--batch-dims", type=int, default=0, help="leading dimensions that both files share"
    )
    parser.add_argument(
        "--mode",
        choices=("raise", "clip"),
        default="raise",
        help="whether a coordinate out of range is an error (default) or clamped",
    )


def _add(commands: "_Commands", name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=f"Writes {text}.", epilog=_EPILOG
    )
    parser.add_argument("input", help="the elements")
    return parser


def _add_direction(
    parser: argparse.ArgumentParser, default: str, text: str, other_name: str
) -> None:
    """Adds --axis-direction, and an option for the direction that is not the default."""
    choices = ("increasing", "decreasing")
    (other,) = set(choices) - {default}
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--axis-direction", choices=choices, default=default, help=text)
    group.add_argument(
        f"--{other_name}",
        dest="axis_direction",
        action="store_const",
        const=other,
        help=f"the same as --axis-direction {other}",
    )


def _add_order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nan-policy",
        choices=("propagate", "omit"),
        default="propagate",
        help="whether NaN beats every number (default) or is passed over",
    )
    parser.add_argument(
        "--index-dtype",
        choices=("uint32", "int32", "uint64", "int64"),
        default="uint32",
        help="of the indices (default: uint32)",
    )


def _axes(text: str) -> tuple[int, ...]:
    """Axes from a list with commas; of an empty text none."""
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be integers with commas, got {text!r}") from None


def _run_arg(options: argparse.Namespace) -> None:
    names = ("axis", "axis_direction", "keepdims", "index_dtype", "nan_policy")
    function = getattr(dmlcpu, options.command)
    _run(options, function, [options.input], [options.output], names, _slabs.arg)


def _run_top_k(options: argparse.Namespace) -> None:
    names = ("k", "axis", "axis_direction", "index_dtype", "nan_policy")
    _run(options, dmlcpu.top_k, [options.input], options.output, names, _slabs.top_k)


def _run_gather(options: argparse.Namespace) -> None:
    inputs = [options.input, options.indices]
    _run(options, dmlcpu.gather_nd, inputs, [options.output], ("batch_dims", "mode"), _slabs.gather)


def _stand_ins(arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Arrays of the same shapes and rules, of one element, repeated."""
    dtypes = [array.dtype for array in arrays]
    # Narrow indices would be copied to int32, all of them.
    if dtypes[1:] and dtypes[1] in (np.int8, np.uint8, np.int16, np.uint16):
        dtypes[1] = np.dtype(np.int32)
    return [np.broadcast_to(np.zeros((), d), a.shape) for d, a in zip(dtypes, arrays)]


def _run(
    options: argparse.Namespace,
    function: Callable[..., Any],
    inputs: list[str],
    outputs: list[str],
    names: tuple[str, ...],
    work: Callable[..., Iterator[float]],
) -> None:
    """Calls `function` on files, in slabs as work() does it."""
    arrays = [_files.mapped(path) for path in inputs]
    given = {name: getattr(options, name) for name in names}
    # Every rule is checked, and the shapes of the results are known, before a file is made. No element
    # is read.
    _text, results = _core.plan(function, *_stand_ins(arrays), **given)
    results = results if isinstance(results, tuple) else (results,)
    with _files.written(outputs, results) as written:
        _progress.follow(options.command, work(function, arrays, written, given))
