"""How well scores rank what is relevant, in NumPy: knows nothing of dmlcpu. See ranking.py."""

import numpy as np


def ndcg(scores, gains):
    """Of each query (row) the normalised discounted cumulative gain: what the gains in the order of the
    scores are worth, discounted by the logarithm of their rank, over what the best order is worth."""
    discounts = 1 / np.log2(np.arange(2, scores.shape[1] + 2))
    order = np.argsort(
        -scores, axis=1, kind="stable"
    )  # documents of equal scores stay as they were
    ranked = np.take_along_axis(gains, order, axis=1)
    best = np.sort(gains, axis=1)[:, ::-1]
    return (ranked * discounts).sum(axis=1) / (best * discounts).sum(axis=1)


def average_precision(scores, relevant):
    """Of each query the mean, over its relevant documents, of the share of relevant ones up to there."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(relevant, order, axis=1)
    precision = np.cumsum(ranked, axis=1) / np.arange(1, scores.shape[1] + 1)
    return (precision * ranked).sum(axis=1) / ranked.sum(axis=1)
