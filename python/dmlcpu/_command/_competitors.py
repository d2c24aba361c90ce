"""The libraries that are measured, each called in the way that is best for it; their answers compared.

The function of a library takes its module, a workload and the workload's tensors. It returns a call
without arguments, or None where the library cannot do the work. Tensors of the library's own type and
compiled models are made outside the call; what the call makes, its results included, is inside. Calls
return the indices of argmin and argmax, (values, indices) of top-k, the result of gather. A library that
takes contiguous arrays only copies a view inside the call.
"""

import importlib
import os
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import dmlcpu
from dmlcpu._command._timing import Call
from dmlcpu._command._works import Tensors, Workload

__all__ = ["LIBRARIES", "agreeing", "call_of", "error_text", "found", "installed", "versions"]

_Array = npt.NDArray[Any]


def _dmlcpu(package: Any, w: Workload, x: _Array, indices: Any = None) -> Call:
    options = {"axis": w.options.get("axis")}
    if w.operator == "top_k":
        options["axis_direction"] = 0 if w.smallest else 1
        return lambda: package.top_k(x, w.options["k"], **options)
    if w.is_arg:
        function = package.argmin if w.smallest else package.argmax
        options["keepdims"] = False
        if w.options.get("last"):
            options["axis_direction"] = 1
        if w.options.get("omit"):
            options["nan_policy"] = "omit"
        return lambda: function(x, **options)
    if w.reuse_output:
        out = np.empty((len(indices), *x.shape[indices.shape[1] :]), x.dtype)
        return lambda: package.gather_nd(x, indices, out=out)
    return lambda: package.gather_nd(x, indices)


def _numpy(_module: Any, w: Workload, x: _Array, indices: Any = None) -> Call:
    if w.operator == "gather_nd":
        return _numpy_gather(w, x, indices)
    axis = w.options["axis"]
    if w.operator == "top_k":
        return _numpy_top_k(w, x, w.options["k"], axis)
    find = np.argmin if w.smallest else np.argmax
    if w.options.get("omit"):
        return lambda: np.nanargmax(x, axis)
    if w.options.get("last"):
        return lambda: x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis)
    if not isinstance(axis, tuple):
        return lambda: find(x, axis)

    def several_axes() -> Any:
        last = np.moveaxis(x, axis, range(-len(axis), 0))
        return find(last.reshape(*last.shape[: -len(axis)], -1), -1)

    return several_axes


def _numpy_top_k(w: Workload, x: _Array, k: int, axis: int) -> Call:
    n = x.shape[axis]
    ends = [slice(None)] * x.ndim
    ends[axis] = slice(k) if w.smallest else slice(n - k, n)
    kept = tuple(ends)

    def top_k() -> tuple[_Array, _Array]:
        if k == 1:
            best = (np.argmin if w.smallest else np.argmax)(x, axis, keepdims=True)
            return np.take_along_axis(x, best, axis), best
        if k > n // 2:
            best = np.argsort(x, axis)[kept]
            best = best if w.smallest else np.flip(best, axis)
            return np.take_along_axis(x, best, axis), best
        best = np.argpartition(x, k - 1 if w.smallest else n - k, axis)[kept]
        values = np.take_along_axis(x, best, axis)
        order = np.argsort(values, axis)
        order = order if w.smallest else np.flip(order, axis)
        return np.take_along_axis(values, order, axis), np.take_along_axis(best, order, axis)

    return top_k


def _numpy_gather(w: Workload, x: _Array, indices: _Array) -> Call:
    if indices.shape[1] > 1:
        columns = tuple(np.ascontiguousarray(column) for column in indices.T)
        return lambda: x[columns]
    rows = indices[:, 0]
    if w.reuse_output:
        out = np.empty((len(rows), *x.shape[1:]), x.dtype)
        return lambda: np.take(x, rows, 0, out, "clip")
    return lambda: np.take(x, rows, 0)


def _torch(torch: Any, w: Workload, x: _Array, indices: Any = None) -> Call | None:
    if w.options.get("omit") or w.options.get("last") or min(x.strides) <= 0:
        return None
    torch.set_num_threads(dmlcpu.get_num_threads())
    t = torch.from_numpy(x)
    axis: Any = w.options.get("axis")
    if w.is_arg:
        find = torch.argmin if w.smallest else torch.argmax
        if not isinstance(axis, tuple):
            return lambda: find(t, axis)
        kept = -len(axis)
        return lambda: find(t.movedim(axis, tuple(range(kept, 0))).flatten(kept), -1)
    if w.operator == "top_k":
        k = w.options["k"]
        if k == 1:
            extreme = torch.min if w.smallest else torch.max
            return lambda: extreme(t, axis, keepdim=True)
        if k == x.shape[axis]:
            return lambda: torch.sort(t, axis, descending=not w.smallest)
        return lambda: torch.topk(t, k, axis, not w.smallest)
    columns = tuple(torch.from_numpy(np.ascontiguousarray(column)) for column in indices.T)
    if len(columns) > 1:
        return lambda: t[columns]
    if w.reuse_output:
        out = torch.empty((len(indices), *t.shape[1:]), dtype=t.dtype)
        return lambda: torch.index_select(t, 0, columns[0], out=out)
    return lambda: torch.index_select(t, 0, columns[0])


