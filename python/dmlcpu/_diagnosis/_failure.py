"""Why the compiled module cannot be loaded, for people. Loaded only where it cannot."""

import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import NoReturn

__all__ = ["fail"]

_FOLDER = Path(__file__).parents[1]

_AGAIN = (
    f"Install it again, as it was installed: {sys.executable} -m pip install --force-reinstall "
    "--no-deps, and the folder of its sources, or dmlcpu if it came from an index."
)


def _missing(library: str) -> str:
    """How they say that there is no library of that name, of which a pattern is given."""
    return rf"({library}): (?:cannot open|No such)|Library not loaded: (?:\S*/)?({library})(?:\s|$)"


# What the dynamic linkers (glibc's, musl's, macOS's, Windows's) say, and what it means.
_LINKER = [
    (
        _missing(r"lib(?:gomp|omp|iomp)-[0-9a-f]{8}\S*?"),
        "OpenMP's runtime, {}, which came with the package, is missing. " + _AGAIN,
    ),
    (
        _missing(r"libgomp\S*?"),
        "OpenMP's runtime, {}, is missing. Debian: apt install libgomp1; Fedora: dnf install libgomp.",
    ),
    (
        _missing(r"lib(?:omp|iomp)\S*?"),
        "OpenMP's runtime, {}, is missing. Debian: apt install libomp5; Fedora: dnf install libomp; "
        "macOS: brew install libomp.",
    ),
    (
        _missing(r"libdmlcpu\S*?"),
        "dmlcpu's own library, {}, is not where the package had it, in its folder lib. " + _AGAIN,
    ),
    (
        _missing(r"\S+?\.(?:so|dylib)\S*?"),
        "The library {} is missing from this system.",
    ),
    (
        r"(DLL load failed)",
        "A library that the module needs is missing; Windows does not say which. " + _AGAIN,
    ),
    (
        r"version [`'](GLIBC\w*_\S+?)' not found",
        "The package was built for a newer system, with {}. Build it here: pip install ., in the folder "
        "of its sources.",
    ),
    (
        r"undefined symbol: (\S+)|Symbol not found: (\S+)",
        "The module and the library that it loads are not of one build: {} is missing. " + _AGAIN,
    ),
    (
        r"(does not support loading in subinterpreters)",
        "dmlcpu works in a process's main interpreter alone. For mod_wsgi that is the application group "
        "%{GLOBAL}; other programs start a process for each.",
    ),
    (
        r"(wrong ELF class|invalid ELF header|file too short|incompatible architecture)",
        "A file of the package is damaged, or for another architecture: {}. " + _AGAIN,
    ),
]  # fmt: skip


def fail(error: ImportError) -> NoReturn:
    """Raises ImportError with the reason and what helps; ``python -m dmlcpu`` prints them instead."""
    text = "\n".join([str(error), *(f"  {row}" for row in (*_reasons(error), *_shadowed()))])
    if _is_own_command():
        rows = ["dmlcpu cannot be loaded:", text, "", *_surroundings()]
        print("\n".join(rows), file=sys.stderr)
        sys.exit(1)
    raise ImportError(text, name=error.name, path=error.path) from error


def _reasons(error: ImportError) -> Iterator[str]:
    while isinstance(error.__cause__, ImportError):
        error = error.__cause__
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and error.name == "dmlcpu._core":
        yield from _missing_module()
    elif isinstance(error, ModuleNotFoundError):
        package = str(error.name).partition(".")[0]
        yield f"dmlcpu needs {package}: pip install {package}"
    elif text.startswith("DMLCPU_ISA"):
        yield "The environment variable DMLCPU_ISA chooses the instruction set: unset it, or set another."
    else:
        for pattern, meaning in _LINKER:
            found = re.search(pattern, text)
            if found:
                yield meaning.replace("{}", next(filter(None, found.groups())))
                return
        yield _AGAIN


def _missing_module() -> Iterator[str]:
    """What there is instead of a module for this Python."""
    modules = sorted(path.name for path in _FOLDER.glob("_core*") if path.suffix != ".pyi")
    this = (
        f"{platform.python_implementation()} {platform.python_version()} ({EXTENSION_SUFFIXES[0]})"
    )
    if modules:
        yield f"{_FOLDER} holds {', '.join(modules)}, which is not for this Python, {this}."
        yield _AGAIN
        return
    yield f"{_FOLDER} holds no compiled module for this Python, {this}."
    if (_FOLDER.parent.parent / "CMakeLists.txt").exists():
        yield "This is a source tree: run pip install . in its root, then Python from elsewhere."
    else:
        yield _AGAIN


def _shadowed() -> Iterator[str]:
    """Whether another folder than the installed one was found first."""
    try:
        installed = Path(str(metadata.distribution("dmlcpu").locate_file("dmlcpu")))
    except metadata.PackageNotFoundError:
        return
    if installed.exists() and installed.resolve() != _FOLDER.resolve():
        yield f"pip installed another one, {installed}; PYTHONPATH or the current folder comes first."


def _surroundings() -> Iterator[str]:
    """What the same command shows where the module can be loaded, as far as it is known."""
    from dmlcpu._diagnosis import _machine

    for package in ("dmlcpu", "numpy"):
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            version = "not installed"
        yield f"  {package:23} {version}"
    yield f"  {'folder':23} {_FOLDER}"
    yield f"  {'python':23} {platform.python_version()}, {sys.executable}"
    yield f"  {'platform':23} {platform.platform()}, {_machine.processor()}"
    for name, value in _machine.environment().items():
        yield f"  {name:23} {'-' if value is None else value}"


def _is_own_command() -> bool:
    """Whether this is the command ``dmlcpu`` or ``python -m dmlcpu``, which import the package first."""
    if Path(sys.argv[0]).stem == "dmlcpu":
        return True
    if sys.argv[:1] != ["-m"]:  # what it is until the module runs
        return False
    module = sys.orig_argv[-len(sys.argv)]  # before the command's own arguments
    return module == "dmlcpu" or re.fullmatch(r"-\w*mdmlcpu", module) is not None
