"""Try values of a constant of the tuning headers, cpp/src/*/*tuning.hpp: build one dmlcpu for each,
and measure them beside each other. docs/tuning.md names the workloads of each.

    python bench/tune.py kLanesBytes 128 256 512 --only "1e6x3 columns"

Needs what a build needs beforehand (scikit-build-core, pybind11, cmake, ninja).
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from builds import ROOT, install

SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "cmake", "cpp", "pyproject.toml", "python")


def build(name, value, folder):
    """Installs the working tree with another value into folder/package, and returns that."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    for source in SOURCES:
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tree / source)
    headers = sorted(tree.glob("cpp/src/*/*tuning.hpp"))
    for header in headers:
        text, count = re.subn(rf"(\b{name} = )[^;]*;", rf"\g<1>{value};", header.read_text())
        if count == 1:
            header.write_text(text)
            break
    else:
        names = ", ".join(str(header.relative_to(tree)) for header in headers)
        sys.exit(f"{name} is no constant of {names}")
    return install(tree, folder / "package")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="of the constant")
    parser.add_argument("values", nargs="+", help="C++ expressions")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--rounds", default="9")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        builds = [
            f"{value}={build(arguments.name, value, Path(folder) / str(number))}"
            for number, value in enumerate(arguments.values)
        ]
        command = [sys.executable, str(ROOT / "bench/run.py"), "builds", *builds]
        subprocess.run(
            [*command, "--only", arguments.only, "--rounds", arguments.rounds], check=True
        )


if __name__ == "__main__":
    main()