def _onnxruntime(runtime: Any, w: Workload, x: _Array, indices: Any = None) -> Call | None:
    try:
        from onnx import TensorProto, helper
    except ImportError:  # which makes the models
        return None
    if w.options.get("omit") or (w.is_arg and not isinstance(w.options["axis"], int)):
        return None
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    integers = TensorProto.INT64
    session = runtime.SessionOptions()
    session.intra_op_num_threads = dmlcpu.get_num_threads()
    session.log_severity_level = 4
    session.add_session_config_entry("session.intra_op.allow_spinning", "0")
    feed = {"x": np.ascontiguousarray(x)}

    def compiled(cast: bool) -> Any:
        inputs = [helper.make_tensor_value_info("x", kind, x.shape)]
        nodes, name, type_ = [], "x", kind
        if cast:
            nodes.append(helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT))
            name, type_ = "f", TensorProto.FLOAT
        constants, names, types = [], ["y"], [integers]
        if w.is_arg:
            last = int(w.options.get("last", False))
            options = {"axis": w.options["axis"], "keepdims": 0, "select_last_index": last}
            node = helper.make_node("ArgMin" if w.smallest else "ArgMax", [name], names, **options)
        elif w.operator == "top_k":
            constants = [helper.make_tensor("k", integers, [1], [w.options["k"]])]
            names, types = ["v", "y"], [type_, integers]
            options = {"axis": w.options["axis"], "largest": int(not w.smallest)}
            node = helper.make_node("TopK", [name, "k"], names, **options)
        else:
            one = indices.shape[1] == 1
            feed["i"] = np.ascontiguousarray(indices[:, 0]) if one else indices
            inputs.append(helper.make_tensor_value_info("i", integers, feed["i"].shape))
            node = helper.make_node("Gather" if one else "GatherND", [name, "i"], names)
            types = [type_]
        outputs = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, types)]
        graph = helper.make_graph([*nodes, node], "work", inputs, outputs, constants)
        opset = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        return runtime.InferenceSession(
            model.SerializeToString(), session, providers=["CPUExecutionProvider"]
        )

    try:
        ready = compiled(False)
    except Exception:  # it has no kernel for the type
        ready = compiled(True)

    def call() -> Any:
        feed["x"] = np.ascontiguousarray(x)
        results = ready.run(None, feed)
        return results if w.operator == "top_k" else results[0]

    return call


def _openvino(ov: Any, w: Workload, x: _Array, indices: Any = None) -> Call | None:
    if w.options.get("omit") or w.options.get("last"):
        return None
    if w.is_arg and not isinstance(w.options["axis"], int):
        return None
    op = importlib.import_module("openvino.opset11")
    data = np.ascontiguousarray(x)
    p = op.parameter(list(x.shape), x.dtype)
    feed = [data]
    if w.operator == "gather_nd":
        i = op.parameter(list(indices.shape), np.int64)
        feed.append(np.ascontiguousarray(indices))
        model = ov.Model([op.gather_nd(p, i)], [p, i])
    else:
        k, mode = np.int32(w.options.get("k", 1)), "min" if w.smallest else "max"
        node = op.topk(p, k, w.options["axis"], mode, "value", index_element_type="i32")
        model = ov.Model([node.output(0), node.output(1)], [p])
    threads = dmlcpu.get_num_threads()
    options = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = ov.compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    for number, array in enumerate(feed):
        request.set_input_tensor(number, ov.Tensor(array, shared_memory=True))

    def call() -> Any:
        # The request uses the arrays' memory without owning it.
        if feed[0] is not x:
            np.copyto(feed[0], x)
        request.infer()
        results = [request.get_output_tensor(n).data for n in range(len(compiled.outputs))]
        if w.is_arg:
            return results[1].squeeze(w.options["axis"])
        return results if w.operator == "top_k" else results[0]

    return call


def _jax(jax: Any, w: Workload, x: _Array, indices: Any = None) -> Call | None:
    if x.itemsize == 8 or w.options.get("last"):
        return None  # JAX narrows 64-bit types unless told otherwise for the whole process
    np_ = jax.numpy
    if w.operator == "gather_nd":
        data = np_.asarray(x)
        columns = tuple(np_.asarray(np.ascontiguousarray(column)) for column in indices.T)
        take = jax.jit(lambda a, c: a[c])
        return lambda: take(data, columns).block_until_ready()
    axis = w.options["axis"]
    find = np_.argmin if w.smallest else np_.argmax

    def arg(a: Any) -> Any:
        if w.options.get("omit"):
            return np_.nanargmax(a, axis)
        if isinstance(axis, tuple):
            last = np_.moveaxis(a, axis, range(-len(axis), 0))
            return find(last.reshape(*last.shape[: -len(axis)], -1), -1)
        return find(a, axis)

    def opposite(a: Any) -> Any:
        """Values whose ascending order is the other's descending one."""
        return -a if x.dtype.kind == "f" else ~a

    def top_k(a: Any) -> Any:
        k = w.options["k"]
        if k == 1:
            extreme = np_.min if w.smallest else np_.max
            return extreme(a, axis, keepdims=True), find(a, axis, keepdims=True)
        if not w.smallest:
            return jax.lax.top_k(a, k, axis=axis)
        values, best = jax.lax.top_k(opposite(a), k, axis=axis)
        return opposite(values), best

    work = arg if w.is_arg else top_k
    if x.flags.c_contiguous:
        function, kept = jax.jit(work), np_.asarray(x)
    elif x.T.flags.c_contiguous:
        function, kept = jax.jit(lambda a: work(a.T)), np_.asarray(x.T)
    else:
        function, kept = jax.jit(work), None

    def call() -> Any:
        given = np_.asarray(np.ascontiguousarray(x)) if kept is None else kept
        return jax.block_until_ready(function(given))

    return call


