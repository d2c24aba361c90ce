"""What PyTorch's compiler leaves alone: functions that it would trace with tensors that have no memory.

It compiles every Python function that a program compiled by it calls, also by way of an extension
module. Once PyTorch is imported, which is not for this package to do, it can be told to leave a function
alone with all that it calls.
"""

from collections.abc import Callable
from contextlib import suppress
from sys import modules
from typing import Any, TypeVar

__all__ = ["Entry", "untraced"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_waiting: list[Any] = []  # code of functions of which PyTorch was not told yet


def untraced(function: _Function) -> _Function:
    """`function`, at which programs that torch.compile traces break their graph and run it."""
    function._torchdynamo_disable = True  # type: ignore[attr-defined]  # where its callers are traced
    _waiting.append(function.__code__)
    _tell()
    return function


def _tell() -> None:
    """Tells PyTorch's compiler, once it is there, of functions to leave alone."""
    compiler: Any = modules.get("torch._C._dynamo.eval_frame")
    if not hasattr(compiler, "_FrameAction"):  # not there yet, or too old for dmlcpu.torch
        return
    skip = compiler._FrameAction.SKIP
    with suppress(IndexError):  # none is left; other threads take some as well
        while True:
            code = _waiting.pop()
            compiler.set_code_exec_strategy(code, compiler._FrameExecStrategy(skip, skip))


class Entry:
    """A function by which tensors come in; PyTorch's compiler is told before it is called.

    The compiler leaves alone what sees no tensor, as the property here that gives what is called.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = untraced(function)

    @property
    def __call__(self) -> Callable[..., Any]:
        if _waiting and "torch" in modules:
            _tell()
        return self.function
