"""Two ranking metrics of 10000 queries with 1000 documents each, with NumPy and one changed import.

    python examples/ranking.py [--queries QUERIES]

`ranking_metrics.py` is loaded as it is, and once more with the line `import numpy as np` replaced by
`import dmlcpu.numpy as np`. Results agree.
"""

import argparse
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from timing import milliseconds, note_load

NUMPYS, DMLCPUS = "import numpy as np", "import dmlcpu.numpy as np"


def metrics(line):
    """The functions of ranking_metrics.py, whose import is that line."""
    source = Path(__file__).with_name("ranking_metrics.py").read_text()
    assert source.count(NUMPYS) == 1
    names = {}
    exec(source.replace(NUMPYS, line), names)
    return SimpleNamespace(**names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=10000, help="default 10000")
    rng = np.random.default_rng(0)
    shape = parser.parse_args().queries, 1000
    gains = rng.integers(0, 4, shape, np.int8)
    scores = (gains + 2 * rng.standard_normal(shape)).astype(np.float32)
    print(f"{shape[0]} queries of {shape[1]} documents")
    steps = {
        "NDCG": lambda module: module.ndcg(scores, gains),
        "average precision": lambda module: module.average_precision(scores, gains == 3),
    }
    for name, step in steps.items():
        results, times = [], []
        for module in (metrics(NUMPYS), metrics(DMLCPUS)):
            results.append(step(module))
            times.append(milliseconds(partial(step, module), rounds=3))
        print(
            f"{name:18} NumPy {times[0]:8.1f} ms   dmlcpu.numpy {times[1]:8.1f} ms   "
            f"{times[0] / times[1]:5.1f} times   "
            f"results {'agree' if np.array_equal(*results) else 'DIFFER'}"
        )
    note_load()


if __name__ == "__main__":
    main()
