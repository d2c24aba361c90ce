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
    for option, place, text in (
        ("--cmake-dir", "lib/cmake/dmlcpu",
         "the folder for CMake: -Ddmlcpu_DIR=$(python -m dmlcpu --cmake-dir)"),
        ("--pkg-config-dir", "lib/pkgconfig",
         "the folder for pkg-config: PKG_CONFIG_PATH=$(python -m dmlcpu --pkg-config-dir)"),
        ("--include-dir", "include", "the folder of the headers"),
    ):  # fmt: skip
        which.add_argument(
            option, action="store_const", dest="place", const=folder / place, help=text
        )
    print(parser.parse_args().place)


if __name__ == "__main__":
    main()
