"""What a model may look at: three tasks over seven words, a forecaster that peeks, and two series with one mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from content.section import Section

LENGTH = 7  # words of the sentence
LEVEL = 20.0  # degrees, about which both series lie
TASKS = ("classify", "tag", "forecast")
WOBBLE = np.array([0.5, -1.0, 1.0, -0.5, 0.6, -0.4, -0.6, 0.3])  # of readings 0 … 7, the same in both series


def available(task: str, cut: int, length: int = LENGTH) -> np.ndarray:
    """Boolean (length,): positions that may be used for an answer at position `cut`.

    A recording that is classified and a sentence whose words are tagged are there as a whole; of what is
    forecast only the positions up to `cut` have been seen.
    Source: week 6, table 1.

    >>> available("forecast", 1, 4).astype(int).tolist()
    [1, 1, 0, 0]
    """
    if task == "forecast":
        return np.arange(length) <= cut
    return np.ones(length, dtype=bool)


def line_ahead(n: int) -> np.ndarray:
    """How much each of n readings counts in the forecast by the straight line that fits them best (least squares), (n,).

    >>> line_ahead(2).tolist(), line_ahead(1).tolist()
    ([-1.0, 2.0], [1.0])
    """
    away = np.arange(n) - (n - 1) / 2  # from the middle of the readings
    slope = away / (away @ away or 1.0)
    return 1 / n + slope * (n - (n - 1) / 2)


def switch(default: int, word: int) -> param.Selector:
    return param.Selector(default=default, objects=[0, 1], doc=f"Word {word} belongs to the input.")


class Controls(param.Parameterized):
    """A task, the position it has come to, the words switched on; two series and what an average-only model answers."""

    task = param.Selector(default="forecast", objects=list(TASKS), doc="Task.")
    cut = param.Integer(3, bounds=(0, LENGTH - 1), doc="Position that the model has come to, from 0.")
    use0 = switch(1, 1)
    use1 = switch(1, 2)
    use2 = switch(1, 3)
    use3 = switch(1, 4)
    use4 = switch(1, 5)
    use5 = switch(0, 6)
    use6 = switch(0, 7)
    climb = param.Number(1.0, bounds=(-3.0, 3.0), step=0.1, doc="Change per reading; the other series changes the other way.")
    wobble = param.Number(0.4, bounds=(0.0, 2.0), step=0.1, doc="How far the readings lie off the line.")
    answer = param.Number(22.5, bounds=(10.0, 30.0), step=0.1, doc="What a model that knows only the mean forecasts.")


class Trace(NamedTuple):
    allowed: np.ndarray  # (7,) 1 where the task lets the model look
    chosen: np.ndarray  # (7,) 1 where a word is switched on
    verdict: np.ndarray  # (7,) 0 left out, 1 allowed and used, 2 closed, 3 a leak
    series: np.ndarray  # (2, 8) readings 0 … 7 of the rising and the falling series
    means: np.ndarray  # (2,) of the readings up to the cut
    following: np.ndarray  # (2,) the reading after the cut
    predictions: np.ndarray  # (4, 2) honest, leaky in the record, leaky on the day, average only
    errors: np.ndarray  # (4, 2) how far each is off


def compute(*, task, cut, use0, use1, use2, use3, use4, use5, use6, climb, wobble, answer) -> Trace:
    """The judged input set, and four forecasts of the reading after the cut for each of the two series."""
    allowed = available(task, cut)
    chosen = np.array([use0, use1, use2, use3, use4, use5, use6]) == 1

    # Both series go through the level in the middle of what has been seen, so that their means are equal at every cut.
    away = np.arange(LENGTH + 1) - cut / 2
    series = np.stack([LEVEL + climb * away + wobble * WOBBLE, LEVEL - climb * away + wobble * WOBBLE])  # (2, 8)
    seen, following = series[:, : cut + 1], series[:, cut + 1]
    predictions = np.stack([
        seen @ line_ahead(cut + 1),
        following,  # the leaky model copies what it should find
        series[:, cut],  # on the day that reading is missing, and the last one stands in its place
        np.stack([answer, answer]),
    ])  # fmt: skip
    return Trace(
        allowed=allowed.astype(float),
        chosen=chosen.astype(float),
        verdict=np.where(allowed, 0.0, 2.0) + chosen,
        series=series,
        means=seen.mean(axis=1),
        following=following,
        predictions=predictions,
        errors=np.abs(predictions - following),
    )


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `errors[0,1]`."""
    gap = abs(trace.following[0] - trace.following[1])
    return {
        "allowed_count": trace.allowed.sum(),
        "used_count": (trace.verdict == 1).sum(),
        "leak_count": (trace.verdict == 3).sum(),
        "left_out_count": (trace.verdict == 0).sum(),
        "gap": gap,
        "least_worst": gap / 2,
    }


SECTION = Section("available_input", Controls, compute, facts)
