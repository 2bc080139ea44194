"""One attention head on seven words: three projections of one input, then scores, weights and output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.three_tokens.compute import attention, causal_mask, causal_visibility, entropy, softmax
from content.sections.tokens.compute import EMBEDDING, SENTENCE, look_up, sinusoidal, tokenize

WORDS = tuple(SENTENCE.split())
INPUTS = look_up(tokenize(SENTENCE), EMBEDDING) + sinusoidal(len(WORDS), EMBEDDING.shape[1])  # (7, 5)

# Stored as (d, D), one row for each feature that comes out, like torch.nn.Linear; illustrative, not learnt.
W_Q = np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]])  # (3, 5)
W_K = np.array([[0.5, 0.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0, 0.5]])  # (3, 5)
W_V = np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5, 0.5]])  # (3, 5)


class Projected(NamedTuple):
    query: np.ndarray  # (T, d_k)
    key: np.ndarray  # (T, d_k)
    value: np.ndarray  # (T, d_v)


def project(inputs: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray) -> Projected:
    """Queries, keys and values of one input, X Wᵀ for each of the three matrices.

    `inputs` (T, D); `w_q`, `w_k` (d_k, D); `w_v` (d_v, D), one row for each feature that comes out.
    Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.2, with W stored transposed.

    >>> project(np.array([[1.0, 2.0]]), np.eye(2), 2 * np.eye(2), np.array([[1.0, 1.0]])).value.tolist()
    [[3.0]]
    """
    return Projected(inputs @ w_q.T, inputs @ w_k.T, inputs @ w_v.T)


Q, K, V = project(INPUTS, W_Q, W_K, W_V)  # (7, 3) each
SCORES, WEIGHTS, OUTPUT = attention(Q, K, V)  # (7, 7), (7, 7), (7, 3)


def entry(name: str, matrix: np.ndarray, row: int, column: int) -> param.Number:
    doc = f"{name}: input feature {column} in output feature {row}."
    return param.Number(matrix[row, column].item(), bounds=(-2.0, 2.0), step=0.05, doc=doc)


class Controls(param.Parameterized):
    """The row to follow, the temperature, and all 45 entries of the projections, w<q|k|v><row><column>."""

    row = param.Selector(default=6, objects=list(range(len(WORDS))), doc="Position whose query is followed.")
    temperature = param.Number(1.0, bounds=(0.1, 5.0), step=0.05, doc="Divides the scores before softmax.")
    causal = param.Selector(default=0, objects=[0, 1], doc="Each query may use itself and earlier positions only.")
    matrix = param.Selector(default="q", objects=["q", "k", "v"], doc="Projection whose entries are shown.")
    locals().update({f"wq{i}{j}": entry("W_Q", W_Q, i, j) for i, j in np.ndindex(3, 5)})
    locals().update({f"wk{i}{j}": entry("W_K", W_K, i, j) for i, j in np.ndindex(3, 5)})
    locals().update({f"wv{i}{j}": entry("W_V", W_V, i, j) for i, j in np.ndindex(3, 5)})


class Trace(NamedTuple):
    inputs: np.ndarray  # (7, 5)
    w_q: np.ndarray  # (3, 5)
    w_k: np.ndarray  # (3, 5)
    w_v: np.ndarray  # (3, 5)
    query: np.ndarray  # (7, 3)
    key: np.ndarray  # (7, 3)
    value: np.ndarray  # (7, 3)
    dots: np.ndarray  # (7,) the chosen query with every key, before the division
    scores: np.ndarray  # (7, 7) before any mask
    visible: np.ndarray  # (7, 7) 1 where the query of the row may use the key of the column
    weights: np.ndarray  # (7, 7) rows sum to one
    contributions: np.ndarray  # (7, 3) weight times value, for the chosen query
    output: np.ndarray  # (7, 3)
    entropy: np.ndarray  # (7,) bits


def compute(*, row, temperature, causal, matrix, **entries) -> Trace:
    """One head at these projections, with the terms of the chosen `row`. `matrix` only chooses the sliders on show."""
    inputs = INPUTS
    w_q, w_k, w_v = (np.stack([entries[f"w{m}{i}{j}"] for i, j in np.ndindex(3, 5)]).reshape(3, 5) for m in "qkv")
    query, key, value = project(inputs, w_q, w_k, w_v)
    scores = attention(query, key, value).scores  # (7, 7)
    length = len(WORDS)
    visible = (causal_visibility(length) if causal else np.ones((length, length))).astype(int)  # (7, 7)
    sharpened = scores / temperature  # (7, 7) plain attention at temperature 1
    weights = softmax(sharpened + causal_mask(length) if causal else sharpened)  # (7, 7)
    output = weights @ value  # (7, 3)
    dots = query[row] @ key.T  # (7,)
    contributions = weights[row][:, None] * value  # (7, 3)
    return Trace(inputs, w_q, w_k, w_v, query, key, value, dots, scores, visible, weights, contributions, output, entropy(weights))


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `weights[6,0]`."""
    first = trace.contributions[:, 0]  # (7,) what each source adds to output feature 0
    return {
        "weight_sum": trace.weights[0].sum(),
        "max_entropy": np.log2(trace.weights.shape[-1]),
        "positive": first[first > 0].sum(),
        "negative": first[first < 0].sum(),
        "total": first.sum(),
    }


SECTION = Section("one_head", Controls, compute, facts)
