"""How calls are made: at once, by PyTorch's dispatcher or by torch's own function; checks, `out`."""

import itertools
import operator as operators
from typing import Any

import numpy as np
import torch
from torch import Tensor, is_grad_enabled
from torch._C import (
    _dispatch_keys,
    _get_tracing_state,
    _len_torch_dispatch_stack,
    _len_torch_function_stack,
)
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from dmlcpu._libraries import storage_lack
from dmlcpu.torch._kernels import pays, run_core
from dmlcpu.torch._registered import (
    GATHERS,
    INDICES,
    INDICES_ALONE,
    OWN,
    PAIRS,
    PARAMETERS,
    check_gather,
    on_cpu,
)

__all__ = ["NoValue", "call", "elementwise", "one"]

NoValue: Any = np._NoValue  # that nothing was given


def one(value: Any, default: Any, other: Any, name: str) -> Any:
    """The value of a parameter that has a second name; not both may be given."""
    if other is None:
        return value
    if value is not default:
        raise TypeError(f"{name}: must be given once, got {value!r} in its place as well")
    return other


def elementwise(name: str, input: Any, other: Any, keepdim: Any, out: Any) -> Any:
    """The overloads of torch.max, min and medians without a dim, which are torch's own."""
    if keepdim is not False:
        raise TypeError("keepdim: must not be given without a dim")
    args = (input,) if other is NoValue else (input, other)
    return OWN[name](*args) if out is None else OWN[name](*args, out=out)


def call(name: str, args: tuple[Any, ...], out: Any) -> Any:
    result = _at_once(name, args, out)
    if result is None:
        outs = out if isinstance(out, (tuple, list)) else (out,)
        foreign = any(_is_foreign(arg) for arg in (*args, *outs))
        if foreign and name != "gather_nd":
            return _as_given(name, args, {} if out is None else {"out": out})
        operator = getattr(torch.ops.dmlcpu, name).default
        if not foreign:
            args = _checked(name, args)
        elif all(isinstance(arg, Tensor) for arg in args[:2]):
            operator = OWN[name]
        result = operator(*args) if out is None else _write(name, operator, args, out)
    return PAIRS[name](result) if name in PAIRS else result


_DEFAULTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("argmax", "argmin"), (None, False)),
    **dict.fromkeys(("max", "min", "median", "nanmedian"), (False,)),
    "topk": (-1, True, True),
    **dict.fromkeys(("sort", "argsort"), (-1, False, False)),
    "msort": (0,),
    "kthvalue": (-1, False),
    "index_select": (),
}


def _as_given(name: str, args: tuple[Any, ...], out: dict[str, Any]) -> Any:
    """Torch's own function, which is told no defaults: those of another class may be others."""
    required = len(args) - len(_DEFAULTS[name])
    optional = zip(_PARAMETERS[name][required:], args[required:], _DEFAULTS[name])
    given = {
        parameter: value for (_, parameter), value, default in optional if value is not default
    }
    return getattr(torch, name)(*args[:required], **given, **out)


def _is_foreign(arg: Any) -> bool:
    """Whether torch's functions leave such an argument to its own class or layout.

    That is so of what has a protocol of its own, except the tensors by which PyTorch traces programs,
    and of sparse and nested tensors.
    """
    kind = type(arg)
    if kind is Tensor or not hasattr(kind, "__torch_function__"):
        return kind is Tensor and (arg.layout is not torch.strided or arg.is_nested)
    if not issubclass(kind, Tensor):
        return True
    function, dispatch = kind.__torch_function__, kind.__torch_dispatch__
    return (
        getattr(function, "__func__", function) not in _FUNCTIONS
        or not (dispatch is _DISPATCH or hasattr(kind, "_mode_key"))
        or arg.layout is not torch.strided
        or arg.is_nested
    )


_of_tensors: Any = Tensor.__torch_function__
_FUNCTIONS = (torch._C._disabled_torch_function_impl, _of_tensors.__func__)
_DISPATCH = torch._C._disabled_torch_dispatch_impl

