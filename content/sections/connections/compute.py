"""Three ways to connect positions: what a layer costs, what has to wait, how far apart two positions are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section

MEBIBYTE = 2.0**20  # bytes
LENGTHS = 2.0 ** np.arange(1, 18)  # (17,) tokens, 2 … 131 072: the horizontal axis of the curves

# Milliseconds of one forward pass as the source measured them, on its author's computer; never mixed with ours.
# Source: the Ukrainian lecture 12 on attention, section on the price of the square.
CITED = {"length": 2048.0, "attention_ms": 7.7, "gru_ms": 37.8}


def operations(length: np.ndarray, width: np.ndarray, k: int) -> np.ndarray:
    """Multiplications of one layer, up to a constant factor: recurrence, convolution, attention.

    `length` tokens T (a number or a row of numbers), `width` numbers a token D, `k` taps of the kernel.
    Returns (3,) or (3, n). Source: Vaswani et al., Attention Is All You Need (2017), table 1.

    >>> operations(10.0, 4.0, 3).tolist()
    [160.0, 480.0, 400.0]
    """
    recurrence = length * width**2  # one D × D matrix at each position
    convolution = k * recurrence  # k such matrices at each position
    attention = length**2 * width  # one dot product of width D for each pair of positions
    return np.stack([recurrence, convolution, attention])


def layers_to_span(length: float, k: int, dilated: bool) -> int:
    """Convolution layers until the last of `length` ≥ 2 positions depends on the first.

    With the spacing of the taps growing k-fold a layer, n layers see kⁿ positions; without, 1 + n(k − 1).

    >>> layers_to_span(9, 3, dilated=True), layers_to_span(9, 3, dilated=False)
    (2, 4)
    """
    if not dilated:
        return int(np.ceil((float(length) - 1) / (k - 1)))
    layers, seen = 0, 1
    while seen < length:
        layers, seen = layers + 1, seen * k
    return layers


def path_lengths(length: float, k: int, dilated: bool) -> np.ndarray:
    """Steps from the first to the last of `length` positions: recurrence, convolution, attention. Returns (3,).

    >>> path_lengths(9.0, 3, dilated=True).tolist()
    [8.0, 2.0, 1.0]
    """
    return np.stack([length - 1, float(layers_to_span(length, k, dilated)), 1.0])


class Controls(param.Parameterized):
    """The sizes of a sequence and of a layer. Lengths and widths are set by their power of two."""

    log2_t = param.Number(11.0, bounds=(1.0, 17.0), step=1.0, doc="Length T as a power of two; each step doubles it.")
    log2_d = param.Number(9.0, bounds=(2.0, 13.0), step=1.0, doc="Width D of a token's vector as a power of two.")
    k = param.Integer(3, bounds=(2, 9), step=1, doc="Taps of the convolution kernel.")
    dilated = param.Selector(default=1, objects=[0, 1], doc="Spread the taps k-fold further apart in each layer.")
    bytes = param.Selector(default=4, objects=[1, 2, 4, 8], doc="Bytes that store one number.")


class Trace(NamedTuple):
    """Rows of three are recurrence, convolution, attention."""

    length: np.ndarray  # () tokens T
    width: np.ndarray  # () numbers a token D
    comparison: np.ndarray  # (3, 4) operations a layer, sequential steps a layer, operations at once, path length
    memory: np.ndarray  # (2,) MiB: T × T weights of one head, T vectors of width D
    lengths: np.ndarray  # (17,) tokens
    cost_curve: np.ndarray  # (3, 17) operations a layer against `lengths`
    path_curve: np.ndarray  # (3, 17) steps against `lengths`
    memory_curve: np.ndarray  # (2, 17) MiB against `lengths`


def megabytes(length: np.ndarray, width: np.ndarray, bytes: int) -> np.ndarray:
    """Memory in MiB of the T × T attention weights of one head, and of T vectors of width D. Returns (2,) or (2, n).

    >>> megabytes(2048.0, 512.0, 4).tolist()
    [16.0, 4.0]
    """
    return np.stack([length**2 * bytes / MEBIBYTE, length * width * bytes / MEBIBYTE])


def compute(*, log2_t, log2_d, k, dilated, bytes) -> Trace:
    """Cost, waiting, path and memory at these sizes, and the same against the sequence length."""
    length = np.floor(2.0**log2_t)  # () between two marks of the slider T is rounded down to whole tokens
    width = np.floor(2.0**log2_d)  # ()
    cost = operations(length, width, k)  # (3,)
    sequential = np.stack([length, 1.0, 1.0])  # (3,)
    path = path_lengths(length, k, bool(dilated))  # (3,)
    return Trace(
        length=length,
        width=width,
        comparison=np.stack([cost, sequential, cost / sequential, path], axis=1),
        memory=megabytes(length, width, bytes),
        lengths=LENGTHS,
        cost_curve=operations(LENGTHS, width, k),
        path_curve=np.stack([path_lengths(t, k, bool(dilated)) for t in LENGTHS], axis=1),
        memory_curve=megabytes(LENGTHS, width, bytes),
    )


def facts(trace: Trace) -> dict[str, float]:
    """Ratios the prose quotes, memory in larger units, and the source's measured times."""
    cost, sequential, _, path = trace.comparison.T
    return {
        "pairs": trace.length**2,
        "cost_ratio": cost[2] / cost[0],  # attention against recurrence: T / D
        "taps": cost[1] / cost[0],  # convolution against recurrence: k
        "path_ratio": path[0] / path[2],
        "crossing_convolution": trace.width * cost[1] / cost[0],  # T = k · D
        "memory_gib": trace.memory[0] / 1024,
        "cited_length": CITED["length"],
        "cited_attention_ms": CITED["attention_ms"],
        "cited_gru_ms": CITED["gru_ms"],
        "cited_ratio": CITED["gru_ms"] / CITED["attention_ms"],
    }


SECTION = Section("connections", Controls, compute, facts)
