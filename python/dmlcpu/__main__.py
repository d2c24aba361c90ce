"""``python -m dmlcpu``: what is going on, the operators on files, a benchmark."""

import sys

from dmlcpu._command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
