"""The door for PyTorch under autograd, torch.func, vmap, compile, export and modes."""

import importlib

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
door = importlib.import_module("dmlcpu.torch")
registered = torch.ops.dmlcpu

from torch import library as torch_library  # noqa: E402
from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from torch_cases import ARGUMENTS, AT, NAMES, ROWS, X, same, samples, tensors  # noqa: E402

# PyTorch's own transforms use what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


@pytest.fixture(autouse=True)
def of_any_size(any_size):
    """Small calls are the core's."""


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name, gradients):
    for x in (X.float(), X.bfloat16().permute(2, 0, 1), X[:, ::2].double()):
        x = x.clone(memory_format=torch.preserve_format).requires_grad_(gradients)
        args = {"argmax": (1, False), "max": (0, False), "topk": (2, 2, False, True)}.get(name)
        args = args or {"sort": (1, True, False), "median": (1, False)}.get(name)
        args = args or {"argsort": (0, False, True)}.get(name)
        if name == "gather_nd":
            args = (torch.zeros(3, 2, dtype=torch.int64), 0)
        args = args or ARGUMENTS[name]
        torch_library.opcheck(getattr(registered, name).default, (x, *args))


CASES = [
    ("max", (1,)), ("max", (0, True)), ("min", (-1,)), ("min", (0, False)), ("topk", (2,)),
    ("topk", (2, 0, False)), ("index_select", (0, ROWS)), ("index_select", (-1, ROWS[:1])),
    ("gather_nd", (torch.tensor([[0, 1], [-1, 0], [0, 1]]),)),
    ("gather_nd", (torch.tensor([[[1], [1]], [[0], [2]], [[-1], [0]]]), 1)),
    ("sort", (1, True)), ("msort", ()), ("kthvalue", (2, 1)), ("median", (0,)), ("nanmedian", (-1, True)),
]  # fmt: skip


def values_of(module, name, args, **named):
    """The differentiable result of a function, which takes the input; of torch's where it has one."""
    if name == "gather_nd" and module is torch:
        indices, batch = args[0], [torch.arange(3)[:, None]] * (len(args) - 1)
        return lambda x: x[(*batch, *indices.unbind(-1))]
    return lambda x: tensors(getattr(module, name)(x, *args, **named))[0]


