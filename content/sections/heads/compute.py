"""Several heads on one input: attention with separate projections, outputs side by side, one projection back."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Sequence

import numpy as np
import param

from content.section import Section
from content.sections.one_head.compute import INPUTS, W_K, W_Q, W_V, WORDS, Projected, project
from content.sections.three_tokens.compute import Attention, attention, entropy

WIDTH = INPUTS.shape[1]  # features a token, D
MOST = 5  # heads


class Head(NamedTuple):
    """The projections of one head, stored with a row for each feature that comes out; D features go in."""

    w_q: np.ndarray  # (d_k, D)
    w_k: np.ndarray  # (d_k, D)
    w_v: np.ndarray  # (d_v, D)


# Both heads and the projection back are illustrative, not learnt. Head 1 is the head of `one_head`.
HEAD_1 = Head(W_Q, W_K, W_V)
HEAD_2 = Head(
    np.array([[0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.0, 0.0, 0.0]]),
    np.array([[0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0, 0.5]]),
    np.array([[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0, 0.0, 0.5]]),
)
HEADS = (HEAD_1, HEAD_2)
W_O = np.array(
    [
        [1.0, 0.0, 0.0, 0.5, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.5, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.5],
        [0.5, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.5, 0.0, 1.0, 0.0, 0.0],
    ]
)  # (5, 6)


class MultiHead(NamedTuple):
    """What several heads computed on their way; T tokens of D features."""

    projected: list[Projected]  # queries, keys and values of each head
    attended: list[Attention]  # scores, weights and output of each head
    concat: np.ndarray  # (T, Σ d_v) the outputs side by side
    output: np.ndarray  # (T, D)


def multi_head(inputs: np.ndarray, heads: Sequence[Head], w_o: np.ndarray, *, mask: np.ndarray | None = None) -> MultiHead:
    """Multi-head self-attention, [O₁ | O₂ | …] W_Oᵀ; the heads may differ in d_k and d_v.

    `inputs` (T, D); `w_o` (D, Σ d_v) stored with a row for each feature that comes out; `mask` (T, T) as in `attention`.
    Raises ValueError when `w_o` does not fit the heads, `Undefined` when a row may see no key.
    Source: Vaswani et al., Attention Is All You Need (2017), section 3.2.2, with W stored transposed.

    >>> eye = Head(np.eye(2), np.eye(2), np.eye(2))
    >>> multi_head(np.ones((3, 2)), [eye, eye], np.ones((2, 4))).output[0].tolist()
    [4.0, 4.0]
    """
    projected = [project(inputs, *head) for head in heads]  # (T, d_k), (T, d_k), (T, d_v) a head
    attended = [attention(*one, mask=mask) for one in projected]  # (T, d_v) a head
    concat = np.concatenate([one.output for one in attended], axis=1)  # (T, Σ d_v): features join, rows stay
    return MultiHead(projected, attended, concat, concat @ w_o.T)


def parameter_count(widths: Sequence[tuple[int, int]], width: int) -> np.ndarray:
    """Weights without biases: one entry for each head of (d_k, d_v) in `widths`, then W_O. `width` is D.

    >>> parameter_count([(3, 3), (3, 3)], 5).tolist()
    [45, 45, 30]
    """
    heads = [(2 * d_k + d_v) * width for d_k, d_v in widths]
    return np.array([*heads, width * sum(d_v for _, d_v in widths)])


def draw_matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A projection of tenths between −1 and 1, (rows, columns)."""
    return rng.integers(-10, 11, (rows, columns)) / 10


@lru_cache(maxsize=64)  # moving one slider asks for the same heads at every step
def draw_head(seed: int, number: int, d_k: int, d_v: int) -> tuple[Head, np.ndarray]:
    """A head and its block of W_O, (D, d_v). The `number` is part of the seed: adding a head leaves the others alone."""
    rng = np.random.default_rng([seed, number])
    head = Head(draw_matrix(rng, d_k, WIDTH), draw_matrix(rng, d_k, WIDTH), draw_matrix(rng, d_v, WIDTH))
    return head, draw_matrix(rng, WIDTH, d_v)


def choose_heads(projections: str, num_heads: int, d_k: int, d_v: int, seed: int) -> tuple[tuple[Head, ...], np.ndarray]:
    """The heads, and W_O (D, Σ d_v), which has a block of columns for each head.

    "source" begins with the two fixed heads, "drawn" with none; the rest are drawn at (d_k, d_v) from `seed`.
    """
    fixed = min(num_heads, len(HEADS)) if projections == "source" else 0
    drawn = [draw_head(seed, number, d_k, d_v) for number in range(fixed + 1, num_heads + 1)]
    blocks = [W_O[:, : 3 * fixed], *(block for _, block in drawn)]
    return (*HEADS[:fixed], *(head for head, _ in drawn)), np.concatenate(blocks, axis=1)


def nudge(feature: int) -> param.Number:
    return param.Number(0.0, bounds=(-2.0, 2.0), step=0.05, doc=f"Added to feature {feature} of the chosen row's input.")


