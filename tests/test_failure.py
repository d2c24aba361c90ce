"""What the package says where it cannot be loaded, or was built without OpenMP."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import dmlcpu
from dmlcpu import _core
from dmlcpu._diagnosis import _failure

from checks import row
from scripts import start_python


@pytest.fixture
def package(tmp_path):
    """A copy of the package that a test may damage, and a function that runs it."""
    folder = tmp_path / "site" / "dmlcpu"
    shutil.copytree(Path(dmlcpu.__file__).parent, folder, ignore=shutil.ignore_patterns("include"))
    for path in Path(_core.__file__).parent.glob("*"):  # of an editable install
        if path.name.startswith("_core.") or path.name == "lib":
            target = folder / path.name
            if not target.exists():
                (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
    bundled = Path(_core.__file__).parent.parent / "dmlcpu.libs"  # of a wheel for many systems
    if bundled.exists():
        shutil.copytree(bundled, folder.parent / bundled.name)

    def run(*arguments, **environment):
        return start_python(*arguments, PYTHONPATH=str(folder.parent), **environment)

    run.folder = folder
    return run


def module_of(folder):
    return next(path for path in folder.glob("_core.*") if path.suffix in (".so", ".pyd"))


def both_say(package, *texts, **environment):
    """The command explains, without a traceback; an import raises the same."""
    done = package("-m", "dmlcpu", **environment)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("dmlcpu cannot be loaded:\n")
    assert row(done.stderr, "numpy") == np.__version__
    imported = package("-c", "import dmlcpu", **environment)
    assert "ImportError: " in imported.stderr
    for text in texts:
        assert text in done.stderr
        assert text in imported.stderr


def test_package_copy_works(package):
    assert package("-m", "dmlcpu", "--version").stdout == f"dmlcpu {dmlcpu.__version__}\n"


def test_no_module(package):
    module_of(package.folder).unlink()
    both_say(package, f"{package.folder} holds no compiled module for this Python", "pip install")
    (package.folder.parent.parent / "CMakeLists.txt").write_text("")
    both_say(package, "This is a source tree: run pip install . in its root")


def test_module_of_another_python(package):
    module = module_of(package.folder)
    module.rename(package.folder / "_core.cpython-27-riscv64.so")
    both_say(package, "holds _core.cpython-27-riscv64.so, which is not for this Python")


def test_damaged_module(package):
    module_of(package.folder).write_bytes(b"no module" * 1000)
    both_say(package, "A file of the package is damaged, or for another architecture")


def test_missing_library(package):
    for path in (package.folder / "lib").glob("libdmlcpu.*"):
        path.unlink()
    both_say(package, "libdmlcpu", "dmlcpu's own library, ", "is not where the package had it")


@pytest.mark.skipif(not _core.has_openmp(), reason="built without OpenMP")
@pytest.mark.skipif(sys.platform != "linux", reason="as Linux names libraries")
def test_missing_openmp(package):
    """Every name, as a repaired wheel's library still holds the one that it had before."""
    (library,) = (package.folder / "lib").glob("libdmlcpu.so.*")
    name = rb"(lib(?:gomp|omp|iomp)[^\0]*\.so[.\d]*).\0"
    library.write_bytes(re.sub(name, rb"\1z\0", library.read_bytes()))
    both_say(package, "OpenMP's runtime, lib", "z, ", " is missing. ")


def test_wrong_instruction_set(package):
    both_say(package, "DMLCPU_ISA: must be one of", "got 'sse9'", "unset it", DMLCPU_ISA="sse9")
    done = package("-m", "dmlcpu", DMLCPU_ISA="sse9")
    assert row(done.stderr, "DMLCPU_ISA") == "sse9"


def test_a_folder_before_the_installed_one(package):
    """Which to install it again would not mend."""
    installed = Path(dmlcpu.__file__).parent
    if Path(_core.__file__).parent != installed:
        pytest.skip("an editable install is in several folders")
    module_of(package.folder).unlink()
    both_say(package, f"pip installed another one, {installed}; ", "comes first.")


def test_no_numpy(package):
    code = "import sys; sys.modules['numpy'] = None; import dmlcpu"
    assert "dmlcpu needs numpy: pip install numpy" in package("-c", code).stderr


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("libgomp.so.1: cannot open shared object file: No such file", "OpenMP's runtime, libgomp.so.1, is missing. Debian: apt install libgomp1;"),
        ("dlopen(x): Library not loaded: @rpath/libomp.dylib", "OpenMP's runtime, libomp.dylib, is missing. Debian: apt install libomp5;"),
        ("libgomp-a34b3233.so.1.0.0: cannot open shared object file", "libgomp-a34b3233.so.1.0.0, which came with the package, is missing. Install it again"),
        ("Error loading shared library libgomp.so.1: No such file or directory", "OpenMP's runtime, libgomp.so.1, "),
        ("DLL load failed while importing _core: The specified module could not be found.", "Windows does not say which"),
        ("libstdc++.so.6: cannot open shared object file", "The library libstdc++.so.6 is missing"),
        ("libm.so.6: version `GLIBC_2.99' not found (required by x)", "newer system, with GLIBC_2.99."),
        ("x.so: undefined symbol: _ZN6dmlcpu3runE", "are not of one build: _ZN6dmlcpu3runE is missing"),
        ("something else", "Install it again"),
    ],
)  # fmt: skip
def test_what_the_linker_says(said, text):
    with pytest.raises(ImportError) as raised:
        _failure.fail(ImportError(said))
    assert str(raised.value).startswith(said)
    assert text in str(raised.value)


def test_other_commands_get_the_error(package):
    """Not what `python -m dmlcpu` prints: a package that imports dmlcpu, and an argument of that name."""
    module_of(package.folder).unlink()
    user = package.folder.parent / "user"
    user.mkdir()
    (user / "__init__.py").write_text("import dmlcpu\n")
    (user / "__main__.py").write_text("")
    done = package("-m", "user", "dmlcpu")
    assert "Traceback" in done.stderr
    assert "holds no compiled module" in done.stderr
    assert "Traceback" not in package("-W", "ignore", "-mdmlcpu", "--version").stderr


def test_the_command_dmlcpu_explains_too(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/dmlcpu", "argmax"])
    with pytest.raises(SystemExit):
        _failure.fail(ImportError("something else"))
    assert capsys.readouterr().err.startswith("dmlcpu cannot be loaded:\nsomething else\n")
