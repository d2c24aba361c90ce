"""What the tests of the door for PyTorch share: inputs, PyTorch's own samples, what is equal."""

import copy

import pytest
import torch

DTYPES = ["float32", "float16", "float64", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]
SEARCHES = ["argmax", "argmin", "max", "min", "topk", "gather_nd", "index_select"]
SORTS = ["sort", "argsort", "kthvalue", "median", "nanmedian"]
NAMES = SEARCHES + SORTS
X = torch.tensor([[[3, 1, 3], [0, 3, 1]], [[2, 2, 0], [1, 3, 2]]])  # 2 x 2 x 3, with ties
AT = torch.tensor([[0, 1], [-1, -2]])
ROWS = torch.tensor([1, 0, 1])
ARGUMENTS = {
    "argmax": (1,),
    "argmin": (-1, True),
    "max": (0,),
    "min": (-2, True),
    "topk": (2, 2, False),
    "gather_nd": (AT,),
    "index_select": (0, ROWS),
    "sort": (1, True),
    "argsort": (0,),
    "kthvalue": (2, 2, True),
    "median": (1,),
    "nanmedian": (-1, True),
}


def tensors(result):
    return result if isinstance(result, tuple) else (result,)


def same(got, want):
    """Equal in type, shape, dtype, strides and every element."""
    assert type(got) is type(want)
    for a, b in zip(tensors(got), tensors(want), strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def same_outcomes(call, scope, modules):
    """A call by torch and by the door gives equal tensors, or errors of the same type."""
    outcomes = []
    for module in modules:
        try:
            names = {"torch": torch, "module": module}
            outcomes.append(eval(f"module.{call}", copy.deepcopy(scope) | names))
        except Exception as error:
            outcomes.append(type(error))
    want, got = outcomes
    if isinstance(want, type):
        assert got is want
        return
    for a, b in zip(tensors(got), tensors(want), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def _tested(name):
    """PyTorch's own tests of a function."""
    module = "torch.testing._internal.common_methods_invocations"  # needs expecttest
    database = pytest.importorskip(module, exc_type=ImportError).op_db
    variant = "reduction_with_dim" if name in ("max", "min") else ""
    return next(op for op in database if (op.name, op.variant_test_name) == (name, variant))


def samples(name, dtype, requires_grad=False):
    """PyTorch's own sample inputs of a function: (input, arguments, keywords)."""
    op = _tested(name)
    if dtype in op.supported_dtypes("cpu"):
        for sample in op.sample_inputs("cpu", dtype, requires_grad=requires_grad):
            yield sample.input, sample.args, sample.kwargs


def error_samples(name):
    """PyTorch's own inputs that are errors: (kind of error, input, arguments, keywords)."""
    op = _tested(name)
    for error in op.error_inputs("cpu") if op.error_inputs_func else ():
        sample = error.sample_input
        yield error.error_type, sample.input, sample.args, sample.kwargs


def agree(name, got, want, input, args):
    """As `same`, but for which of equal elements was found."""
    if name == "index_select":
        same(got, want)
        return
    assert type(got) is type(want)
    if name == "topk" and args[3:4] == (False,):  # in any order
        want = torch.return_types.topk((want.values.sort(args[1]).values, want.indices))
        got = torch.return_types.topk((got.values.sort(args[1]).values, got.indices))
    dim = args[1] if name == "topk" and len(args) > 1 else -1 if name == "topk" else None
    if name != "topk" and args:
        dim = args[0]
    same(tensors(got)[:-1], tensors(want)[:-1])
    a, b = tensors(got)[-1], tensors(want)[-1]
    assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    if dim is None:
        input, a, b, dim = input.flatten(), a.flatten(), b.flatten(), 0
    elif a.dim() < input.dim():
        a, b = a.unsqueeze(dim), b.unsqueeze(dim)
    found, wanted = input.gather(dim, a), input.gather(dim, b)
    if name == "topk":
        found, wanted = found.sort(dim).values, wanted.sort(dim).values
    same(found, wanted)