def _polars(polars: Any, w: Workload, x: _Array, indices: Any = None) -> Call | None:
    if x.ndim != 1 or w.options.get("omit") or w.options.get("last"):
        return None
    series = polars.Series(x)
    if w.operator == "gather_nd":
        rows = polars.Series(indices[:, 0])
        return lambda: series.gather(rows)
    if w.is_arg:
        return lambda: series.arg_min() if w.smallest else series.arg_max()
    if w.options["k"] < len(x):
        return None  # its top_k gives no indices

    def sort() -> tuple[Any, Any]:
        order = series.arg_sort(descending=not w.smallest)
        return series.gather(order), order

    return sort


def _bottleneck(bottleneck: Any, w: Workload, x: _Array, _indices: Any = None) -> Call | None:
    axis = w.options.get("axis")
    if not w.is_arg or not isinstance(axis, int) or x.itemsize < 4 or w.options.get("last"):
        return None
    find = bottleneck.nanargmin if w.smallest else bottleneck.nanargmax
    return lambda: find(x, axis)


# Names for people, the modules that are imported, and what makes a call.
LIBRARIES: dict[str, tuple[str, Callable[..., Call | None]]] = {
    "dmlcpu": ("dmlcpu", _dmlcpu),
    "NumPy": ("numpy", _numpy),
    "PyTorch": ("torch", _torch),
    "ORT": ("onnxruntime", _onnxruntime),
    "OpenVINO": ("openvino", _openvino),
    "JAX": ("jax", _jax),
    "polars": ("polars", _polars),
    "bottleneck": ("bottleneck", _bottleneck),
}


def installed(names: Iterable[str] | None = None) -> dict[str, ModuleType]:
    """The libraries of these names, or all, that are there, imported; dmlcpu is the first."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    modules = {}
    for name in dict.fromkeys(["dmlcpu", *(LIBRARIES if names is None else names)]):
        try:
            modules[name] = importlib.import_module(LIBRARIES[name][0])
        except Exception:  # missing, or broken in whatever way
            continue
    return modules


def versions(modules: dict[str, ModuleType]) -> str:
    return ", ".join(
        f"{name} {getattr(module, '__version__', '').partition('-')[0]}"
        for name, module in modules.items()
    )


def call_of(name: str, module: Any, work: Workload, tensors: Tensors) -> Call | None:
    """A library's call."""
    return LIBRARIES[name][1](module, work, *tensors)


def agreeing(
    work: Workload,
    tensors: Tensors,
    modules: dict[str, ModuleType],
    left_out: Callable[[str, str], Any],
) -> dict[str, Call]:
    """The calls of the libraries that give dmlcpu's answer, with dmlcpu's first. left_out(name, reason)
    learns of a library that fails or gives another answer."""
    calls: dict[str, Call] = {}
    for name, module in modules.items():
        try:
            call = call_of(name, module, work, tensors)
            if call is None:
                continue
            elements = found(work, tensors, call())
        except Exception as error:  # of whatever kind the library raises
            if name == "dmlcpu":
                raise
            left_out(name, error_text(error))
            continue
        if not calls:
            wanted = elements
        if np.array_equal(elements, wanted, equal_nan=elements.dtype.kind == "f"):
            calls[name] = call
        else:
            left_out(name, "another answer")
    return calls


def error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"


def found(work: Workload, tensors: Tensors, result: Any) -> _Array:
    """The elements that a library found; which of equal ones is each library's choice. If the work asks
    for the last of equal ones: their indices."""
    x = tensors[0]
    if work.options.get("last"):
        return np.asarray(result).astype(np.int64)
    if work.operator == "gather_nd":
        return np.asarray(result)
    axis = work.options["axis"]
    if work.operator == "top_k":
        elements = np.take_along_axis(x, np.asarray(result[1]).astype(np.int64), axis)
        if not np.array_equal(elements, np.asarray(result[0])):
            raise ValueError("its values are not at its indices")
        return elements
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    last = np.moveaxis(x, tuple(axes), range(-len(axes), 0))
    last = last.reshape(*last.shape[: last.ndim - len(axes)], -1)
    at = np.asarray(result).astype(np.int64)[..., None]
    return np.take_along_axis(last, at, -1)
