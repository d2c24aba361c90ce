"""The libraries that are measured, each called in the way that is best for it.

A competitor's function takes a workload and its tensors and returns a call without arguments, or None
where the library cannot do it. Tensors in the library's own type and compiled models are made outside
the call; what the call makes, its results included, is inside. Calls return indices of argmin and
argmax, (values, indices) of top-k, the result of gather. A library that takes contiguous arrays only
copies a view inside the call.
"""

import importlib.util

import numpy as np

import builds
from measure import threads


def dmlcpu_call(w, x, indices=None):
    return builds.call_for(builds.installed(), w, x, indices)


def numpy_call(w, x, indices=None):
    find = np.argmin if w.smallest else np.argmax
    if w.is_arg:
        axis = w.options["axis"]
        if w.options.get("omit"):
            return lambda: np.nanargmax(x, axis)
        if w.options.get("last"):
            return lambda: x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis)
        if not isinstance(axis, tuple):
            return lambda: find(x, axis)

        def several_axes():
            last = np.moveaxis(x, axis, range(-len(axis), 0))
            return find(last.reshape(*last.shape[: -len(axis)], -1), -1)

        return several_axes
    if w.operator == "top_k":
        k, axis = w.options["k"], w.options["axis"]
        n = x.shape[axis]
        kept = [slice(None)] * x.ndim
        kept[axis] = slice(k) if w.smallest else slice(n - k, n)
        kept = tuple(kept)

        def in_order(order):
            return order if w.smallest else np.flip(order, axis)

        def top_k():
            if k == 1:
                best = find(x, axis, keepdims=True)
                return np.take_along_axis(x, best, axis), best
            if k > n // 2:
                best = in_order(np.argsort(x, axis)[kept])
                return np.take_along_axis(x, best, axis), best
            best = np.argpartition(x, k - 1 if w.smallest else n - k, axis)[kept]
            values = np.take_along_axis(x, best, axis)
            by_value = in_order(np.argsort(values, axis))
            return (
                np.take_along_axis(values, by_value, axis),
                np.take_along_axis(best, by_value, axis),
            )

        return top_k
    if indices.shape[1] == 1:
        rows = indices[:, 0]
        if w.reuse_output:
            out = np.empty((len(rows), *x.shape[1:]), x.dtype)
            return lambda: np.take(x, rows, 0, out, "clip")
        return lambda: np.take(x, rows, 0)
    columns = tuple(np.ascontiguousarray(indices[:, j]) for j in range(indices.shape[1]))
    return lambda: x[columns]


def torch_call(w, x, indices=None):
    if w.options.get("omit") or w.options.get("last"):
        return None
    import torch

    torch.set_num_threads(threads())
    t = torch.from_numpy(x) if min(x.strides) > 0 else None
    if t is None:
        return None
    if w.is_arg:
        axis = w.options["axis"]
        find = torch.argmin if w.smallest else torch.argmax
        if axis is None:
            return lambda: find(t)
        if not isinstance(axis, tuple):
            return lambda: find(t, axis)
        return lambda: find(t.movedim(axis, (-2, -1)).flatten(-2), -1)
    if w.operator == "top_k":
        k, axis = w.options["k"], w.options["axis"]
        if k == 1:
            extreme = torch.min if w.smallest else torch.max
            return lambda: extreme(t, axis, keepdim=True)
        return lambda: torch.topk(t, k, axis, not w.smallest)
    columns = tuple(torch.from_numpy(np.ascontiguousarray(c)) for c in indices.T)
    if len(columns) == 1:
        if w.reuse_output:
            out = torch.empty((len(indices), *t.shape[1:]), dtype=t.dtype)
            return lambda: torch.index_select(t, 0, columns[0], out=out)
        return lambda: torch.index_select(t, 0, columns[0])
    return lambda: t[columns]


def onnxruntime_call(w, x, indices=None):
    import onnxruntime as ort
    from onnx import TensorProto, helper

    def session(cast):
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        inputs = [helper.make_tensor_value_info("x", kind, x.shape)]
        nodes, name, feed = [], "x", {"x": np.ascontiguousarray(x)}
        if cast:
            nodes.append(helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT))
            name, kind = "f", TensorProto.FLOAT
        outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, None)]
        initializers = []
        if w.is_arg:
            nodes.append(
                helper.make_node(
                    "ArgMin" if w.smallest else "ArgMax",
                    [name],
                    ["y"],
                    axis=w.options["axis"],
                    keepdims=0,
                    select_last_index=int(w.options.get("last", False)),
                )
            )
        elif w.operator == "top_k":
            initializers = [helper.make_tensor("k", TensorProto.INT64, [1], [w.options["k"]])]
            attributes = {"axis": w.options["axis"], "largest": int(not w.smallest)}
            nodes.append(helper.make_node("TopK", [name, "k"], ["v", "y"], **attributes))
            outputs.insert(0, helper.make_tensor_value_info("v", kind, None))
        else:
            inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, indices.shape))
            feed["i"] = indices
            nodes.append(helper.make_node("GatherND", ["x", "i"], ["y"]))
            outputs = [helper.make_tensor_value_info("y", kind, None)]
        graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 9
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads()
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return ort.InferenceSession(model.SerializeToString(), options), feed

    if w.options.get("omit") or (w.is_arg and not isinstance(w.options["axis"], int)):
        return None
    try:
        s, feed = session(False)
    except Exception:
        s, feed = session(True)

    def call():
        feed["x"] = np.ascontiguousarray(x)
        results = s.run(None, feed)
        return results if w.operator == "top_k" else results[0]

    return call