# Kinds of parameters: in words, the types that fit as they are, and those of nearly all calls.
_KINDS: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    "Tensor": ("a torch.Tensor", (Tensor,), (Tensor,)),
    "bool": ("a bool", (bool,), (bool,)),
    "bool?": ("a bool", (bool, type(None)), (bool, type(None))),
    "int": ("an int", (int, torch.SymInt), (int,)),
    "int?": ("an int", (int, torch.SymInt, type(None)), (int, type(None))),
}
_PARAMETERS = {
    name: [part.split() for part in text.replace("SymInt", "int").split(", ")]
    for name, text in PARAMETERS.items()
}
_USUAL = {
    (name, *types)
    for name, parameters in _PARAMETERS.items()
    for types in itertools.product(*(_KINDS[kind][2] for kind, _ in parameters))
}


# Those that torch has not, or of which it does not promise which of equal elements is found.
_CORES = ("topk", "kthvalue", "median", "nanmedian", "gather_nd")


def _at_once(name: str, args: tuple[Any, ...], out: Any) -> Any:
    """The result of a call that need not go through the dispatcher; None of others and of wrong ones.

    PyTorch spends more time on operators in Python than a small call takes.
    """
    if is_compiling() or (name, *map(type, args)) not in _USUAL:
        return None
    try:
        if out is None and name not in _CORES and not pays(name, args):
            if storage_lack(args[0]):
                return None
            return OWN[name](*args)
        if out is None and _plain(name, args):
            return on_cpu(name, *args)
        if name in GATHERS and type(out) is Tensor and _plain(name, (*args, out)):
            return run_core(name, *args, out=out)
    except Exception:  # of whatever kind; checks will say what is wrong
        return None
    return None


_MAKERS = (torch.empty, torch.inference_mode()(torch.empty))
_KEYS = [_dispatch_keys(make(0, device="cpu")) for make in _MAKERS]


def _plain(name: str, args: tuple[Any, ...]) -> bool:
    """Whether the dispatcher would run the CPU's kernel and nothing else.

    That is so without modes, traces, transforms and gradients, for the CPU's own kind of tensors.
    """
    modes = _len_torch_dispatch_stack() or _len_torch_function_stack()
    if modes or _get_tracing_state() or forward_ad._current_level >= 0:
        return False
    gradients = is_grad_enabled() and name not in INDICES_ALONE
    for arg in args:
        if type(arg) is Tensor and (  # isinstance takes longer
            _dispatch_keys(arg) not in _KEYS or (gradients and arg.requires_grad)
        ):
            return False
    return True


def _write(name: str, operator: Any, args: tuple[Any, ...], out: Any) -> Any:
    """The results in the tensors of `out`; as in torch, those of another shape are resized."""
    tensors = tuple(out) if name in PAIRS and isinstance(out, (tuple, list)) else (out,)
    if len(tensors) != 1 + (name in PAIRS) or not all(isinstance(to, Tensor) for to in tensors):
        kind = "a pair of tensors" if name in PAIRS else "a torch.Tensor"
        raise TypeError(f"out: must be {kind}, got {type(out).__name__}")
    gradients = is_grad_enabled() and name not in INDICES_ALONE
    if gradients and any(t.requires_grad for t in (args[0], *tensors)):
        raise RuntimeError("out: must be None where gradients are wanted, got tensors")
    if not is_compiling():
        _check_memory(name, args, tensors)
    results = operator(*args) if name in PAIRS else (operator(*args),)
    for to, result in zip(tensors, results):
        if to.dtype != result.dtype:
            raise RuntimeError(f"out: must be of dtype {result.dtype}, got {to.dtype}")
        if any(step == 0 and size > 1 for size, step in zip(to.shape, to.stride())):
            raise RuntimeError(f"out: must not overlap itself, got strides {to.stride()}")
    for to, result in zip(tensors, results):
        torch.alias_copy(result, out=to)  # which warns as functions of Python do where it resizes
    return out