@pytest.mark.parametrize(("name", "args"), CASES)
def test_gradients(name, args, core_calls):
    x = torch.randperm(36).double().view(3, 4, 3).requires_grad_()
    run = values_of(door, name, args)
    options = dict(check_forward_ad=True, check_batched_grad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradcheck(run, x, **options)
    assert torch.autograd.gradgradcheck(run, x, check_fwd_over_rev=True)
    core_calls.clear()
    run(x)
    assert bool(core_calls) == (name != "index_select" or args[0] == 0)


@pytest.mark.parametrize(
    "name", ["max", "min", "topk", "index_select", "sort", "msort", "kthvalue"]
)
def test_gradients_of_torchs_samples(name):
    count = 0
    for input, args, kwargs in samples(name, torch.float64, requires_grad=True):
        got, want = (
            torch.autograd.grad(values_of(module, name, args, **kwargs)(input).pow(2).sum(), input)[
                0
            ]
            for module in (door, torch)
        )
        assert torch.equal(got, want)
        count += 1
    assert count >= 2


@pytest.mark.parametrize(
    ("name", "args", "compiled"),
    [
        pytest.param(*case, compiled, marks=[pytest.mark.slow] * (compiled and case in CASES[-4:]))
        for compiled in (False, True)
        for case in CASES
    ],
)
def test_transforms(name, args, compiled):
    """Those of torch.func, alone, of each other, and compiled in one graph, are those of torch."""
    x = torch.randperm(36).double().view(3, 4, 3)
    ours, theirs = values_of(door, name, args), values_of(torch, name, args)

    def all_of(run):
        def cubes(x):
            return run(x).pow(3).sum()

        values = run(x)
        calls = [
            torch.func.grad(cubes),
            torch.func.hessian(cubes),
            torch.func.jacrev(run),
            torch.func.jacfwd(run),
            torch.func.vmap(torch.func.grad(cubes)),
            lambda x: torch.func.jvp(run, (x,), (x + 1,))[1],
            lambda x: torch.func.vjp(run, x)[1](values)[0],
        ]
        if compiled:
            torch._dynamo.reset()
            calls = [torch.compile(c, fullgraph=True, backend="aot_eager") for c in calls[:4]]
        batch = [torch.stack([x, x.flip(0)]) if at == 4 else x for at in range(len(calls))]
        return [call(x) for call, x in zip(calls, batch)]

    for got, want in zip(all_of(ours), all_of(theirs), strict=True):
        assert torch.equal(got, want)


def test_argmax_under_gradients():
    def first(x):
        return x[door.argmax(x, 0)].square() + x[door.argmin(x)]

    x = torch.tensor([1.0, 5.0, 2.0])
    assert torch.func.grad(first)(x).tolist() == [1, 10, 0]
    assert torch.func.jacfwd(first)(x).tolist() == [1, 10, 0]
    leaf = x.clone().requires_grad_()
    first(leaf).backward()
    assert leaf.grad.tolist() == [1, 10, 0]
    assert not door.argmax(leaf).requires_grad


def test_gradients_of_a_tensor_without_dimensions():
    for name, args in (("max", (0,)), ("min", (-1, True)), ("topk", (1,))):
        x = torch.tensor(2.0, requires_grad=True)
        tensors(getattr(door, name)(x, *args))[0].backward()
        assert x.grad == 1


def test_deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        test_gradients_of_a_tensor_without_dimensions()
        x = torch.rand(4, 3, requires_grad=True)
        door.index_select(x, 0, ROWS).sum().backward()
        door.gather_nd(x, AT).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.calls.append(function)
        return function(*args, **(kwargs or {}))


class Named(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls.append(function)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("mode", [Seen, Named])
@pytest.mark.parametrize("name", NAMES)
def test_modes_see_the_operator(name, mode):
    with mode() as seen:
        getattr(door, name)(X.float(), *ARGUMENTS[name])
    assert getattr(registered, name).default in seen.calls


class Sub(torch.Tensor):
    pass


@pytest.mark.parametrize("name", NAMES)
def test_subclasses_autocast_and_fake_tensors(name):
    want = getattr(door, name)(X.float(), *ARGUMENTS[name])
    got = tensors(getattr(door, name)(X.float().as_subclass(Sub), *ARGUMENTS[name]))
    assert all(type(t) is Sub for t in got)
    assert all(torch.equal(a, b) for a, b in zip(got, tensors(want)))
    with torch.autocast("cpu", torch.bfloat16):
        same(getattr(door, name)(X.float(), *ARGUMENTS[name]), want)
    x = X.float()
    with FakeTensorMode() as mode:
        fake = [mode.from_tensor(a) if torch.is_tensor(a) else a for a in (x, *ARGUMENTS[name])]
        got = getattr(door, name)(*fake)
    for a, b in zip(tensors(got), tensors(want), strict=True):
        assert (a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride())


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("name", NAMES)
def test_traces_record_the_operator(name):
    traced = torch.jit.trace(lambda x: getattr(door, name)(x, *ARGUMENTS[name]), X.float())
    other = X.flip(1, 2).float()
    for a, b in zip(tensors(traced(other)), tensors(getattr(door, name)(other, *ARGUMENTS[name]))):
        assert torch.equal(a, b)
    assert f"dmlcpu::{name}" in str(traced.graph)


@pytest.mark.parametrize("with_out", [False, True])
@pytest.mark.parametrize("mode", ["real", "symbolic"])
@pytest.mark.parametrize("name", NAMES)
def test_traces_hold_the_operator_and_its_outputs(name, mode, with_out):
    outs = tensors(getattr(door, name)(X.float(), *ARGUMENTS[name]))

    def program(x, *outs):
        options = {"out": outs if outs[1:] else outs[0]} if outs else {}
        return getattr(door, name)(x, *ARGUMENTS[name], **options)

    traced = make_fx(program, tracing_mode=mode, _allow_non_fake_inputs=True)(
        X.float(), *(outs if with_out else ())
    )
    calls = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    operators = [call for call in calls if isinstance(call, torch._ops.OpOverload)]
    operators = [call for call in operators if call is not torch.ops.aten.alias.default]
    assert operators == [
        getattr(registered, name).default,
        *[torch.ops.aten.alias_copy.out] * (len(outs) if with_out else 0),
    ]


def batched(function, in_dims, *args):
    """vmap gives what a call for each member of the batch gives."""
    got = torch.vmap(function, in_dims)(*args)
    (size, *_) = (x.shape[d] for x, d in zip(args, in_dims) if d is not None)
    rows = [
        tensors(function(*(x if d is None else x.select(d, i) for x, d in zip(args, in_dims))))
        for i in range(size)
    ]
    for at, result in enumerate(tensors(got)):
        assert torch.equal(result, torch.stack([row[at] for row in rows]))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1, -3, None])
