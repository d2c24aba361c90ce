"""What `show_config` shows. Loaded when it is first called."""

import math
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dmlcpu import _core
from dmlcpu._diagnosis import _machine

__all__ = ["as_text", "collect", "container_limit"]

# OpenMP's specifications by their year and month.
_SPECIFICATIONS = {
    200805: "3.0", 201107: "3.1", 201307: "4.0", 201511: "4.5", 201811: "5.0", 202011: "5.1",
    202111: "5.2", 202411: "6.0",
}  # fmt: skip

# By how the file's name begins.
_RUNTIMES = {"libgomp": "GNU", "libomp": "LLVM", "libiomp": "Intel", "vcomp": "Microsoft"}


def collect() -> dict[str, Any]:
    """The sections by their names."""
    config: dict[str, Any] = {
        "dmlcpu": {
            "version": _core.__version__,
            "folder": str(Path(__file__).parents[1]),
            "module": _core.__file__,
        },
        "build": {key: value for key, value in _core.build_info().items() if "flags of" not in key},
        "instruction sets": _instruction_sets(),
        "openmp": _openmp(),
        "threads": _threads(),
        "environment": _machine.environment(),
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "free threading": not getattr(sys, "_is_gil_enabled", lambda: True)(),
            "executable": sys.executable,
        },
        "numpy": {"version": np.__version__, "folder": str(Path(np.__file__).parent)},
        "platform": {
            "system": platform.platform(),
            "machine": platform.machine(),
            "processor": _machine.processor(),
        },
    }
    config["notes"] = _notes(config)
    return config


def _instruction_sets() -> dict[str, Any]:
    prefix = "flags of "
    return {
        "built": list(_core.built_instruction_sets()),
        "supported": list(_core.instruction_sets()),
        "in use": _core.instruction_set(),
        "chosen by": _core.instruction_set_source(),
        "flags": {
            key.removeprefix(prefix): value
            for key, value in _core.build_info().items()
            if key.startswith(prefix)
        },
    }


def _openmp() -> dict[str, Any]:
    version = _core.openmp_version()
    file = _core.openmp_file() or None
    runtime = None
    if file is not None:
        file = os.path.realpath(file)
        name = os.path.basename(file)
        runtime = next((who for start, who in _RUNTIMES.items() if name.startswith(start)), name)
    return {
        "built in": _core.has_openmp(),
        "specification": _SPECIFICATIONS.get(version, str(version)) if version else None,
        "runtime": runtime,
        "file": file,
    }


def _threads() -> dict[str, Any]:
    return {
        "number": _core.num_threads(),
        "set by": _core.thread_source(),
        "run by": "OpenMP" if _core.uses_openmp() else "dmlcpu",
        "processors": os.cpu_count(),
        "affinity": _machine.affinity(),
        "container's limit": container_limit(),
        "load average": _machine.load(),
        "contended": _core.is_contended(),
    }


def container_limit() -> float | None:
    """How many processors' time Linux's control groups let the process use, None if all."""
    return _core.cpu_quota("/") or None


def _notes(config: dict[str, Any]) -> list[str]:
    """What may be amiss, each with what helps."""
    notes = []
    usable, limit = _machine.usable_processors(), container_limit()
    sets, number = config["instruction sets"], config["threads"]["number"]
    if sets["in use"] != sets["supported"][-1]:
        notes.append(
            f"{sets['in use']} is in use, as {sets['chosen by']} says; this processor also has "
            f"{sets['supported'][-1]}, which is faster."
        )
    if number > usable:
        notes.append(
            f"{number} threads share {usable} processors: they wait for each other. Set "
            f"DMLCPU_NUM_THREADS={usable}."
        )
    elif limit is not None and number > math.ceil(limit):
        notes.append(
            f"{number} threads share the time of {limit:g} processors that this container may use: "
            f"they wait for each other. Set DMLCPU_NUM_THREADS={math.ceil(limit)}."
        )
    load = config["threads"]["load average"]
    if load is not None and load > usable:
        notes.append(
            f"the load average is {load:.1f} on {usable} processors: other programs use them, and "
            "what is timed now takes longer."
        )
    return notes


def as_text(config: dict[str, Any]) -> str:
    """A row for each value, under the names of the sections."""
    rows = []
    for section, values in config.items():
        if isinstance(values, list):
            rows += [section, *(f"  {note}" for note in values or ["none"])]
            continue
        rows.append(section)
        for key, value in values.items():
            if isinstance(value, dict):
                rows += [f"  {f'{key} of {name}':23} {text}" for name, text in value.items()]
            else:
                rows.append(f"  {key:23} {_value_text(value)}".rstrip())
    return "\n".join(rows)


def _value_text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