def _check_memory(name: str, args: tuple[Any, ...], tensors: tuple[Tensor, ...]) -> None:
    """An error of outputs that their storage does not hold, or that share memory with an argument.

    PyTorch would write past the end of the storage. Sorts, argmax and argmin may write to memory of
    their input, as in torch: programs sort in place.
    """
    for to in filter(_in_memory, tensors):
        if lack := storage_lack(to):
            raise RuntimeError(f"out: {lack}")
    if name in _IN_PLACE:
        return
    for (_, parameter), arg in zip(_PARAMETERS[name], args):
        if isinstance(arg, Tensor) and any(_overlap(arg, to) for to in tensors):
            raise RuntimeError(
                f"out: must share no memory with {parameter}, got a tensor that does"
            )


_IN_PLACE = (*INDICES_ALONE, "sort", "msort")


def _in_memory(tensor: Tensor) -> bool:
    """Whether a storage of the tensor's own holds the elements, not another tensor or a trace."""
    return _dispatch_keys(tensor) in _KEYS or (
        type(tensor).__torch_dispatch__ is _DISPATCH
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        and tensor.layout is torch.strided
        and not tensor.is_nested
    )


def _overlap(a: Tensor, b: Tensor) -> bool:
    """Whether the tensors share memory by torch's rule, which does not see it in tensors with gaps."""
    if a is b or not (_in_memory(a) and _in_memory(b)):
        return a is b
    if a.untyped_storage()._cdata != b.untyped_storage()._cdata:
        return False
    starts = [tensor.storage_offset() * tensor.itemsize for tensor in (a, b)]
    ends = [start + tensor.nbytes for start, tensor in zip(starts, (a, b))]
    dense = torch.ops.aten.is_non_overlapping_and_dense.default
    return dense(a) and dense(b) and max(starts) < min(ends)


def _checked(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with integers of every type as int; wrong ones are an error."""
    given = {}
    for (kind, parameter), value in zip(_PARAMETERS[name], args):
        text, types, _ = _KINDS[kind]
        if "int" in kind and not isinstance(value, types):
            value = _as_int(value)
        if not isinstance(value, types) or (isinstance(value, bool) and "bool" not in kind):
            raise TypeError(f"{parameter}: must be {text}, got {type(value).__name__}")
        given[parameter] = value
    _check_values(name, given)
    return tuple(given.values())


def _as_int(value: Any) -> Any:
    """An integer of another type, such as a tensor of one element, as int; all else as it is."""
    if isinstance(value, Tensor):
        return value.item() if value.dtype in INDICES and value.numel() == 1 else value
    try:
        return operators.index(value)
    except TypeError:
        return value


def _check_values(name: str, given: dict[str, Any]) -> None:
    input, batch_dims = given["input"], given.get("batch_dims", 0)
    if isinstance(batch_dims, int) and abs(batch_dims) >= 2**63:  # more than the dispatcher takes
        indices = given["indices"]
        check_gather(input.shape, indices.shape, indices.dtype, batch_dims)
    if "dim" not in given:
        return
    dim, k, least = given["dim"], given.get("k", 1), int(name == "kthvalue")
    if name in ("argmax", "argmin") and input.dtype in _UNORDERED:
        return  # for torch, that is what is wrong first
    dims = input.dim() or 1  # a tensor without dimensions counts as having one
    if dim is not None and not -dims <= dim < dims:
        raise IndexError(f"dim: must be in [{-dims}, {dims - 1}], got {dim}")
    if is_compiling():
        return
    size = input.numel() if dim is None or not input.dim() else input.shape[dim]
    if type(size) is not int or isinstance(k, torch.SymInt):
        return  # traced or symbolic: the operator checks it
    if "keepdim" in given and size == 0:
        raise IndexError(f"dim: must have at least 1 element, got dim {dim} of size 0")
    if "k" in given and not least <= k <= size:
        raise RuntimeError(f"k: must be in [{least}, {size}] (the size of dim {dim}), got {k}")


_UNORDERED = (torch.bool, torch.complex64, torch.complex128, torch.complex32)
