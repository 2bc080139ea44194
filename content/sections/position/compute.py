"""Position: codes for places, what they look like to each other, and what attention does with and without them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section
from content.sections.three_tokens.compute import attention
from content.sections.tokens.compute import sinusoidal

NUM_TOKENS, WIDTH = 6, 8  # of the swap check
SWAPPED = [0, 1, 3, 2, 4, 5]  # rows of the swap check with the third and the fourth exchanged


def frequencies(width: int, base: float = 10000.0) -> np.ndarray:
    """Radians that each complete pair of `sinusoidal` turns in one position, (width // 2,).

    >>> frequencies(4, 100.0).round(3).tolist()
    [1.0, 0.1]
    """
    return base ** (-2 * np.arange(width // 2) / width)


def random_table(length: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Positions as a learned table starts, (length, width): independent normal numbers.

    Their mean square is 1/2, that of a sine, so that a row is about as long as a sinusoidal one.
    """
    return rng.normal(0.0, np.sqrt(0.5), (length, width))


def position_table(kind: str, length: int, width: int, base: float, rng: np.random.Generator) -> np.ndarray:
    """One row a position, (length, width): "sinusoidal", "random", or zeros for "none"."""
    if kind == "sinusoidal":
        return sinusoidal(length, width, base)
    if kind == "random":
        return random_table(length, width, rng)
    return np.zeros((length, width))


def rotations(angle: np.ndarray) -> np.ndarray:
    """2×2 blocks, row after row, that turn (sin a, cos a) into (sin(a + angle), cos(a + angle)): (n,) -> (n, 4).

    Source: the addition theorems; Vaswani et al., Attention Is All You Need (2017), section 3.5.

    >>> (rotations(np.array([np.pi / 2])).reshape(2, 2) @ np.array([0.0, 1.0])).round(3).tolist()
    [1.0, 0.0]
    """
    cos, sin = np.cos(angle), np.sin(angle)  # (n,)
    return np.stack([cos, sin, -sin, cos], axis=1)


class Head(NamedTuple):
    """What one head of self-attention computed for T rows of D features."""

    value: np.ndarray  # (T, D)
    weights: np.ndarray  # (T, T)
    output: np.ndarray  # (T, D)


def self_attention(inputs: np.ndarray, projections: np.ndarray) -> Head:
    """Attention of the rows of `inputs` (T, D) to each other; `projections` (3, D, D) make query, key and value.

    The query's projection carries the 1/√d_k, which keeps float32 numbers float32.
    """
    query, key, value = (inputs @ projection for projection in projections)  # (T, D) each
    step = attention(query, key, value, scaled=False)
    return Head(value, step.weights, step.output)


class Controls(param.Parameterized):
    """A table of position codes, the position that is looked at, and the random numbers of the swap check."""

    d = param.Integer(64, bounds=(2, 128), step=1, doc="Features of a position code, D.")
    t = param.Integer(40, bounds=(8, 128), step=1, doc="Positions in the sequence, T.")
    position = param.Integer(10, bounds=(0, 127), step=1, doc="Position that is compared; beyond T the last one is taken.")
    offset = param.Integer(1, bounds=(0, 64), step=1, doc="Distance k of the rotation and of the test of distances.")
    base = param.Number(10000.0, bounds=(1.0, 20000.0), step=1.0, doc="Base of the frequencies.")
    kind = param.Selector(default="sinusoidal", objects=["sinusoidal", "random", "none"], doc="Where the codes come from.")
    seed = param.Integer(0, bounds=(0, 99), step=1, doc="Seed of the random table and of the swap check.")
    dtype = param.Selector(default="float64", objects=["float64", "float32"], doc="Precision of the swap check.")
    run = param.Selector(default="plain", objects=["plain", "placed", "carried"], doc="Run of the swap check that is on show.")


class Trace(NamedTuple):
    """T positions, D features, P = D // 2 complete pairs; the swap check has 6 tokens of 8 features."""

    encoding: np.ndarray  # (T, D)
    chosen: np.ndarray  # () the position p that is compared
    dot: np.ndarray  # (T,) PE_p · PE_q / D
    similarity: np.ndarray  # (T,) dot, divided by its own value at q = p; 0 where that is 0
    offset_dot: np.ndarray  # (T,) PE_q · PE_{q+k} / D, for every q
    wavelength: np.ndarray  # (P,) positions to a full turn
    angle: np.ndarray  # (P,) radians turned in k positions
    rotation: np.ndarray  # (P, 4) each pair's 2×2 block, row after row
    before: np.ndarray  # (P, 2) PE_p, pair by pair
    rotated: np.ndarray  # (P, 2) PE_p after the rotation
    after: np.ndarray  # (P, 2) PE_{p+k}
    rotation_difference: np.ndarray  # (P, 2) rotated − after
    tokens: np.ndarray  # (6, 8)
    positions: np.ndarray  # (6, 8)
    value_plain: np.ndarray  # (6, 8) the head on tokens alone
    weights_plain: np.ndarray  # (6, 6)
    output_plain: np.ndarray  # (6, 8)
    value_plain_swapped: np.ndarray  # (6, 8) with the third and the fourth token exchanged
    weights_plain_swapped: np.ndarray  # (6, 6)
    output_plain_swapped: np.ndarray  # (6, 8)
    difference_plain: np.ndarray  # (6, 8) output_plain_swapped − output_plain in swapped order
    value_position: np.ndarray  # (6, 8) the head on tokens + positions
    weights_position: np.ndarray  # (6, 6)
    output_position: np.ndarray  # (6, 8)
    value_position_swapped: np.ndarray  # (6, 8) tokens exchanged, positions left in their places
    weights_position_swapped: np.ndarray  # (6, 6)
    output_position_swapped: np.ndarray  # (6, 8)
    difference_position: np.ndarray  # (6, 8)
    value_carried: np.ndarray  # (6, 8) tokens exchanged together with their positions
    weights_carried: np.ndarray  # (6, 6)
    output_carried: np.ndarray  # (6, 8)
    difference_carried: np.ndarray  # (6, 8)


def compute(*, d, t, position, offset, base, kind, seed, dtype, run) -> Trace:
    """Codes and their comparison at these controls, and the swap check with them. `run` only chooses what is on show."""
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(NUM_TOKENS, WIDTH)).astype(dtype)
    projections = rng.normal(size=(3, WIDTH, WIDTH)) / np.sqrt(WIDTH)
    projections[0] /= np.sqrt(WIDTH)  # the query's carries attention's 1/√d_k
    projections = projections.astype(dtype)
    positions = position_table(kind, NUM_TOKENS, WIDTH, base, rng).astype(dtype)

    # The codes: p + k may lie beyond the sequence, so the table goes on for k rows.
    table = position_table(kind, t + offset, d, base, rng)  # (T + k, D)
    encoding, shifted = table[:t], table[offset:]  # (T, D) each
    chosen = min(position, t - 1)

    # How alike: dot products with the chosen position, and of all positions k apart.
    dot = encoding @ encoding[chosen] / d  # (T,)
    own = dot[chosen]
    similarity = dot / np.where(own > 0, own, 1.0)
    offset_dot = (encoding * shifted).sum(axis=1) / d  # (T,)

    # From p to p + k: every pair turns by k times its frequency.
    frequency = frequencies(d, base)  # (P,)
    pairs = len(frequency)
    angle = offset * frequency
    rotation = rotations(angle)  # (P, 4)
    before = encoding[chosen, : 2 * pairs].reshape(pairs, 2)
    after = shifted[chosen, : 2 * pairs].reshape(pairs, 2)
    rotated = (rotation.reshape(pairs, 2, 2) @ before[:, :, None])[:, :, 0]  # (P, 2)

    # The swap check: exchange two tokens and compare with the output in the exchanged order.
    plain = self_attention(tokens, projections)
    plain_swapped = self_attention(tokens[SWAPPED], projections)
    placed = self_attention(tokens + positions, projections)
    placed_swapped = self_attention(tokens[SWAPPED] + positions, projections)
    carried = self_attention((tokens + positions)[SWAPPED], projections)
    return Trace(
        encoding, np.array(chosen), dot, similarity, offset_dot,
        2 * np.pi / frequency, angle, rotation, before, rotated, after, rotated - after,
        tokens, positions,
        *plain, *plain_swapped, plain_swapped.output - plain.output[SWAPPED],
        *placed, *placed_swapped, placed_swapped.output - placed.output[SWAPPED],
        *carried, carried.output - placed.output[SWAPPED],
    )  # fmt: skip


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `similarity[20]`."""
    chosen = int(trace.chosen)
    neighbour = chosen + 1 if chosen + 1 < len(trace.dot) else chosen - 1
    return {
        "chosen": chosen,
        "dot_self": trace.dot[chosen],
        "similarity_neighbour": trace.similarity[neighbour],
        "distance_spread": trace.offset_dot.max() - trace.offset_dot.min(),
        "num_pairs": len(trace.angle),
        "longest_wavelength": trace.wavelength[-1],
        "rotation_error": np.abs(trace.rotation_difference).max(),
        "difference_attention": np.abs(trace.difference_plain).max(),
        "difference_with_position": np.abs(trace.difference_position).max(),
        "difference_carried": np.abs(trace.difference_carried).max(),
    }


SECTION = Section("position", Controls, compute, facts)
