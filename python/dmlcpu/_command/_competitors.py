"""Other libraries' calls for the works of the benchmark.

Each function takes a work and its tensors and returns a call without arguments, or None where the
library has none; what has to be made once is made outside the call.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import dmlcpu

__all__ = ["LIBRARIES", "Call", "Work", "installed"]

Call = Callable[[], Any]


@dataclass
class Work:
    """What is measured: "argmax" or "top_k" of `x` along `axis`, or "gather" of `rows` of it."""

    operator: str
    x: npt.NDArray[Any]
    axis: int = 0
    k: int = 0
    rows: Any = None


def _dmlcpu(_module: ModuleType, w: Work) -> Call:
    if w.operator == "gather":
        tuples = w.rows[:, None]
        return lambda: dmlcpu.gather_nd(w.x, tuples)
    if w.operator == "top_k":
        return lambda: dmlcpu.top_k(w.x, w.k, axis=w.axis)
    return lambda: dmlcpu.argmax(w.x, w.axis, keepdims=False)


def _numpy(_module: ModuleType, w: Work) -> Call:
    x, axis = w.x, w.axis
    if w.operator == "gather":
        return lambda: np.take(x, w.rows, 0)
    if w.operator == "argmax":
        return lambda: np.argmax(x, axis)

    def top_k() -> tuple[Any, Any]:
        n = x.shape[axis]
        best = np.take(np.argpartition(x, n - w.k, axis), np.arange(n - w.k, n), axis)
        values = np.take_along_axis(x, best, axis)
        order = np.flip(np.argsort(values, axis), axis)
        return np.take_along_axis(values, order, axis), np.take_along_axis(best, order, axis)

    return top_k


def _torch(torch: ModuleType, w: Work) -> Call:
    torch.set_num_threads(dmlcpu.get_num_threads())
    t = torch.from_numpy(w.x)
    if w.operator == "gather":
        rows = torch.from_numpy(w.rows)
        return lambda: torch.index_select(t, 0, rows)
    if w.operator == "top_k":
        return lambda: torch.topk(t, w.k, w.axis)
    return lambda: torch.argmax(t, w.axis)


def _onnxruntime(runtime: ModuleType, w: Work) -> Call | None:
    try:
        from onnx import helper
    except ImportError:  # which makes the models
        return None
    kind = helper.np_dtype_to_tensor_dtype(w.x.dtype)
    inputs = [helper.make_tensor_value_info("x", kind, w.x.shape)]
    feed = {"x": w.x}
    integers = helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
    constants = []
    if w.operator == "gather":
        node = helper.make_node("Gather", ["x", "rows"], ["y"], axis=0)
        inputs.append(helper.make_tensor_value_info("rows", integers, w.rows.shape))
        feed["rows"], names, kinds = w.rows, ["y"], [kind]
    elif w.operator == "top_k":
        node = helper.make_node("TopK", ["x", "k"], ["v", "y"], axis=w.axis)
        constants = [helper.make_tensor("k", integers, [1], [w.k])]
        names, kinds = ["v", "y"], [kind, integers]
    else:
        node = helper.make_node("ArgMax", ["x"], ["y"], axis=w.axis, keepdims=0)
        names, kinds = ["y"], [integers]
    outputs = [helper.make_tensor_value_info(n, k, None) for n, k in zip(names, kinds)]
    graph = helper.make_graph([node], "work", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = dmlcpu.get_num_threads()
    options.log_severity_level = 4
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    results = slice(None) if w.operator == "top_k" else 0
    return lambda: session.run(None, feed)[results]


def _jax(jax: ModuleType, w: Work) -> Call:
    x = jax.numpy.asarray(w.x)
    if w.operator == "gather":
        rows = jax.numpy.asarray(w.rows)
        take = jax.jit(lambda a, r: jax.numpy.take(a, r, axis=0))
        return lambda: take(x, rows).block_until_ready()
    if w.operator == "top_k":
        top_k = jax.jit(lambda a: jax.lax.top_k(a, w.k, axis=w.axis))
        return lambda: jax.block_until_ready(top_k(x))
    argmax = jax.jit(lambda a: jax.numpy.argmax(a, w.axis))
    return lambda: argmax(x).block_until_ready()


def _polars(polars: ModuleType, w: Work) -> Call | None:
    if w.x.ndim > 1 or w.operator == "top_k":
        return None
    series = polars.Series(w.x)
    if w.operator == "argmax":
        return lambda: series.arg_max()
    rows = polars.Series(w.rows)
    return lambda: series.gather(rows)


def _bottleneck(bottleneck: ModuleType, w: Work) -> Call | None:
    if w.operator != "argmax" or w.x.itemsize < 4:
        return None
    return lambda: bottleneck.nanargmax(w.x, w.axis)


# Names for people, the modules that are imported, and what makes a call.
LIBRARIES: dict[str, tuple[str, Callable[[ModuleType, Work], Call | None]]] = {
    "dmlcpu": ("dmlcpu", _dmlcpu),
    "NumPy": ("numpy", _numpy),
    "PyTorch": ("torch", _torch),
    "ORT": ("onnxruntime", _onnxruntime),
    "JAX": ("jax", _jax),
    "polars": ("polars", _polars),
    "bottleneck": ("bottleneck", _bottleneck),
}


def installed() -> dict[str, ModuleType]:
    """The libraries that are there, imported."""
    modules = {}
    for name, (module, _) in LIBRARIES.items():
        try:
            modules[name] = importlib.import_module(module)
        except Exception:  # missing, or broken in whatever way
            continue
    return modules
