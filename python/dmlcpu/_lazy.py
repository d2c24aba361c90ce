"""Submodules that are loaded when they are first used."""

import importlib
import importlib.util
import sys
import threading
import types
from typing import Any

import dmlcpu

__all__ = ["lazy_module", "module_on_use"]

_lock = threading.RLock()


# A module that runs its code when one of its attributes is first used, and is a plain module then.
#
# A __getattr__ of the package would make every use of the package slower: Python looks up the attributes
# of modules that have one in a slower way. Modules of importlib.util.LazyLoader run their code already
# when they are imported by name, and up to Python 3.12.1 other threads see them half loaded.
class _LazyModule(types.ModuleType):
    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        self.__getattr__("__name__")
        return self.__dict__.get("__doc__")

    def __getattr__(self, name: str) -> Any:
        # Other threads wait for the lock; the module's own code, run here, passes it.
        with _lock:
            if self.__dict__.pop("_waits", False):
                try:
                    self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]
                except BaseException:
                    self.__dict__["_waits"] = True
                    raise
                self.__class__ = types.ModuleType  # type: ignore[assignment]
        return self.__getattribute__(name)

    def __dir__(self) -> list[str]:
        self.__getattr__("__name__")
        return dir(self)


def lazy_module(name: str) -> types.ModuleType:
    """The module of that name, in `sys.modules`, its code not run yet."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _LazyModule
    module.__dict__["_waits"] = True
    sys.modules[name] = module
    return module


# A stand-in for a module, which is imported when one of its attributes is first used, and takes its own
# place in the package then; who keeps the stand-in reads and sets the module's attributes by it. Unlike a
# lazy module it is not in sys.modules, so that `import dmlcpu.torch` imports at once.
class _ModuleOnUse(types.ModuleType):
    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._module().__doc__

    def __getattr__(self, name: str) -> Any:
        # Tools that walk through a package ask for these, of whatever they find.
        if name.startswith("__") and name not in ("__all__", "__file__", "__path__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._module(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._module(), name)

    def __dir__(self) -> list[str]:
        return dir(self._module())

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}, loaded when it is used>"

    def _module(self) -> types.ModuleType:
        # The package's attribute is the module once that is loaded; until then other threads wait here.
        found: types.ModuleType = getattr(dmlcpu, self.__name__.removeprefix("dmlcpu."))
        return importlib.import_module(self.__name__) if found is self else found


def module_on_use(name: str) -> types.ModuleType:
    """A stand-in for the module of that name."""
    return _ModuleOnUse(name)
