"""Clients of the C++ library: small programs of tests/consumers, compiled with the switches that clients
have against one installed prefix, or against the installed package."""

import importlib.metadata
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import needs, start_python

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
CONSUMERS = ROOT / "tests" / "consumers"
HEADERS = sorted(path.name for path in (ROOT / "cpp/include/dmlcpu").iterdir())

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wundef",
    "-Werror",
]
STRICT = [*WARNINGS, "-Wold-style-cast", "-Wnon-virtual-dtor", "-Wpedantic"]


@pytest.fixture(scope="module", params=["oldest", "newest"])
def standard(request, tmp_path_factory):
    """The option for the library's own standard, or for the newest that the compiler takes."""
    empty = tmp_path_factory.mktemp("standard") / "empty.cpp"
    empty.write_text("")
    for name in ("c++2b", "c++20") if request.param == "newest" else ():
        command = ["c++", f"-std={name}", "-fsyntax-only", empty]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return f"-std={name}"
    return "-std=c++17"


def compile_and_run(source, prefix, folder, *options):
    """Against the shared library."""
    library = next(prefix.rglob("libdmlcpu.so")).parent
    program = folder / "program"
    subprocess.run(
        ["c++", *options, CONSUMERS / source, f"-I{prefix}/include", "-DDMLCPU_SHARED=1",
         f"-L{library}", "-ldmlcpu", f"-Wl,-rpath,{library}", "-o", program],
        check=True,
    )  # fmt: skip
    subprocess.run([program], check=True)


def test_headers_by_themselves(prefix, tmp_path):
    """Each can be the first, and none warns."""
    for name in HEADERS:
        source = tmp_path / f"{name}.cpp"
        source.write_text(f"#include <dmlcpu/{name}>\n")
        subprocess.run(
            ["c++", "-std=c++17", *STRICT, "-fsyntax-only", f"-I{prefix}/include", source],
            check=True,
        )


@pytest.mark.parametrize(
    "name", ["directml.h", "directml_c.h", "directml_descriptors.h", "version.h"]
)
def test_headers_in_c(prefix, tmp_path, name):
    (tmp_path / "main.c").write_text(f"#include <dmlcpu/{name}>\n")
    strict = [*WARNINGS, "-Wpedantic", "-Wstrict-prototypes"]
    subprocess.run(
        ["cc", "-std=c99", *strict, "-fsyntax-only", f"-I{prefix}/include", tmp_path / "main.c"],
        check=True,
    )


@pytest.mark.parametrize("source", ["everything.cpp", "flags.cpp", "lists.cpp"])
def test_strict_client(prefix, tmp_path, source, standard):
    compile_and_run(source, prefix, tmp_path, standard, *STRICT)


def test_element_types(prefix, tmp_path, standard):
    compile_and_run("types.cpp", prefix, tmp_path, standard, *WARNINGS)


def test_client_with_debug_containers(prefix, tmp_path):
    """Their layout is another one, and no standard container crosses the library's boundary."""
    compile_and_run("everything.cpp", prefix, tmp_path, "-std=c++17", "-D_GLIBCXX_DEBUG")


