"""Submodules that are loaded when they are first used."""

import importlib
import types
from typing import Any


class LazyModule(types.ModuleType):
    """Stands for a submodule, an attribute of its package, until something of it is asked for.

    Importing the submodule puts it in the place of this; whoever holds this finds the same there. A
    `__getattr__` of the package itself would make every use of the package slower, as Python looks
    up the attributes of modules that have one in a slower way.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # But for its name, all that it says of itself is the submodule's.
        for attribute in set(self.__dict__) - {"__name__"}:
            delattr(self, attribute)

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        self.__dict__.update(module.__dict__)
        return getattr(module, name)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self.__name__))