def test_vmap_of_selections(dim, keepdim):
    x = torch.stack([X, X.flip(1), X.flip(2)])
    for batch in (0, 1, 3):
        for function in (door.argmax, door.argmin):
            batched(lambda x, f=function: f(x, dim, keepdim), (batch,), x)
        if dim is not None:
            for function in (door.max, door.min, door.median, door.nanmedian):
                batched(lambda x, f=function: f(x, dim, keepdim), (batch,), x)
            batched(lambda x: door.topk(x, 2, dim, largest=keepdim), (batch,), x)
            batched(lambda x: door.kthvalue(x, 2, dim, keepdim), (batch,), x)
            for function in (door.sort, door.argsort):
                batched(lambda x, f=function: f(x, dim, descending=keepdim), (batch,), x)
    if dim in (0, -1, None):
        batched(lambda x: door.argmax(x, dim, keepdim), (0,), x.flatten())
    for function in (door.msort, door.sort, door.argsort):
        batched(function, (1,), x)
        batched(function, (0,), x.flatten())
    for one in (door.median, door.nanmedian):
        batched(lambda x, f=one: f(x, 0, keepdim), (0,), x.flatten().double())
    batched(lambda x: door.kthvalue(x, 1, 0, keepdim), (0,), x.flatten())
    batched(door.argmax, (1,), x)
    batched(lambda x: door.topk(x, 1), (2,), x)
    twice = torch.vmap(torch.vmap(lambda x: door.topk(x, 2).indices))(x)
    assert torch.equal(twice, door.topk(x, 2).indices)


def test_vmap_of_gathers():
    x = torch.stack([X, X.flip(1), X.flip(2)])
    at = torch.stack([AT, AT.flip(0), AT.flip(1)])
    for in_dims in ((0, 0), (0, None), (None, 0), (1, 1)):
        inputs = (x if in_dims[0] == 0 else x.movedim(0, 1) if in_dims[0] else X,
                  at if in_dims[1] == 0 else at.movedim(0, 1) if in_dims[1] else AT)  # fmt: skip
        batched(door.gather_nd, in_dims, *inputs)
        batched(lambda x, i: door.gather_nd(x, i[:, :1], 1), in_dims, *inputs)
        for dim in (0, 1, -1):
            rows = tuple(i[..., 0] % 2 for i in inputs[1:])
            batched(lambda x, i, d=dim: door.index_select(x, d, i), in_dims, inputs[0], *rows)
    for module in (torch, door):
        with pytest.raises(RuntimeError, match="out of bounds"):
            torch.vmap(lambda i, m=module: m.index_select(X, 0, i))(torch.tensor([[0], [-1]]))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_compile(name, dynamic):
    """In one graph, with gradients, with `out`."""
    torch._dynamo.reset()
    function = getattr(door, name)

    def program(x):
        return function(x * 2, *ARGUMENTS[name])

    compiled = torch.compile(program, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for x in (X.double(), torch.cat([X, X], 2).double()):
        got, want = compiled(x), program(x)
        assert type(got) is type(want)
        assert all(torch.equal(a, b) for a, b in zip(tensors(got), tensors(want)))
    if "arg" not in name:
        leaves = [X.double().requires_grad_() for _ in range(2)]
        for run, leaf in zip((compiled, program), leaves):
            tensors(run(leaf))[0].sum().backward()
        assert torch.equal(leaves[0].grad, leaves[1].grad)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_compile_with_k_in_a_tensor(dtype):
    torch._dynamo.reset()
    run = torch.compile(lambda x, k: door.topk(x, k).values, backend="aot_eager")
    for k in (2, 1):
        got = run(X, torch.tensor(k, dtype=getattr(torch, dtype)))
        assert torch.equal(got, door.topk(X, k).values)


def test_compile_with_out():
    values, indices = torch.empty(2, 2, 1), torch.empty(2, 2, 1, dtype=torch.int64)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def program(x):
        door.topk(x, 1, out=(values, indices))
        return values + 1

    x = X.float()
    assert torch.equal(program(x), door.topk(x, 1).values + 1)
    assert torch.equal(indices, door.topk(x, 1).indices)


@pytest.mark.parametrize("name", NAMES)
def test_export(name):
    class Program(torch.nn.Module):
        def forward(self, x):
            return getattr(door, name)(x, *ARGUMENTS[name])

    x = torch.cat([X, X]).float()
    shapes = None if name == "max" else ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(Program(), (x,), dynamic_shapes=shapes)
    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    assert getattr(torch.ops.dmlcpu, name).default in targets
    same(program.module()(x), Program()(x))
