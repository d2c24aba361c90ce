"""Layers of a Dask graph that have a task for each block, and make their tasks quickly."""

import itertools
import operator
from functools import cached_property
from typing import Any

import dask.array as da
from dask._task_spec import Task, TaskRef
from dask.blockwise import Blockwise
from dask.layers import ArrayBlockwiseDep

__all__ = ["Starts", "blockwise"]


class Starts(ArrayBlockwiseDep):  # type: ignore[misc]
    """For `blockwise`: where each block begins in the whole array."""

    def __init__(self, chunks: tuple[tuple[int, ...], ...]) -> None:
        super().__init__(chunks)
        self.starts = [tuple(itertools.accumulate(sizes, initial=0)) for sizes in chunks]

    def __getitem__(self, block: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(map(operator.getitem, self.starts, block))

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, self.chunks


class _Blocks(Blockwise):  # type: ignore[misc]
    """A Blockwise layer of inputs with one block along contracted axes, and as many along others.

    It has no literals and no keywords. Dask makes the tasks of its own layers by substitution, argument
    by argument, which takes several times as long as making a task from its arguments. A layer that
    Dask makes by fusing this one with others is its own.
    """

    def __init__(self, layer: Blockwise) -> None:
        self.__dict__.update(vars(layer))

    @cached_property
    def _dict(self) -> dict[Any, Any]:
        layer: Any = self  # of which some releases of Dask have types, not these
        counts = [range(layer.dims[axis]) for axis in layer.output_indices]
        # Where an input's coordinates are among those of a block; -1 is a contracted axis, whose is 0.
        number = {axis: i for i, axis in enumerate(layer.output_indices)}
        inputs = []
        for name, axes in layer.indices:
            among = (
                None if axes == layer.output_indices else [number.get(axis, -1) for axis in axes]
            )
            inputs.append((layer.io_deps.get(name), name, among))
        tasks: dict[Any, Any] = {}
        for block in layer.output_blocks or itertools.product(*counts):
            arguments = []
            for given, name, among in inputs:
                place = block if among is None else [(*block, 0)[i] for i in among]
                arguments.append(TaskRef((name, *place)) if given is None else given[place])
            key = (layer.output, *block)
            tasks[key] = Task(key, layer.task.func, *arguments)
        layer._cached_dict = {"dsk": tasks}  # where Dask looks whether the tasks have been made
        return tasks

    def _cull(self, output_blocks: Any) -> Any:
        return _Blocks(super()._cull(output_blocks))


def blockwise(*args: Any, **options: Any) -> Any:
    """`dask.array.blockwise`, without literals, keywords of the function and different chunks."""
    array = da.blockwise(*args, align_arrays=False, **options)
    layers = array.dask.layers
    layers[array.name] = _Blocks(layers[array.name])
    return array
