"""The scripts that make and check wheels, on wheels made here; and the workflows that run them."""

import importlib.metadata
import platform
import re
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from dmlcpu import _core

import check
import readme
import repair
from scripts import start_python

ROOT = Path(__file__).parent.parent

METADATA = """Metadata-Version: 2.4
Name: dmlcpu
License-Expression: MIT
License-File: LICENSE
Description-Content-Type: text/markdown

[A page](https://example.org) and [a part](#part).
"""


def wheel(folder, files, name="dmlcpu-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"):
    """A wheel with these files and what every wheel of dmlcpu has."""
    own = {
        "dmlcpu/py.typed": "",
        "dmlcpu/_core.abi.so": "",
        "dmlcpu/lib/libdmlcpu.so.0.1": "",
        "dmlcpu/lib/cmake/dmlcpu/dmlcpuConfig.cmake": "",
        "dmlcpu/include/dmlcpu/dmlcpu.hpp": "",
        "dmlcpu-1.0.dist-info/METADATA": METADATA,
        "dmlcpu-1.0.dist-info/licenses/LICENSE": "text",
        "dmlcpu-1.0.dist-info/RECORD": "",
    }
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for file, text in (own | files).items():
            archive.writestr(file, text)
    return folder / name


def repaired(folder, files):
    """The wheel, as if the tool had added the files to it."""
    whole = folder / "dmlcpu-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    repair.add_licenses(wheel(folder / "after", files), wheel(folder / "before", {}), whole)
    return whole


def test_licenses_of_what_was_added(tmp_path):
    libraries = [
        "dmlcpu.libs/libgomp-a1b2.so.1.0.0-8.5.0-28.el8.x86_64",
        "dmlcpu.libs/libstdc++-c3.so.6.0.30",
    ]
    whole = repaired(tmp_path, dict.fromkeys(libraries, ""))
    check.check_wheel(whole, [])
    with zipfile.ZipFile(whole) as archive:
        metadata = Parser().parsestr(archive.read("dmlcpu-1.0.dist-info/METADATA").decode())
        text = archive.read("dmlcpu-1.0.dist-info/licenses/gcc.txt").decode()
        recorded = archive.read("dmlcpu-1.0.dist-info/RECORD").decode().splitlines()
        assert {line.split(",")[0] for line in recorded} == set(archive.namelist())
    assert metadata["License-Expression"] == (
        "MIT AND BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1"
    )
    assert metadata.get_all("License-File") == ["LICENSE", "pybind11.txt", "gcc.txt"]
    assert "GCC RUNTIME LIBRARY EXCEPTION" in text
    assert "GNU GENERAL PUBLIC LICENSE" in text


def test_record_is_whole(tmp_path):
    """As Python reads it of what is installed."""
    whole = repaired(tmp_path, {"dmlcpu-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n"})
    target = tmp_path / "target"
    with zipfile.ZipFile(whole) as archive:
        archive.extractall(target)
    (found,) = importlib.metadata.distributions(path=[str(target)])
    assert found.metadata["License-Expression"] == "MIT AND BSD-3-Clause"
    for file in found.files:
        data = file.read_binary()
        assert file.name == "RECORD" or file.size == len(data)


def test_library_of_unknown_licence(tmp_path):
    text = "dmlcpu.libs/libfftw3.so.3: must be one of libgomp, libgcc_s, libstdc++, libomp, whose"
    with pytest.raises(SystemExit, match=re.escape(text)):
        repaired(tmp_path, {"dmlcpu.libs/libfftw3.so.3": ""})


@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("dmlcpu/a.cmake", "set(x /" + "home/x)", "dmlcpu/a.cmake: must name no folder"),
        ("dmlcpu/a.cmake", "set(x /build-machine/x)", "dmlcpu/a.cmake: must name no folder"),
        ("dmlcpu-1.0.dist-info/METADATA", METADATA + "[x](x.md)", "METADATA: must link nothing"),
        ("dmlcpu.libs/libgomp-1.so.1", "", "License-Expression: must have GPL-3.0-or-later"),
        ("dmlcpu.libs/libx-1.so.1", "", "dmlcpu.libs/libx-1.so.1: must be one of libgomp"),
        ("dmlcpu-1.0.dist-info/licenses/pybind11.txt", "", "pybind11.txt: must be in the wheel"),
        ("dmlcpu/include/dmlcpu/dmlcpu.hpp", None, "dmlcpu.hpp: must be in the wheel"),
    ],
)
def test_what_should_not_be_as_it_is(tmp_path, file, content, text):
    with zipfile.ZipFile(repaired(tmp_path, {})) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files[file] = content
    bad = tmp_path / "dmlcpu-1.0-cp311-cp311-musllinux_1_2_x86_64.whl"
    with zipfile.ZipFile(bad, "w") as archive:
        for name, data in files.items():
            if data is not None:
                archive.writestr(name, data)
    with pytest.raises(SystemExit, match=re.escape(text)):
        check.check_wheel(bad, ["/build-machine"])


