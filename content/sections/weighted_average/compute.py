"""A weighted average: scores become shares, and the shares mix points of the plane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section, Undefined

MOST = 4  # points for which there are controls


def softmax(scores: np.ndarray) -> np.ndarray:
    """Shares that sum to one along the last axis and keep the ratios of exp(score).

    `scores`: (..., n), −inf excludes an entry. Returns (..., n).
    Raises `Undefined` when a row has no finite entry: there is nothing to share.
    The largest score is subtracted first, which changes no share and keeps exp from overflowing.

    >>> softmax(np.log([1.0, 2.0, 3.0])).round(3).tolist()
    [0.167, 0.333, 0.5]
    """
    peak = scores.max(axis=-1, keepdims=True)  # (..., 1)
    if not np.isfinite(peak).all():
        raise Undefined("all_masked", "softmax needs at least one visible score in every row")
    grown = np.exp(scores - peak)  # (..., n)
    return grown / grown.sum(axis=-1, keepdims=True)


def hull_corners(points: np.ndarray) -> list[int]:
    """Which points are corners of the convex hull, counter-clockwise from the leftmost.

    `points`: (n, 2), n ≥ 2. Points inside the hull or on an edge are left out.
    Source: Andrew, Another efficient algorithm for convex hulls in two dimensions (1979).

    >>> hull_corners(np.array([[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]]))
    [0, 1, 3]
    """
    at = [(float(x), float(y)) for x, y in points]

    def turn(a: int, b: int, c: int) -> float:
        """Positive when the way a → b → c bends to the left."""
        (ax, ay), (bx, by), (cx, cy) = at[a], at[b], at[c]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    def chain(order: list[int]) -> list[int]:
        """Half of the hull: walk along and take back every corner that does not bend to the left."""
        corners: list[int] = []
        for point in order:
            while len(corners) > 1 and turn(*corners[-2:], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    rightwards = sorted(range(len(at)), key=lambda i: at[i])
    return chain(rightwards) + chain(rightwards[::-1])


def score(default: float, word: int) -> param.Number:
    return param.Number(default, bounds=(-160.0, 160.0), step=1.0, doc=f"Score of word {word}: query · key, not yet divided.")


def coordinate(default: float, doc: str) -> param.Number:
    return param.Number(default, bounds=(-4.0, 4.0), step=0.1, doc=doc)


class Controls(param.Parameterized):
    """Two to four words, each with a score and a value in the plane."""

    n = param.Selector(default=2, objects=[2, 3, 4], doc="Number of words; the controls of the others wait.")
    d_k = param.Integer(64, bounds=(1, 256), doc="Width of query and key; scores are divided by its root.")
    score_0 = score(112.0, 0)
    score_1 = score(96.0, 1)
    score_2 = score(104.0, 2)
    score_3 = score(80.0, 3)
    x_0 = coordinate(1.0, "Value of word 0, first coordinate.")
    y_0 = coordinate(3.0, "Value of word 0, second coordinate.")
    x_1 = coordinate(3.0, "Value of word 1, first coordinate.")
    y_1 = coordinate(-1.0, "Value of word 1, second coordinate.")
    x_2 = coordinate(-3.0, "Value of word 2, first coordinate.")
    y_2 = coordinate(2.0, "Value of word 2, second coordinate.")
    x_3 = coordinate(-2.0, "Value of word 3, first coordinate.")
    y_3 = coordinate(-3.0, "Value of word 3, second coordinate.")


class Trace(NamedTuple):
    scores: np.ndarray  # (n,)
    root: np.ndarray  # () √d_k
    scaled: np.ndarray  # (n,) scores / √d_k
    weights: np.ndarray  # (n,) sum to one
    values: np.ndarray  # (n, 2) points of the plane
    contributions: np.ndarray  # (n, 2) weight · value, each row one arrow of the sum
    output: np.ndarray  # (2,)
    centre: np.ndarray  # (2,) plain average of the values
    hull: np.ndarray  # (n, 2) corners counter-clockwise, the last one repeated to fill the rows


def compute(*, n, d_k, score_0, score_1, score_2, score_3, x_0, y_0, x_1, y_1, x_2, y_2, x_3, y_3) -> Trace:
    """The weighted average of the first `n` points, with weights from their scores."""
    scores = np.stack([score_0, score_1, score_2, score_3])[:n]  # (n,)
    values = np.stack([x_0, y_0, x_1, y_1, x_2, y_2, x_3, y_3]).reshape(MOST, 2)[:n]  # (n, 2)
    root = np.sqrt(d_k)
    scaled = scores / root
    weights = softmax(scaled)
    corners = hull_corners(values)
    return Trace(
        scores=scores,
        root=root,
        scaled=scaled,
        weights=weights,
        values=values,
        contributions=weights.reshape(n, 1) * values,
        output=weights @ values,
        centre=values.mean(axis=0),
        hull=values[corners + corners[-1:] * (n - len(corners))],
    )


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `weights[1]`."""
    x, y = trace.hull.T
    return {
        "weight_sum": trace.weights.sum(),
        "gap": trace.scaled[0] - trace.scaled[1],
        "ratio": trace.weights[0] / trace.weights[1],  # at most e^320, far from overflow
        "hull_area": abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2,
    }


SECTION = Section("weighted_average", Controls, compute, facts)
