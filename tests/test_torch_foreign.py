"""What the door for PyTorch leaves to torch's functions: other classes, layouts, spellings."""

import importlib

import pytest

from scripts import run_python

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")

from torch_cases import ARGUMENTS, NAMES, X, same, same_outcomes, tensors  # noqa: E402

TORCHS = [name for name in NAMES if name != "gather_nd"]
ROWS = torch.zeros(3000, dtype=torch.int64)


class Told:
    """No tensor, but torch's functions tell it of their calls."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return function, args, kwargs or {}


@pytest.mark.parametrize("name", TORCHS)
def test_other_classes_are_told_what_was_given(name):
    own, told = getattr(torch, name), Told()
    args = {"topk": (2,), "index_select": (0, ROWS)}.get(name, (0,))
    function, given, kwargs = getattr(door, name)(told, *args)
    assert function is own
    assert (*given, *kwargs.values()) == (told, *args)
    if "arg" in name:
        assert door.argmax(told) == (torch.argmax, (told,), {})
        assert door.argmin(told, keepdim=True) == (torch.argmin, (told,), {"keepdim": True})
    if name in ("max", "min"):
        assert getattr(door, name)(told) == (own, (told,), {})
        assert getattr(door, name)(X, told)[1] == (X, told)
    if name in ("argmax", "index_select"):
        *_, kwargs = getattr(door, name)(X, *args, out=told)
        assert kwargs["out"] is told


@pytest.mark.filterwarnings("ignore:.*(nested|MaskedTensors|sparse)")
def test_jagged_masked_and_sparse_tensors():
    jagged = torch.nested.nested_tensor([torch.rand(2, 3), torch.rand(4, 3)], layout=torch.jagged)
    assert torch.equal(door.argmax(jagged, -1).values(), torch.argmax(jagged.values(), -1))
    assert torch.equal(door.max(jagged, -1).values.values(), jagged.values().max(-1).values)
    masked = torch.masked.masked_tensor(X.float(), X > 1)
    for args in ((), (1,)):
        got, want = door.argmax(masked, *args), torch.argmax(masked, *args)
        assert torch.equal(got.get_data(), want.get_data())
        assert torch.equal(got.get_mask(), want.get_mask())
    sparse = torch.rand(5, 4).to_sparse()
    for rows in (ROWS, ROWS[:2]):
        got = door.index_select(sparse, 0, rows)
        assert torch.equal(got.to_dense(), torch.index_select(sparse, 0, rows).to_dense())


@pytest.mark.filterwarnings("ignore:.*nested")
@pytest.mark.parametrize("name", TORCHS)
def test_nested_tensors_of_strided_layout(name):
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    outcomes = []
    for module in (torch, door):
        with pytest.raises((NotImplementedError, RuntimeError)) as caught:
            getattr(module, name)(nested, *ARGUMENTS[name])
        outcomes.append((caught.type, str(caught.value)))
    assert outcomes[0] == outcomes[1]


@pytest.mark.slow
def test_distributed_tensors():
    code = """
        import os, tempfile
        import torch, torch.distributed as dist, dmlcpu.torch
        from torch.distributed.tensor import DTensor, Shard, distribute_tensor, init_device_mesh
        store = dist.FileStore(os.path.join(tempfile.mkdtemp(), "store"), 1)
        dist.init_process_group("gloo", rank=0, world_size=1, store=store)
        x = torch.rand(3, 4)
        y = distribute_tensor(x, init_device_mesh("cpu", (1,)), [Shard(0)])
        for name, args in (("topk", (2,)), ("argmax", (1,)), ("max", (1,))):
            got, want = getattr(dmlcpu.torch, name)(y, *args), getattr(torch, name)(x, *args)
            pair = isinstance(want, tuple)
            for a, b in zip(got if pair else [got], want if pair else [want]):
                assert isinstance(a, DTensor) and torch.equal(a.to_local(), b)
        assert torch.equal(dmlcpu.torch.gather_nd(y, torch.tensor([[1]])).to_local(), x[1:2])
    """
    run_python(code)


@pytest.mark.parametrize("name", NAMES)
def test_symbolic_traces(name):
    traced = torch.fx.symbolic_trace(lambda x: getattr(door, name)(x, *ARGUMENTS[name]))
    (node,) = [node for node in traced.graph.nodes if node.op == "call_function"]
    assert node.target is getattr(torch, name, torch.ops.dmlcpu.gather_nd.default)
    x = torch.randperm(36).view(3, 4, 3)
    for got, want in zip(tensors(traced(x)), tensors(getattr(door, name)(x, *ARGUMENTS[name]))):
        assert torch.equal(got, want)
    assert torch.equal(torch.fx.symbolic_trace(lambda x: door.max(x, x))(x), x)


CALLS = [
    "argmax(F, axis=1)", "argmax(F, axis=None)", "argmin(F, 1, keepdims=True)",
    "argmin(F, keepdims=True)",
    "argmax(F, axis=-1, keepdims=True)", "max(F, axis=1)", "max(F, 1, keepdims=True)", "max(F, F * 2)",
    "max(F)", "min(F)", "min(F, F[0])", "min(F, other=F - 1)", "min(F, axis=0, keepdims=True)",
    "max(F, axis=torch.tensor(1))", "min(F, axis=torch.tensor(0), keepdim=True)",
    "max(F, torch.tensor(1))", "topk(F, 2, axis=0)", "topk(F, k=1, axis=1, largest=False)",
    "index_select(F, axis=1, index=ROWS[:2])", "max(F, F, out=torch.empty(2, 3))",
    "min(F, axis=0, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))", "argmax(F > 1, 0)",
    "argmax(F, 1, axis=1)", "max(F, 1, axis=1)", "max(F, keepdims=True)", "max(F, True, keepdim=True)",
    "topk(F, 2, 0, axis=0)", "index_select(F, 0, ROWS, axis=0)", "index_select(F, 0)", "max(F, None)",
    "max(F, 2.0)", "max(F, 1, True, keepdims=True)", "max(F, 1, other=F)", "argmax(F, axis='a')",
    *(f"{call.format(f'torch.empty(0, 3, dtype=torch.{dtype})')}"
      for dtype in ("bool", "complex64", "float32")
      for call in ("argmax({}, 0)", "argmax({})", "argmin({}, 1)", "argmin({}, 5)", "max({}, 0)",
                   "min({}, 1)", "topk({}, 1, 0)", "topk({}, 1)", "topk({}, 5)")),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_spellings_and_errors_of_torch(call):
    rows = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    same_outcomes(call, {"F": rows, "ROWS": ROWS}, (torch, door))


def test_resized_outputs_warn_as_torchs_do():
    for name in set(TORCHS) - {"argsort"}:  # torch's has no output
        warned = []
        for module in (torch, door):
            outs = [t.new_zeros(5) for t in tensors(getattr(torch, name)(X, *ARGUMENTS[name]))]
            with pytest.warns(UserWarning, match="An output with one or more elements was") as all_:
                getattr(module, name)(X, *ARGUMENTS[name], out=tuple(outs) if outs[1:] else outs[0])
            warned.append(len(all_))
        assert warned[0] <= warned[1] == len(outs)


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_traces_of_jit_do_not_warn(name, small, recwarn):
    gathers = name in ("gather_nd", "index_select")
    x = X.float() if small or gathers else torch.rand(2, 2, 20000)
    args = (ROWS.view(-1, 1),) if name == "gather_nd" else (0, ROWS)
    args = args if gathers and not small else ARGUMENTS[name]
    traced = torch.jit.trace(lambda x: getattr(door, name)(x, *args), x)
    if name != "gather_nd":
        with door.enabled():
            torch.jit.trace(lambda x: getattr(torch, name)(x, *args), x)
    assert [str(w.message) for w in recwarn if "deprecated" not in str(w.message)] == []
    other = x.flip(1)
    same(tuple(tensors(traced(other))), tuple(tensors(getattr(door, name)(other, *args))))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "bool", "complex64", "float16"])
def test_types_that_index_select_takes_when_enabled(dtype):
    for x in (torch.ones(5), torch.ones(5, 2), torch.ones(5, 3, 2).transpose(0, 2)):
        x = x.to(getattr(torch, dtype))
        for rows in (ROWS, ROWS[:3]):
            outcomes = []
            for run in (lambda f: f(), door.enabled()(lambda f: f())):
                try:
                    outcomes.append(run(lambda x=x, rows=rows: torch.index_select(x, 0, rows)))
                except NotImplementedError as error:
                    outcomes.append(str(error))
            assert type(outcomes[0]) is type(outcomes[1])
            assert isinstance(outcomes[0], str) or torch.equal(*outcomes)


def test_imported_again():
    code = """
        import gc, sys
        import torch, dmlcpu, dmlcpu.torch
        dmlcpu.torch.enable()
        for dropped in ("dmlcpu", "dmlcpu.torch", "dmlcpu.torch._functions"):
            for name in list(sys.modules):
                if name == dropped or name.startswith(dropped + "."):
                    del sys.modules[name]
            gc.collect()
            import dmlcpu, dmlcpu.torch
            assert dmlcpu.torch.topk(torch.tensor([1, 3, 2]), 1).indices == 1
            assert dmlcpu.argmax(torch.tensor([1, 3, 2])) == 1
            dmlcpu.torch.disable()
            dmlcpu.torch.enable()
            assert torch.arange(9000).argmax() == 8999
    """
    run_python(code)
