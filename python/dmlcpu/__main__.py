"""``python -m dmlcpu``: what is going on, the operators on files, a benchmark."""

import sys

from dmlcpu._command import program

if __name__ == "__main__":
    sys.exit(program("python -m dmlcpu"))
