"""Where the C++ library of this package is located: for CMake's and compilers' command lines."""

import argparse
from pathlib import Path

from dmlcpu import _core


def main() -> None:
    # Where CMake installed everything: in an editable install not where the Python sources are.
    folder = Path(_core.__file__).parent
    parser = argparse.ArgumentParser(
        prog="python -m dmlcpu", description="Prints where the C++ library is located."
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--cmake-dir",
        action="store_const",
        dest="place",
        const=folder / "lib" / "cmake" / "dmlcpu",
        help="the folder for CMake: -Ddmlcpu_DIR=$(python -m dmlcpu --cmake-dir)",
    )
    which.add_argument(
        "--pkg-config-dir",
        action="store_const",
        dest="place",
        const=folder / "lib" / "pkgconfig",
        help="the folder for pkg-config: PKG_CONFIG_PATH=$(python -m dmlcpu --pkg-config-dir)",
    )
    which.add_argument(
        "--include-dir",
        action="store_const",
        dest="place",
        const=folder / "include",
        help="the folder of the headers",
    )
    print(parser.parse_args().place)


if __name__ == "__main__":
    main()