def test_wheel_that_was_not_repaired(tmp_path):
    bad = wheel(tmp_path, {}, "dmlcpu-1.0-cp311-cp311-linux_x86_64.whl")
    with pytest.raises(SystemExit, match="linux_x86_64.whl: must be a repaired wheel"):
        check.check_wheel(bad, [])


def test_library_that_needs_what_is_elsewhere():
    """The installed one, as if it were of another kind of wheel, and of a wheel without it."""
    pytest.importorskip("elftools")
    names = [path.as_posix() for path in importlib.metadata.files("dmlcpu")]
    (library,) = (name for name in names if "libdmlcpu.so." in name)
    data = (Path(_core.__file__).parent.parent / library).read_bytes()
    with pytest.raises(SystemExit, match="must need only what is in the wheel or in every system"):
        check.check_elf(library, data, names, check.SYSTEM["musllinux"])
    data = Path(_core.__file__).read_bytes()
    with pytest.raises(SystemExit, match=re.escape("must be inside the wheel, got $ORIGIN/lib")):
        check.check_elf("dmlcpu/_core.so", data, [], check.SYSTEM["manylinux"])


def installed_libraries():
    """Names and contents; not of what complete wheels have beside the package, which is others'."""
    for path in importlib.metadata.files("dmlcpu"):
        if path.parts[0] != "dmlcpu":
            continue
        data = (Path(_core.__file__).parent.parent / path).read_bytes()
        if data.startswith(b"\x7fELF"):
            yield path.as_posix(), data


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_installed_libraries_are_hardened():
    """As far as this compiler can: g++ 12 and later can do all."""
    pytest.importorskip("elftools")
    build = _core.build_info()
    wanted = ["-fstack-clash-protection", "-D_FORTIFY_SOURCE="]
    wanted += ["-fcf-protection"] * (platform.machine() == "x86_64")
    if re.match(r"GNU (1[2-9]|[2-9]\d)", build["compiler"]) and build["build type"] == "Release":
        assert [flag for flag in wanted if flag not in build["flags"]] == []
    libraries = dict(installed_libraries())
    assert len(libraries) == 2
    for name, data in libraries.items():
        check.check_hardening(name, data, cet="-fcf-protection" in build["flags"])


def test_library_that_shows_more():
    pytest.importorskip("elftools")
    ((name, data),) = ((n, d) for n, d in installed_libraries() if "_core" in n)
    check.check_hardening(name, data, cet=False)
    with pytest.raises(SystemExit, match="must show only its own names, got PyInit__core"):
        check.check_hardening("dmlcpu/lib/libdmlcpu.so", data, cet=False)


@pytest.mark.parametrize("source", [None, "https://example.org/dmlcpu"])
def test_readme_on_an_index(source):
    page = (ROOT / "README.md").read_text()
    text = readme.for_an_index(page, source, "1.0")
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert all(link.startswith(("https://", "#")) for link in links)
    assert ("![" in text) == (source is not None)
    for link in re.findall(r"(?<!!)\[[^]]*\]\(([^):]+)\)", page):
        assert source is None or f"({source}/blob/v1.0/{link})" in text
    fences = r"^```.*?^```"
    assert re.findall(fences, text, re.M | re.S) == re.findall(fences, page, re.M | re.S)


@pytest.mark.skipif(not _core.has_openmp(), reason="built without OpenMP, which wheels have")
def test_minimal_test():
    done = start_python(ROOT / "release/minimal_test.py")
    assert done.returncode == 0, done.stderr


def test_workflows_run_every_step():
    """Those of .ci/run, each in one workflow."""
    workflows = ROOT / ".github/workflows"
    if not workflows.exists():
        pytest.skip("not in the source distribution")
    text = (ROOT / ".ci/run").read_text()
    steps = re.findall(r'^  "(\w+) ', text, re.M)
    assert len(steps) > 5
    runs = "\n".join(path.read_text() for path in workflows.glob("*.yml"))
    named = re.findall(r"step: \[(.*)\]", runs)
    named = [step for line in named for step in line.split(", ")]
    named += re.findall(r"bash \.ci/run (\w+)$", runs, re.M)
    assert [step for step in steps if named.count(step) != 1] == []
