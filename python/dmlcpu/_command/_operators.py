"""The operators on files: the options of each command, and its work."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import dmlcpu
from dmlcpu import _core
from dmlcpu._command import _inputs, _outputs, _progress, _slabs
from dmlcpu._command._signals import aside

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_commands"]

_EPILOG = (
    "Files are .npy files, which are mapped, so that they may be larger than the memory; pipes are read "
    "into it, and - is standard input or output. An output appears once it is whole; what was there "
    "before stays until then. It is never a file that is read. Exit codes: 0, 1 for work that failed, "
    "2 for wrong options."
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
    _add_output(parser, "OUT", help="the indices")
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
    _add_order(parser, INDEX_DTYPES + NARROW_INDEX_DTYPES)


def _add_top_k(commands: "_Commands") -> None:
    parser = _add(commands, "topk", "the k largest or smallest elements along an axis, sorted")
    parser.set_defaults(run=_run_top_k)
    _add_output(parser, ("VALUES", "INDICES"), nargs=2, help="two files")
    parser.add_argument("-k", type=int, required=True, help="how many")
    parser.add_argument("--axis", type=int, default=-1, help="default: the last")
    text = "the largest, largest first (decreasing), or the smallest"
    _add_direction(parser, "decreasing", text, "smallest")
    _add_order(parser, INDEX_DTYPES)


def _add_gather(commands: "_Commands") -> None:
    parser = _add(commands, "gather", "slices at coordinates, gather_nd")
    parser.set_defaults(run=_run_gather)
    parser.add_argument("indices", help="integers, whose last dimension holds coordinates")
    _add_output(parser, "OUT", help="the slices")
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
    parser.add_argument(
        "--bfloat16",
        action="store_true",
        help="the elements are bfloat16, which NumPy writes as |V2 (needs ml_dtypes)",
    )
    return parser


def _add_output(
    parser: argparse.ArgumentParser, metavar: Any, help: str, nargs: int | None = None
) -> None:
    text = f"{help}; without it, up to {_outputs.PRINTED} are printed"
    parser.add_argument("-o", "--output", metavar=metavar, nargs=nargs, help=text)
    parser.add_argument(
        "--no-clobber", action="store_true", help="fail where there is an output already"
    )


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


INDEX_DTYPES = ("uint32", "int32", "uint64", "int64")
NARROW_INDEX_DTYPES = ("uint8", "int8", "uint16", "int16")


def _add_order(parser: argparse.ArgumentParser, index_dtypes: tuple[str, ...]) -> None:
    parser.add_argument(
        "--nan-policy",
        choices=("propagate", "omit"),
        default="propagate",
        help="whether NaN beats every number (default) or is passed over",
    )
    parser.add_argument(
        "--index-dtype",
        choices=index_dtypes,
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
    _run(options, function, [options.input], names, _slabs.arg)


def _run_top_k(options: argparse.Namespace) -> None:
    names = ("k", "axis", "axis_direction", "index_dtype", "nan_policy")
    _run(options, dmlcpu.top_k, [options.input], names, _slabs.top_k)


def _run_gather(options: argparse.Namespace) -> None:
    inputs = [options.input, options.indices]
    if all(path in _inputs.STANDARD_INPUT for path in inputs):
        raise ValueError("indices: must be a file where the input is standard input, got the same")
    _run(options, dmlcpu.gather_nd, inputs, ("batch_dims", "mode"), _slabs.gather)


def _stand_ins(inputs: Sequence[_inputs.Input]) -> list[npt.NDArray[Any]]:
    """Arrays of the same shapes and rules, of one element, repeated."""
    dtypes = [source.dtype for source in inputs]
    # Narrow indices would be copied to int32, all of them.
    if dtypes[1:] and dtypes[1] in (np.int8, np.uint8, np.int16, np.uint16):
        dtypes[1] = np.dtype(np.int32)
    return [source.stand_in(dtype) for source, dtype in zip(inputs, dtypes)]


def _run(
    options: argparse.Namespace,
    function: Callable[..., Any],
    paths: list[str],
    names: tuple[str, ...],
    work: Callable[..., Iterator[float]],
) -> None:
    """Calls `function` on files, in slabs as work() does it."""
    given = {name: getattr(options, name) for name in names}
    outputs = [options.output] if isinstance(options.output, str) else options.output
    with ExitStack() as stack:
        inputs = [
            stack.enter_context(_inputs.opened(path, options.bfloat16 and path is paths[0]))
            for path in paths
        ]
        # Every rule is checked, and the shapes of the results are known, before a file is made. No
        # element is read.
        _text, results = _core.plan(function, *_stand_ins(inputs), **given)
        results = results if isinstance(results, tuple) else (results,)
        written = _outputs.written(outputs, results, inputs, options.no_clobber)
        arrays = stack.enter_context(written)
        slabs = work(function, [source.array() for source in inputs], arrays, given)
        steps = stack.enter_context(closing(aside(slabs)))
        _progress.follow(options.command, steps)
