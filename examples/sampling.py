# %% [markdown]
# # Top-k and top-p sampling from language-model logits
#
# A language model gives each token of its vocabulary a logit. Sampling draws the next token from the
# most probable ones: the `k` most probable (top-k), or the fewest whose probabilities sum up to `p` or
# more (top-p, also called nucleus sampling). The logits are generated: their probabilities fall with
# the rank as those of words do.
#
# It needs `pip install matplotlib` and writes `sampling.png`.

# %% The logits
import matplotlib.pyplot as plt
import numpy as np

import dmlcpu

rng = np.random.default_rng(0)
batch, vocabulary = 8, 128256
sharpness = np.linspace(1.0, 2.6, batch)[:, None]  # from undecided to sure of itself
ranks = np.argsort(rng.random((batch, vocabulary)), axis=1) + 1
logits = (-sharpness * np.log(ranks)).astype(np.float32)
print("logits", logits.shape, logits.dtype)


# %% The greedy choice
greedy = dmlcpu.argmax(logits, axis=1, keepdims=False)
print("greedy", greedy)


# %% Draw from weights
def draw(weights, tokens, rng):
    """One of each row's tokens, with a probability in proportion to its weight."""
    cumulative = np.cumsum(weights, axis=1)
    points = rng.random((len(weights), 1)) * cumulative[:, -1:]
    places = (cumulative <= points).sum(axis=1)
    return dmlcpu.gather_nd(tokens, places[:, None], batch_dims=1)


# %% Top-k
def sample_top_k(logits, k, rng):
    """A token for each row, drawn from its `k` most probable ones."""
    best = dmlcpu.top_k(logits, k)
    weights = np.exp(best.values - best.values[:, :1])
    return draw(weights, best.indices, rng)


print("top-k", sample_top_k(logits, 50, rng))


# %% Top-p
def nucleus(logits, p, k=256):
    """Tokens, the most probable first, and their probabilities, which are 0 after those that reach `p`
    together. Probabilities are shares of the whole row; `k` grows until the best `k` reach `p`."""
    best = dmlcpu.top_k(logits, min(k, logits.shape[1]))
    highest = best.values[:, :1]
    total = np.exp(logits - highest).sum(axis=1, keepdims=True, dtype=np.float64)
    probabilities = np.exp(best.values - highest) / total
    before = np.cumsum(probabilities, axis=1) - probabilities
    if k < logits.shape[1] and np.any(before[:, -1] + probabilities[:, -1] < p):
        return nucleus(logits, p, min(4 * k, logits.shape[1]))
    return np.where(before < p, probabilities, 0), best.indices


def sample_top_p(logits, p, rng):
    """A token for each row, drawn from the fewest whose probabilities sum up to `p` or more."""
    return draw(*nucleus(logits, p), rng)


print("top-p", sample_top_p(logits, 0.9, rng))

# %% How many tokens each keeps
kept, tokens = nucleus(logits, 0.9)
print("tokens in the nucleus", (kept > 0).sum(axis=1), "of", tokens.shape[1], "looked at")

# %% The picture
sorted_logits = dmlcpu.top_k(logits, 10000).values
probabilities = np.exp(sorted_logits) / np.exp(logits).sum(axis=1, keepdims=True)
figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
for row in (0, 2, 4, 7):
    size = int((kept[row] > 0).sum())
    (line,) = axis.loglog(
        np.arange(1, 10001), probabilities[row], label=f"row {row}: {size} tokens"
    )
    if size <= 10000:
        axis.plot(size, probabilities[row, size - 1], "o", color=line.get_color())
axis.axvline(50, linestyle=":", color="gray", label="k = 50")
axis.set(xlabel="tokens, the most probable first", ylabel="probability")
axis.set_title("Top-k keeps as many tokens of every row; top-p (dots) as many as make 90 %")
axis.legend()
figure.savefig("sampling.png")
