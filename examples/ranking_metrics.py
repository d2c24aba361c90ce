"""How well scores rank what is relevant, in NumPy: knows nothing of dmlcpu. See ranking.py."""

import numpy as np


def ndcg(scores, gains):
    """The normalised discounted cumulative gain of each query (row): the gains in the order of the
    scores, discounted by the logarithm of their rank and summed, over that sum of the best order."""
    discounts = 1 / np.log2(np.arange(2, scores.shape[1] + 2))
    # Documents of equal scores stay in their order.
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(gains, order, axis=1)
    best = np.sort(gains, axis=1)[:, ::-1]
    return (ranked * discounts).sum(axis=1) / (best * discounts).sum(axis=1)


def average_precision(scores, relevant):
    """The average precision of each query: the mean of the precisions at its relevant documents."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(relevant, order, axis=1)
    precision = np.cumsum(ranked, axis=1) / np.arange(1, scores.shape[1] + 1)
    return (precision * ranked).sum(axis=1) / ranked.sum(axis=1)
