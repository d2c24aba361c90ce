from typing import Any

import numpy.typing as npt

__version__: str

def argmin(
    input: Any,
    axis: Any,
    axis_direction: Any,
    keepdims: Any,
    index_dtype: Any,
    nan_policy: Any,
    out: Any,
    /,
) -> npt.NDArray[Any]: ...
def argmax(
    input: Any,
    axis: Any,
    axis_direction: Any,
    keepdims: Any,
    index_dtype: Any,
    nan_policy: Any,
    out: Any,
    /,
) -> npt.NDArray[Any]: ...
def top_k(
    input: Any,
    k: Any,
    axis: Any,
    axis_direction: Any,
    index_dtype: Any,
    nan_policy: Any,
    out: Any,
    /,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...
def gather_nd(
    input: Any, indices: Any, batch_dims: Any, mode: Any, out: Any, /
) -> npt.NDArray[Any]: ...

class CompiledOperator:
    def __init__(
        self,
        type: int,
        tensors: list[tuple[str, int, int, list[int], list[int] | None, int, int]],
        axes: list[int],
        numbers: list[int],
        feature_level: int,
        nan_policy: Any,
        mode: Any,
        /,
    ) -> None: ...
    def dispatch(self, inputs: tuple[Any, ...], out: Any, /) -> Any: ...

def feature_level_required(
    type: int,
    tensors: list[tuple[str, int, int, list[int], list[int] | None, int, int]],
    axes: list[int],
    numbers: list[int],
    /,
) -> int: ...
def buffer_tensor_size(data_type: int, sizes: list[int], strides: list[int] | None, /) -> int: ...
def has_openmp() -> bool: ...
def num_threads() -> int: ...
def set_num_threads(count: int, /) -> None: ...
def exchange_thread_override(count: int, /) -> int: ...
def set_grain_bytes(bytes: int, /) -> None: ...
def instruction_sets() -> tuple[str, ...]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str, /) -> None: ...
def data_types() -> tuple[str, ...]: ...
