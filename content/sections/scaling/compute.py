"""Why attention divides its scores by √d_k: one seeded draw, and many draws at many widths."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.three_tokens.compute import entropy
from content.sections.weighted_average.compute import softmax

WIDEST, MOST_KEYS = 256, 32
WALKS = 6  # keys whose dot product is followed term by term
WIDTHS = np.array([4, 8, 16, 32, 64, 128, 256])
DRAWS, DRAWS_SEED = 128, 0  # the many draws have a seed of their own
SATURATED = 0.99  # a largest weight above this counts as saturated


@lru_cache(maxsize=16)
def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One query (WIDEST,) and its keys (MOST_KEYS, WIDEST), every entry independent with mean 0 and variance 1.

    A narrower or shorter setting takes the first features and keys, so that moving a slider adds
    to the draw and does not replace it.
    """
    rng = np.random.default_rng(seed)
    return rng.standard_normal(WIDEST), rng.standard_normal((MOST_KEYS, WIDEST))


def jacobian(weights: np.ndarray) -> np.ndarray:
    """Slopes of softmax: how weight i answers to score j, diag(p) − p pᵀ.

    `weights` (..., n), shares that sum to one. Returns (..., n, n).

    >>> jacobian(np.array([0.5, 0.5])).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    n = weights.shape[-1]
    row, column = weights[..., :, None], weights[..., None, :]
    return np.eye(n) * row - row * column


def gradient_size(slopes: np.ndarray) -> np.ndarray:
    """Root of the sum of all squared slopes (Frobenius norm), (..., n, n) -> (...).

    >>> gradient_size(jacobian(np.array([0.5, 0.5]))).item()
    0.5
    """
    return np.sqrt((slopes**2).reshape(*slopes.shape[:-2], -1).sum(axis=-1))


@lru_cache(maxsize=1)
def many_dots() -> np.ndarray:
    """Dot products of DRAWS queries with their keys at every width: (widths, draws, MOST_KEYS)."""
    rng = np.random.default_rng(DRAWS_SEED)
    query = rng.standard_normal((DRAWS, WIDEST, 1))
    key = rng.standard_normal((DRAWS, MOST_KEYS, WIDEST))
    return np.stack([(key[..., :d] @ query[:, :d])[..., 0] for d in WIDTHS])


class Population(NamedTuple):
    """What many draws do at each width; rows: without and with the division."""

    variance: np.ndarray  # (2, widths) of the scores
    gradient_median: np.ndarray  # (2, widths) half of the draws have a smaller softmax gradient
    saturated: np.ndarray  # (2, widths) share of draws whose largest weight is above SATURATED


@lru_cache(maxsize=MOST_KEYS)
def population(n: int) -> Population:
    """Many draws with `n` keys at every width. The variance uses all keys, whatever `n`."""
    columns = []
    for d, dots in zip(WIDTHS, many_dots()):
        scores = np.stack([dots, dots / np.sqrt(d)])  # (2, draws, MOST_KEYS)
        weights = softmax(scores[..., :n])  # (2, draws, n)
        columns.append((
            scores.var(axis=(1, 2)),
            np.median(gradient_size(jacobian(weights)), axis=1),
            (weights.max(axis=-1) > SATURATED).mean(axis=1),
        ))  # fmt: skip
    return Population(*(np.stack(column, axis=1) for column in zip(*columns)))


class Controls(param.Parameterized):
    """One query and n keys of random numbers."""

    d_k = param.Integer(64, bounds=(1, WIDEST), doc="Width of query and keys.")
    n = param.Integer(24, bounds=(2, MOST_KEYS), doc="Number of keys.")
    spread = param.Number(1.0, bounds=(0.25, 2.0), step=0.05, doc="Standard deviation of every entry of query and keys.")
    seed = param.Integer(77, bounds=(0, 999), doc="Seed of the one draw.")
    scaled = param.Selector(default=1, objects=[0, 1], doc="Which of the two cases the slopes are shown for.")


class Trace(NamedTuple):
    dots: np.ndarray  # (n,) query · key
    scores: np.ndarray  # (2, n) rows: without and with the division by √d_k
    weights: np.ndarray  # (2, n)
    largest: np.ndarray  # (2,) largest weight
    entropy: np.ndarray  # (2,) nats
    jacobian: np.ndarray  # (n, n) slopes of softmax in the case that `scaled` chooses
    gradient: np.ndarray  # (2,) size of all slopes together
    walk: np.ndarray  # (min(n, WALKS), d_k) dot product with the first keys, after each term
    envelope: np.ndarray  # (d_k,) expected distance of such a walk from zero, spread² √step
    widths: np.ndarray  # (7,) widths of the many draws
    variance: np.ndarray  # (2, 7)
    gradient_median: np.ndarray  # (2, 7)
    saturated: np.ndarray  # (2, 7)


def compute(*, d_k, n, spread, seed, scaled) -> Trace:
    """Scores and weights of one draw with and without √d_k, beside the statistics of many draws (these at spread 1)."""
    query, key = draw(seed)
    query, key = query[:d_k], key[:n, :d_k]
    dots = spread**2 * (key @ query)  # (n,) both factors carry the spread once
    scores = np.stack([dots, dots / np.sqrt(d_k)])  # (2, n)
    weights = softmax(scores)
    slopes = jacobian(weights)  # (2, n, n)
    return Trace(
        dots=dots,
        scores=scores,
        weights=weights,
        largest=weights.max(axis=1),
        entropy=entropy(weights) * np.log(2),  # bits to nats
        jacobian=slopes[scaled],
        gradient=gradient_size(slopes),
        walk=spread**2 * np.cumsum(key[:WALKS] * query, axis=1),
        envelope=spread**2 * np.sqrt(np.arange(1, d_k + 1)),
        widths=WIDTHS,
        **population(n)._asdict(),
    )


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `largest[0]`."""
    n, d_k = trace.dots.size, trace.envelope.size
    ordered = np.sort(trace.scores, axis=1)  # (2, n)
    gap_unscaled, gap_scaled = ordered[:, -1] - ordered[:, -2]  # between the two best keys
    return {
        "keys": n,
        "terms": d_k,
        "max_entropy": np.log(n),
        "uniform": 1 / n,
        "root": np.sqrt(d_k),
        "expected": trace.envelope[-1],
        "deviation": trace.dots.std(),
        "evenly_unscaled": np.exp(trace.entropy[0]),  # so many keys sharing evenly have this entropy
        "evenly_scaled": np.exp(trace.entropy[1]),
        "gap_unscaled": gap_unscaled,
        "ratio_unscaled": np.exp(gap_unscaled),  # of the two largest weights
        "ratio_scaled": np.exp(gap_scaled),
    }


SECTION = Section("scaling", Controls, compute, facts)
