"""Attention on three tokens: scores, weights and output, small enough to follow by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.weighted_average.compute import softmax


class Attention(NamedTuple):
    """What one attention step computed on its way; T_q queries, T_k keys."""

    scores: np.ndarray  # (T_q, T_k) query · key, divided by √d_k when scaled
    weights: np.ndarray  # (T_q, T_k) rows sum to one
    output: np.ndarray  # (T_q, d_v)


def attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, *, scaled: bool = True, mask: np.ndarray | None = None
) -> Attention:
    """Scaled dot-product attention, softmax(Q Kᵀ / √d_k + M) V.

    `query` (T_q, d_k), `key` (T_k, d_k), `value` (T_k, d_v); `mask` (T_q, T_k) is added to the
    scores, 0 where a key may be seen and −inf where not. `scores` are returned unmasked.
    Raises `Undefined` when a row may see no key.
    Source: Vaswani et al., Attention Is All You Need (2017), eq. 1.
    """
    d_k = query.shape[-1]
    dots = query @ key.T  # (T_q, T_k)
    scores = dots / np.sqrt(d_k) if scaled else dots
    weights = softmax(scores if mask is None else scores + mask)
    return Attention(scores, weights, weights @ value)


def additive_mask(visible: np.ndarray) -> np.ndarray:
    """What is added to the scores: 0 where `visible` is true, −inf where it is false; any shape.

    >>> additive_mask(np.array([True, True, False])).tolist()
    [0.0, 0.0, -inf]
    """
    return np.where(visible, 0.0, -np.inf)


def causal_visibility(length: int) -> np.ndarray:
    """Boolean (T, T): the query of row t may use key j when j ≤ t.

    >>> causal_visibility(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return np.tri(length, dtype=bool)


def causal_mask(length: int) -> np.ndarray:
    """The causal rule as an additive mask, (T, T): 0 on and below the diagonal, −inf above.

    Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.3.

    >>> causal_mask(2).tolist()
    [[0.0, -inf], [0.0, 0.0]]
    """
    return additive_mask(causal_visibility(length))


def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy in bits of each row of shares, (..., n) -> (...). A share of zero adds nothing.

    >>> entropy(np.array([0.5, 0.5])).item()
    1.0
    """
    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


def coordinate(default: float, doc: str) -> param.Number:
    return param.Number(default, bounds=(-3.0, 3.0), step=0.05, doc=doc)


class Controls(param.Parameterized):
    """Three tokens with two coordinates for query and key (one vector serves as both) and two for the value."""

    token = param.Selector(default=0, objects=[0, 1, 2], doc="Token whose sliders are shown.")
    q00 = coordinate(1.0, "Query and key of token 0, coordinate 0.")
    q01 = coordinate(0.0, "Query and key of token 0, coordinate 1.")
    q10 = coordinate(0.0, "Query and key of token 1, coordinate 0.")
    q11 = coordinate(1.0, "Query and key of token 1, coordinate 1.")
    q20 = coordinate(1.0, "Query and key of token 2, coordinate 0.")
    q21 = coordinate(1.0, "Query and key of token 2, coordinate 1.")
    v00 = coordinate(1.0, "Value of token 0, coordinate 0.")
    v01 = coordinate(0.0, "Value of token 0, coordinate 1.")
    v10 = coordinate(0.0, "Value of token 1, coordinate 0.")
    v11 = coordinate(2.0, "Value of token 1, coordinate 1.")
    v20 = coordinate(3.0, "Value of token 2, coordinate 0.")
    v21 = coordinate(1.0, "Value of token 2, coordinate 1.")
    scaled = param.Selector(default=1, objects=[0, 1], doc="Divide the scores by √d_k.")


class Trace(NamedTuple):
    query: np.ndarray  # (3, 2) also the keys
    value: np.ndarray  # (3, 2)
    scores: np.ndarray  # (3, 3)
    weights: np.ndarray  # (3, 3)
    output: np.ndarray  # (3, 2)
    entropy: np.ndarray  # (3,) bits


def compute(*, token, q00, q01, q10, q11, q20, q21, v00, v01, v10, v11, v20, v21, scaled) -> Trace:
    """Attention of three tokens to each other at these controls. `token` only chooses the sliders on show."""
    query = np.stack([q00, q01, q10, q11, q20, q21]).reshape(3, 2)
    value = np.stack([v00, v01, v10, v11, v20, v21]).reshape(3, 2)
    scores, weights, output = attention(query, query, value, scaled=bool(scaled))
    return Trace(query, value, scores, weights, output, entropy(weights))


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `weights[0,2]`."""
    return {
        "max_entropy": np.log2(trace.weights.shape[-1]),
        "weight_sum": trace.weights[0].sum(),
    }


SECTION = Section("three_tokens", Controls, compute, facts)