def test_no_standard_type_crosses_the_boundary(prefix):
    needs("nm")
    library = next(prefix.rglob("libdmlcpu.so"))
    listing = subprocess.run(
        ["nm", "--dynamic", "--demangle", "--defined-only", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    functions = re.findall(r"^\S+ T (.*)$", listing, re.M)
    assert len(functions) > 20
    assert [name for name in functions if "std::" in name] == []


def test_client_without_exceptions(prefix, tmp_path):
    without = ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
    compile_and_run("plain.cpp", prefix, tmp_path, *without, *STRICT)
    (tmp_path / "main.cpp").write_text("#include <dmlcpu/dmlcpu.hpp>\n")
    done = subprocess.run(
        ["c++", *without, "-fsyntax-only", f"-I{prefix}/include", tmp_path / "main.cpp"],
        env=os.environ | {"LC_ALL": "C"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1
    assert "dmlcpu.hpp needs exceptions: without them use dmlcpu/directml_c.h" in errors[0]


def test_client_without_run_time_types(prefix, tmp_path):
    compile_and_run("everything.cpp", prefix, tmp_path, "-std=c++17", "-fno-rtti")


@pytest.mark.parametrize("version", [None, "0x1000", "0x2000", "0x6400"])
@pytest.mark.parametrize("library", ["libdmlcpu.so", "libdmlcpu.a"])
def test_real_header_included_first(prefix, tmp_path, library, version):
    """Its types are used, for every target version, and what code defines for itself does not clash.
    DirectML.h of tests/consumers stands in for it."""
    path = next(prefix.rglob(library))
    target = [] if version is None else [f"-DDML_TARGET_VERSION={version}"]
    subprocess.run(
        ["c++", "-std=c++17", "-Wall", "-Wextra", "-Wundef", "-Werror", *target,
         CONSUMERS / "directml_first.cpp", path, f"-I{CONSUMERS}", f"-I{prefix}/include", "-fopenmp",
         f"-Wl,-rpath,{path.parent}", "-o", tmp_path / "main"],
        check=True,
    )  # fmt: skip
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
@pytest.mark.parametrize("visibility", ["default", "hidden"])
def test_plugin_unloads(prefix, tmp_path, visibility):
    """With the static library in it, after it used threads and failed; and then the process forks."""
    plugin = tmp_path / "plugin.so"
    subprocess.run(
        ["c++", "-std=c++17", "-fPIC", "-shared", f"-fvisibility={visibility}", CONSUMERS / "plugin.cpp",
         f"-I{prefix}/include", next(prefix.rglob("libdmlcpu.a")), "-fopenmp", "-o", plugin],
        check=True,
    )  # fmt: skip
    program = tmp_path / "unload"
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", CONSUMERS / "unload.c", "-ldl", "-o", program], check=True
    )
    subprocess.run([program, plugin], check=True)


def pkg_config(folder, *options):
    needs("pkg-config")
    return subprocess.run(
        ["pkg-config", *options, "dmlcpu"],
        env={"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip


def test_pkg_config_for_the_static_library(prefix, tmp_path):
    """A client in C, linked by a compiler of C: pkg-config --static names all that it needs."""
    library = tmp_path / "lib"
    library.mkdir()
    shutil.copytree(prefix / "include", tmp_path / "include")
    shutil.copy(next(prefix.rglob("libdmlcpu.a")), library)
    shutil.copytree(next(prefix.rglob("pkgconfig")), library / "pkgconfig")
    flags = pkg_config(library / "pkgconfig", "--cflags", "--libs", "--static")
    program = tmp_path / "program"
    subprocess.run(["cc", ROOT / "tests/c/consumer.c", *flags, "-o", program], check=True)
    subprocess.run([program], check=True)
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    assert "libdmlcpu" not in needed


def soname_of(library):
    """And the names of the libraries that it needs."""
    needs("readelf")
    listing = subprocess.run(
        ["readelf", "--dynamic", "--wide", library], capture_output=True, text=True, check=True
    ).stdout
    return re.search(r"Library soname: \[(.*)\]", listing)[1], re.findall(
        r"Shared library: \[(.*)\]", listing
    )


MINOR = importlib.metadata.version("dmlcpu").rsplit(".", 1)[0]


def test_soname_of_the_installed_library(prefix):
    library = next(prefix.rglob("libdmlcpu.so"))
    assert soname_of(library)[0] == f"libdmlcpu.so.{MINOR}"
    assert (library.parent / f"libdmlcpu.so.{MINOR}").resolve() == library.resolve()


def test_library_in_the_wheel(tmp_path):
    """One file, named like the soname; beside it a linker script, for a wheel holds no links."""
    files = [
        path for path in importlib.metadata.files("dmlcpu") if path.name.startswith("libdmlcpu")
    ]
    assert sorted(path.as_posix() for path in files) == [
        "dmlcpu/lib/libdmlcpu.so",
        f"dmlcpu/lib/libdmlcpu.so.{MINOR}",
    ]
    place = {path.name: Path(path.locate()) for path in files}
    assert place["libdmlcpu.so"].read_text().endswith(f"INPUT(libdmlcpu.so.{MINOR})\n")
    soname, _ = soname_of(place[f"libdmlcpu.so.{MINOR}"])
    assert soname == f"libdmlcpu.so.{MINOR}"
    needs("c++")
    asked = start_python("-m", "dmlcpu", "--pkg-config-dir")
    assert asked.returncode == 0, asked.stderr
    folder = asked.stdout.strip()
    flags = pkg_config(folder, "--cflags", "--libs")
    assert "-ldmlcpu" in flags
    (libdir,) = pkg_config(folder, "--variable=libdir")
    program = tmp_path / "program"
    subprocess.run(
        ["c++", "-std=c++17", CONSUMERS / "everything.cpp", *flags, f"-Wl,-rpath,{libdir}",
         "-o", program],
        check=True,
    )  # fmt: skip
    subprocess.run([program], check=True)


def test_version_of_the_headers():
    text = (ROOT / "cpp/include/dmlcpu/version.h").read_text()
    parts = [
        re.search(rf"define DMLCPU_VERSION_{part} (\d+)", text)[1]
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    declared = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert ".".join(parts) == declared
    assert (
        f'"{declared}", and {int(parts[0]) * 10000 + int(parts[1]) * 100 + int(parts[2])}:' in text
    )
    assert f'define DMLCPU_VERSION_TEXT "{declared}"' in text