def openvino_call(w, x, indices=None):
    if w.options.get("omit") or w.options.get("last"):
        return None
    import openvino as ov
    from openvino import opset11 as op

    if w.is_arg and not isinstance(w.options["axis"], int):
        return None
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
    compiled = ov.compile_model(
        model,
        "CPU",
        {"INFERENCE_NUM_THREADS": threads(), "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"},
    )
    request = compiled.create_infer_request()
    for number, array in enumerate(feed):
        request.set_input_tensor(number, ov.Tensor(array, shared_memory=True))

    def call():
        if data is not x:
            np.copyto(data, x)
        request.infer()
        results = [request.get_output_tensor(n).data for n in range(len(compiled.outputs))]
        if w.is_arg:
            return results[1].squeeze(w.options["axis"])
        return results if w.operator == "top_k" else results[0]

    call.feed = feed  # the request uses the arrays' memory without owning it
    return call


def jax_call(w, x, indices=None):
    import jax
    import jax.numpy as jnp

    if x.itemsize == 8:
        return None  # JAX narrows 64-bit types unless told otherwise for the whole process
    contiguous = x.flags.c_contiguous
    data = jnp.asarray(np.ascontiguousarray(x))
    find = jnp.argmin if w.smallest else jnp.argmax
    if w.is_arg:
        axis = w.options["axis"]
        if w.options.get("last"):
            return None
        if w.options.get("omit"):
            f = jax.jit(lambda a: jnp.nanargmax(a, axis))
        elif isinstance(axis, tuple):
            f = jax.jit(
                lambda a: find(
                    jnp.moveaxis(a, axis, (-2, -1)).reshape(*np.delete(x.shape, axis), -1), -1
                )
            )
        elif x.T.flags.c_contiguous and x.ndim > 1:
            base = jnp.asarray(x.T)
            f = jax.jit(lambda a: find(a.T, axis))
            return lambda: f(base).block_until_ready()
        else:
            f = jax.jit(lambda a: find(a, axis))
        if contiguous:
            return lambda: f(data).block_until_ready()
        return lambda: f(jnp.asarray(np.ascontiguousarray(x))).block_until_ready()
    if w.operator == "top_k":
        k, axis = w.options["k"], w.options["axis"]

        def reversed_order(a):
            """Values whose ascending order is the other's descending one."""
            return -a if x.dtype.kind == "f" else ~a

        def top_k(a):
            if k == 1:
                extreme = jnp.min if w.smallest else jnp.max
                return extreme(a, axis, keepdims=True), find(a, axis, keepdims=True)
            if not w.smallest:
                return jax.lax.top_k(a, k, axis=axis)
            values, best = jax.lax.top_k(reversed_order(a), k, axis=axis)
            return reversed_order(values), best

        f = jax.jit(top_k)
        return lambda: jax.block_until_ready(f(data))
    columns = tuple(jnp.asarray(np.ascontiguousarray(c)) for c in indices.T)
    f = jax.jit(lambda a, c: a[c])
    return lambda: f(data, columns).block_until_ready()


def polars_call(w, x, indices=None):
    import polars

    if w.operator == "top_k" or x.ndim != 1 or w.options.get("omit") or w.options.get("last"):
        return None
    series = polars.Series(x)
    if w.operator == "gather_nd":
        rows = polars.Series(indices[:, 0])
        return lambda: series.gather(rows)
    return lambda: series.arg_min() if w.smallest else series.arg_max()


def bottleneck_call(w, x, indices=None):
    import bottleneck

    if not w.is_arg or not isinstance(w.options["axis"], int) or x.itemsize < 4:
        return None
    if w.options.get("last"):
        return None
    axis = w.options["axis"]
    find = bottleneck.nanargmin if w.smallest else bottleneck.nanargmax
    return lambda: find(x, axis)


CALLS = {
    "dmlcpu": ("dmlcpu", dmlcpu_call),
    "NumPy": ("numpy", numpy_call),
    "PyTorch": ("torch", torch_call),
    "ORT": ("onnxruntime", onnxruntime_call),
    "OpenVINO": ("openvino", openvino_call),
    "JAX": ("jax", jax_call),
    "polars": ("polars", polars_call),
    "bottleneck": ("bottleneck", bottleneck_call),
}


def installed():
    """The names of the competitors that can be imported."""
    return [name for name, (module, _) in CALLS.items() if importlib.util.find_spec(module)]


def versions():
    from importlib.metadata import version

    return {name: version(CALLS[name][0]) for name in installed()}


def print_failure(name, error):
    print(f"  {name}: {error}")


def error_line(error):
    return f"{type(error).__name__}: {[*str(error).splitlines(), ''][0][:100]}"


def calls_for(workload, tensors, names, failed=print_failure):
    """Name to call, for the competitors that can do the workload."""
    calls = {}
    for name in names:
        try:
            call = CALLS[name][1](workload, *tensors)
        except Exception as error:
            failed(name, error_line(error))
            call = None
        if call is not None:
            calls[name] = call
    return calls
