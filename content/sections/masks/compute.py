"""Masks: which keys a query may use, and what is done to its weights so that it uses no other."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.one_head.compute import SCORES, V
from content.sections.three_tokens.compute import additive_mask, causal_mask, causal_visibility
from content.sections.weighted_average.compute import softmax

# Weights of the fourth of eight queries. The source (lecture 12, causal masks) prints two decimals of them, without a mask
# and with it; these three decimals are ours, chosen to round to both printed rows.
EIGHT_WEIGHTS = np.array([0.240, 0.160, 0.044, 0.056, 0.048, 0.009, 0.096, 0.347])
EIGHT_SCORES = np.log(EIGHT_WEIGHTS)  # (8,) up to a constant, which softmax does not see
EIGHT_VALUE = np.arange(8.0)[:, None]  # (8, 1) ours: each value is its own position
STORED = {"eight": (EIGHT_SCORES, EIGHT_VALUE), "journey": (SCORES, V)}  # scores (T,) or (T, T), values (T, d_v)


def padding_visibility(real: np.ndarray) -> np.ndarray:
    """Boolean (T, T): every query may use the keys that are `real`, (T,), and no padding.

    >>> padding_visibility(np.array([True, False])).astype(int).tolist()
    [[1, 0], [1, 0]]
    """
    return np.tile(np.asarray(real, dtype=bool), (len(real), 1))


def visibility(kind: str, length: int, query: int, bits: str) -> np.ndarray:
    """Boolean (T, T), rows are queries and columns keys: may this query use this key?

    `kind` is "none" (every key may be used), "causal", "padding" (`bits` say which keys are real, for every query)
    or "custom" (`bits` hold for the row `query` alone, the other rows are free). Bits beyond `length` are cut off;
    a key without a bit is visible.

    >>> visibility("custom", 3, query=1, bits="110").astype(int).tolist()
    [[1, 1, 1], [1, 1, 0], [1, 1, 1]]
    """
    row = np.array([bit == "1" for bit in bits[:length].ljust(length, "1")])  # (T,)
    if kind == "causal":
        return causal_visibility(length)
    if kind == "padding":
        return padding_visibility(row)
    if kind == "custom":
        return np.where(np.arange(length)[:, None] == query, row, True)
    return np.ones((length, length), dtype=bool)


def traced_like(controls: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """`constant` unchanged, but followed by content/explain.py as the `controls` are whose place it takes."""
    nothing = controls.reshape(-1)[:0]
    return np.concatenate([nothing, constant.reshape(-1)]).reshape(constant.shape)


def score(default: float, doc: str) -> param.Number:
    return param.Number(default, bounds=(-5.0, 5.0), step=0.05, doc=doc)


class Controls(param.Parameterized):
    """An example, the scores and values of the small one, and the rule that says which keys its query may use."""

    example = param.Selector(default="three", objects=["three", "eight", "journey"], doc="Whose scores are used.")
    s0 = score(0.0, "Score of key 0 of `three`.")
    s1 = score(math.log(2), "Score of key 1 of `three`.")
    s2 = score(math.log(3), "Score of key 2 of `three`.")
    x0 = score(2.0, "Value of key 0 of `three`.")
    x1 = score(-1.0, "Value of key 1 of `three`.")
    x2 = score(4.0, "Value of key 2 of `three`.")
    kind = param.Selector(default="causal", objects=["none", "causal", "padding", "custom"], doc="Rule of visibility.")
    visible = param.String("110", regex=r"^[01]{3,8}$", doc="One bit a key, for `padding` and `custom`; 1 is visible.")
    query = param.Integer(1, bounds=(0, 7), doc="Position of the query; beyond the last one it is the last one.")


class Trace(NamedTuple):
    """The chosen query's row under each rule, and the whole square of the rule. T keys, d_v features of a value."""

    scores: np.ndarray  # (T,)
    value: np.ndarray  # (T, d_v)
    visible: np.ndarray  # (T,) 1 or 0
    visibility: np.ndarray  # (T, T) the same for every query
    weights_full: np.ndarray  # (T,)
    weights_masked: np.ndarray  # (T,) −∞ before softmax
    weights_zeroed: np.ndarray  # (T,) zero after softmax
    weights_rescaled: np.ndarray  # (T,) zero after, then divided by what is left
    row_sums: np.ndarray  # (4,) of full, masked, zeroed, rescaled
    output_full: np.ndarray  # (d_v,)
    output_masked: np.ndarray  # (d_v,)
    output_zeroed: np.ndarray  # (d_v,)
    output_rescaled: np.ndarray  # (d_v,)
    weights: np.ndarray  # (T, T) masked weights of every query
    position: int  # of the query, within the example


def compute(*, example, s0, s1, s2, x0, x1, x2, kind, visible, query) -> Trace:
    """One row under three rules. `three` and `eight` know one row of scores, which every query then shares."""
    table = np.stack([s0, s1, s2])  # (3,)
    value = np.stack([x0, x1, x2]).reshape(3, 1)
    if example in STORED:
        table, value = (traced_like(table, constant) for constant in STORED[example])  # (T,) or (T, T), (T, d_v)
    length = len(value)
    position = min(query, length - 1)
    seen = visibility(kind, length, position, visible)  # (T, T)
    every_score = np.broadcast_to(table, (length, length))  # (T, T)
    weights = softmax(every_score + additive_mask(seen))  # (T, T)

    scores, allowed = every_score[position], seen[position]  # (T,), (T,)
    full = softmax(scores)
    masked = softmax(scores + additive_mask(allowed))  # −∞ before softmax
    zeroed = full * allowed  # zero after softmax: the sum falls short of one
    rescaled = zeroed / zeroed.sum()  # and the sum is one again
    return Trace(
        scores, value, allowed.astype(int), seen.astype(int),
        full, masked, zeroed, rescaled, np.stack([row.sum() for row in (full, masked, zeroed, rescaled)]),
        full @ value, masked @ value, zeroed @ value, rescaled @ value,
        weights, position,
    )  # fmt: skip


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `weights_masked[0]`."""
    return {
        "num_keys": len(trace.scores),
        "num_visible": trace.visible.sum(),
        "lost": 1.0 - trace.row_sums[2],
        "factor": 1.0 / trace.row_sums[2],
    }


SECTION = Section("masks", Controls, compute, facts)
