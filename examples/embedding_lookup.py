# %% [markdown]
# # Embedding look-up
#
# An embedding is a table with a vector for each id; looking ids up is a gather. Here words are looked up
# by their parts, as fastText does: each run of three letters has an id, a hash, and a word's vector is
# the mean of its parts' vectors. The table is random and nothing is trained, so that words are near each
# other where they share letters.
#
# It needs `pip install matplotlib` and writes `embedding_lookup.png`.

# %% The table
import zlib

import matplotlib.pyplot as plt
import numpy as np

import dmlcpu

rng = np.random.default_rng(0)
rows, width = 50_000, 128
table = rng.standard_normal((rows + 1, width), np.float32)
table[-1] = 0  # the padding's vector


# %% Ids, padded
def parts(word):
    """The ids of the runs of three letters of a word, its ends marked."""
    marked = f"<{word}>"
    return [zlib.crc32(marked[i : i + 3].encode()) % rows for i in range(len(marked) - 2)]


words = ["argmin", "argmax", "argsort", "max", "maximum", "minimum"]
words += ["gather", "gathered", "scatter", "top", "topmost"]
ids = np.full((len(words), max(len(parts(word)) for word in words)), -1)
for row, word in zip(ids, words):
    row[: len(parts(word))] = parts(word)
print("ids", ids.shape, ids.dtype, "padded with -1, which is the table's last row")

# %% The look-up
vectors = dmlcpu.gather_nd(table, ids[..., None])
print("vectors", vectors.shape, vectors.dtype)

# %% Means that leave the padding out
means = vectors.sum(axis=1) / (ids >= 0).sum(axis=1, keepdims=True)
means /= np.linalg.norm(means, axis=1, keepdims=True)
similarities = means @ means.T

# %% The words that are nearest to each
nearest = dmlcpu.top_k(similarities, 3).indices
for word, found in zip(words, nearest):
    print(f"{word:9} {', '.join(words[i] for i in found[1:])}")

# %% Into memory that is there
batch = np.empty_like(vectors)
assert dmlcpu.gather_nd(table, ids[..., None], out=batch) is batch

# %% Half the memory
half = table.astype(np.float16)
print("float16", dmlcpu.gather_nd(half, ids[..., None]).dtype, f"{half.nbytes / 1e6:.1f} MB")

# %% The picture
figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
shown = axis.imshow(similarities, cmap="viridis", vmin=0, vmax=1)
axis.set_xticks(range(len(words)), words, rotation=45, ha="right")
axis.set_yticks(range(len(words)), words)
axis.set_title("Cosine similarity of words by their letters")
figure.colorbar(shown)
figure.savefig("embedding_lookup.png")