class Controls(param.Parameterized):
    """How many heads of which widths, which of them and which row to follow, and a nudge to that row's input."""

    num_heads = param.Integer(2, bounds=(1, MOST), step=1, doc="Number of heads.")
    projections = param.Selector(default="source", objects=["source", "drawn"], doc="Where heads 1 and 2 come from.")
    d_k = param.Integer(2, bounds=(1, 5), step=1, doc="Width of queries and keys of a drawn head.")
    d_v = param.Integer(4, bounds=(1, 5), step=1, doc="Width of values of a drawn head.")
    seed = param.Integer(0, bounds=(0, 99), step=1, doc="Seed of the drawn heads.")
    head = param.Selector(default=2, objects=[1, 2, 3, 4, 5], doc="Head on show; the last one where there are fewer.")
    row = param.Selector(default=6, objects=list(range(len(WORDS))), doc="Position whose query is followed.")
    x0, x1, x2, x3, x4 = (nudge(feature) for feature in range(WIDTH))


class Trace(NamedTuple):
    """The head on show, what the chosen row takes from every head, and the way back to D features; H heads."""

    inputs: np.ndarray  # (7, 5)
    shown: np.ndarray  # () number of the head on show, from 1
    w_q: np.ndarray  # (d_k, 5)
    w_k: np.ndarray  # (d_k, 5)
    w_v: np.ndarray  # (d_v, 5)
    query: np.ndarray  # (7, d_k)
    key: np.ndarray  # (7, d_k)
    value: np.ndarray  # (7, d_v)
    scores: np.ndarray  # (7, 7)
    weights: np.ndarray  # (7, 7) rows sum to one
    head_output: np.ndarray  # (7, d_v)
    row_weights: np.ndarray  # (H, 7) the chosen row's weights, a row for each head
    entropy: np.ndarray  # (H,) bits, of these rows
    concat: np.ndarray  # (7, Σ d_v)
    owner: np.ndarray  # (Σ d_v,) which head each column of concat and W_O belongs to, from 0
    w_o: np.ndarray  # (5, Σ d_v)
    output: np.ndarray  # (7, 5)
    contributions: np.ndarray  # (H, 5) what each head adds to the chosen row's output
    shapes: np.ndarray  # (8, 2) rows and columns at each stage, for the head on show
    widths: np.ndarray  # (H, 2) d_k and d_v of each head
    parameters: np.ndarray  # (H + 1,) weights of each head, then of W_O
    counted: np.ndarray  # (H + 1,) what each of them counts: heads from 0, then MOST for W_O
    remainder: np.ndarray  # (8, 8) embed_dim modulo num_heads, both from 1


def compute(*, num_heads, projections, d_k, d_v, seed, head, row, x0, x1, x2, x3, x4) -> Trace:
    """Several heads at these widths. Where there is no head of number `head`, the last one is on show."""
    moved = INPUTS[row] + np.stack([x0, x1, x2, x3, x4])  # (5,)
    inputs = np.stack([moved if t == row else INPUTS[t] for t in range(len(WORDS))])  # (7, 5)
    heads, w_o = choose_heads(projections, num_heads, d_k, d_v, seed)
    step = multi_head(inputs, heads, w_o)

    shown = min(head, num_heads)
    query, key, value = step.projected[shown - 1]
    scores, weights, head_output = step.attended[shown - 1]
    row_weights = np.stack([one.weights[row] for one in step.attended])  # (H, 7)

    widths = np.array([(len(one.w_q), len(one.w_v)) for one in heads])  # (H, 2)
    owner = np.repeat(np.arange(num_heads), widths[:, 1])  # (Σ d_v,)
    ends = np.cumsum(widths[:, 1]).tolist()  # where each head's columns end in concat and in W_O
    columns = [slice(end - d_v, end) for end, (_, d_v) in zip(ends, widths)]
    contributions = np.stack([step.concat[row, part] @ w_o[:, part].T for part in columns])  # (H, 5)
    stages = (inputs, query, value, weights, head_output, step.concat, w_o.T, step.output)
    return Trace(
        inputs, np.array(shown), *heads[shown - 1], query, key, value, scores, weights, head_output,
        row_weights, entropy(row_weights), step.concat, owner, w_o, step.output, contributions,
        shapes=np.array([stage.shape for stage in stages]),
        widths=widths,
        parameters=parameter_count(widths.tolist(), WIDTH),
        counted=np.array([*range(num_heads), MOST]),
        remainder=np.arange(1, 9)[:, None] % np.arange(1, 9),
    )  # fmt: skip


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `output[6,0]`."""
    (num_heads, tokens), width = trace.row_weights.shape, trace.inputs.shape[1]
    return {
        "head_count": num_heads,
        "tokens": tokens,
        "width": width,
        "concat_width": trace.concat.shape[1],
        "stacked_rows": num_heads * tokens,  # what joining along positions would give
        "shown_d_k": trace.query.shape[1],
        "shown_d_v": trace.value.shape[1],
        "max_entropy": np.log2(tokens),
        "parameters_total": trace.parameters.sum(),
        "score_cells": num_heads * tokens**2,
        "left_over": width % num_heads,
        "accepted": float((trace.widths * num_heads == width).all()),  # nn.MultiheadAttention: d_k = d_v = D / H
        "base_head_width": 512 // 8,
        "base_parameters": parameter_count([(64, 64)] * 8, 512).sum(),  # the base model of the paper
        "single_parameters": parameter_count([(512, 512)], 512).sum(),  # one head as wide as the model
    }


SECTION = Section("heads", Controls, compute, facts)
