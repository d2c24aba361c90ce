"""Nearest neighbours among embeddings that memory does not hold, with Dask.

    python examples/dask_neighbours.py [--rows ROWS] [--workers N] [--output FILE.png]

The embeddings are made chunk by chunk, as they would be read from storage: points around some topics.
Of each chunk's similarities to a few queries, `top_k` passes on the best 10 alone, `gather_nd` reads
the chunks that hold the neighbours again, and no other; a progress bar names the tasks. NumPy checks
the answer, one chunk after the other. The picture shows the topics, the queries and their neighbours.
"""

import argparse
import resource
import time

import dask.array as da
import matplotlib
import numpy as np
from dask.diagnostics import ProgressBar

import dmlcpu.dask

from timing import note_load

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SIZE, TOPICS, QUERIES, K = 128, 12, 6, 10
CENTRES = np.random.default_rng(0).standard_normal((TOPICS, SIZE), np.float32)


def points(rng, count, spread):
    """Points of length 1 around the topics' centres."""
    x = CENTRES[rng.integers(0, TOPICS, count)] + spread * rng.standard_normal(
        (count, SIZE), np.float32
    )
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def chunk_of(count, block_id):
    return points(np.random.default_rng([1, block_id[0]]), count, 0.8)


def embeddings(rows, chunk):
    return da.map_blocks(
        chunk_of, chunk, chunks=((chunk,) * (rows // chunk), (SIZE,)), dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )  # fmt: skip


def by_numpy(rows, chunk, queries):
    """The rows of the neighbours: all chunks' best, then the best of these, ties by row."""
    best = np.empty((0, QUERIES), np.float32), np.empty((0, QUERIES), np.int64)
    for number in range(rows // chunk):
        similar = chunk_of(chunk, (number, 0)) @ queries.T
        at = np.broadcast_to(np.arange(chunk)[:, None] + number * chunk, similar.shape)
        values, at = np.concatenate([best[0], similar]), np.concatenate([best[1], at])
        order = np.argsort(-values, axis=0, kind="stable")[:K]
        best = np.take_along_axis(values, order, 0), np.take_along_axis(at, order, 0)
    return best[1]


def draw(queries, neighbours, path):
    """On the plane in which the topics' centres differ most."""
    plane = np.linalg.svd(CENTRES - CENTRES.mean(0))[2][:2].T
    some = points(np.random.default_rng(2), 3000, 0.8) @ plane
    figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
    axis.scatter(*some.T, s=4, color="lightgrey", label="embeddings")
    for number, (query, near) in enumerate(zip(queries @ plane, neighbours @ plane, strict=True)):
        color = f"C{number}"
        for one in near:
            axis.plot(*zip(query, one, strict=True), color=color, linewidth=0.6)
        axis.scatter(*near.T, s=22, color=color)
        axis.scatter(*query, s=130, marker="*", color=color, edgecolor="black")
    axis.set_title(f"Queries (stars) and their {K} nearest embeddings")
    axis.legend(loc="lower left")
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000, help="default 4,000,000: 2 GB")
    parser.add_argument("--chunk", type=int, default=50_000, help="rows of a chunk, default 50,000")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0, the default: threads")
    parser.add_argument("--output", default="neighbours.png", metavar="FILE.png")
    arguments = parser.parse_args()
    rows, chunk = arguments.rows // arguments.chunk * arguments.chunk, arguments.chunk
    x = embeddings(rows, chunk)
    queries = points(np.random.default_rng(3), QUERIES, 0.4)
    print(
        f"{rows:,} embeddings of {SIZE} float32, {x.nbytes / 1e9:.2f} GB in {x.npartitions} chunks"
    )

    similar = da.matmul(x, queries.T)
    nearest = dmlcpu.dask.top_k(similar, K, axis=0, index_dtype=np.int64)
    found, vectors, seconds = run(x, nearest.indices, arguments.workers)
    print(f"{seconds:.1f} s, of one run; nearest to query 0: rows {found[:3, 0].tolist()}")
    note_load()
    if not arguments.workers:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"at most {memory / 1e9:.2f} GB of memory")
    same = np.array_equal(found, by_numpy(rows, chunk, queries))
    print(f"NumPy's answer {'agrees' if same else 'DIFFERS'}")
    draw(queries, vectors.swapaxes(0, 1), arguments.output)
    print(f"wrote {arguments.output}")
    return 0 if same else 1


def run(x, indices, workers):
    """The rows of the neighbours, their embeddings, and seconds."""
    if workers:
        from distributed import Client, LocalCluster, progress

        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster),
        ):
            begin = time.perf_counter()
            found = indices.persist()
            progress(found)
            found = found.compute()
            vectors = dmlcpu.dask.gather_nd(x, found[..., None]).compute()
            return found, vectors, time.perf_counter() - begin
    begin = time.perf_counter()
    with ProgressBar():
        found = indices.compute()
        vectors = dmlcpu.dask.gather_nd(x, found[..., None]).compute()
    return found, vectors, time.perf_counter() - begin


if __name__ == "__main__":
    raise SystemExit(main())
