# %% [markdown]
# # Nearest neighbours
#
# The nearest of many known vectors for each new one, exactly, by computing every distance. The known ones
# are taken in blocks, so that memory holds the distances to one block alone; the nearest of each block
# are candidates, and the nearest of the candidates are the answer.
#
# It needs `pip install matplotlib` and writes `nearest_neighbours.png`.

# %% The vectors
import matplotlib.pyplot as plt
import numpy as np

import dmlcpu

rng = np.random.default_rng(0)
dimensions, groups = 64, 200
middles = rng.standard_normal((groups, dimensions), np.float32)
known = middles[rng.integers(groups, size=50_000)]
known += 0.5 * rng.standard_normal(known.shape, np.float32)
new = known[:200] + 0.1 * rng.standard_normal((200, dimensions), np.float32)


# %% Distances to a block
def squared_distances(new, block):
    """Of every new vector (rows) to every known one of a block (columns)."""
    return (new**2).sum(1)[:, None] + (block**2).sum(1) - 2 * new @ block.T


# %% The nearest, block by block
def nearest(new, known, k, block=10_000):
    """Squared distances and indices of the k nearest known vectors of each new one, nearest first; of
    equal distances the lower index."""
    distances, indices = [], []
    for start in range(0, len(known), block):
        found = dmlcpu.top_k(
            squared_distances(new, known[start : start + block]),
            min(k, block, len(known) - start),
            axis_direction="increasing",
            index_dtype=np.int64,
        )
        distances.append(found.values)
        indices.append(found.indices + start)
    candidates = np.concatenate(distances, axis=1)
    best = dmlcpu.top_k(candidates, k, axis_direction="increasing", index_dtype=np.int64)
    # Candidates are in the order of blocks, so that among equal distances the lower index comes first.
    return best.values, dmlcpu.gather_nd(
        np.concatenate(indices, axis=1), best.indices[..., None], batch_dims=1
    )


distances, neighbours = nearest(new, known, 10)
print("the nearest of the first new vector", neighbours[0])
print("each finds the one it was made from:", np.array_equal(neighbours[:, 0], np.arange(200)))

# %% The same without blocks
at_once = dmlcpu.top_k(squared_distances(new, known), 10, axis_direction="increasing")
same = np.allclose(at_once.values, distances, rtol=1e-4, atol=1e-3)
print("without blocks the distances are the same, within rounding:", same)

# %% The picture
lengths = np.sqrt(np.maximum(distances, 0))
low, middle, high = np.quantile(lengths, (0.1, 0.5, 0.9), axis=0)
numbers = np.arange(1, 11)
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.fill_between(numbers, low, high, alpha=0.3, label="of 80 % of the new vectors")
axis.plot(numbers, middle, "o-", label="median")
axis.set_xticks(numbers)
axis.set(xlabel="neighbour, the nearest first", ylabel="distance", ylim=(0, None))
axis.set_title("The first neighbour is the vector that a new one was made from")
axis.legend()
figure.savefig("nearest_neighbours.png")
