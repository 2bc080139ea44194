"""Episodes of the cue-recall experiment, drawn with NumPy from stated seeds.

An episode with delay d has d + 5 tokens: BOS, the cue, d random moves, RECALL, the cue again, EOS. The moves say nothing
about each other, so the cue after RECALL is the only uncertain token that memory can predict.
"""

from __future__ import annotations

import math

import numpy as np

from content.experiments.cue_recall.configuration import Configuration

MOVES = ("north", "east", "south", "west")
VOCABULARY = (*MOVES, "BOS", "RECALL", "EOS")
BOS, RECALL, EOS = 4, 5, 6

# Each split draws from its own stream, so no split depends on the size of another.
SPLITS = {"train": 1, "validation": 2, "test": 3}
ORDER_STREAM = 4

UNIFORM_ACCURACY = 1 / len(MOVES)
UNIFORM_CROSS_ENTROPY = math.log(len(MOVES))  # nats


def episodes(delay: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `count` episodes.

    delay: number of random moves between cue and RECALL. rng: a NumPy Generator.
    Returns int8 token ids of shape (count, delay + 5).

    >>> [VOCABULARY[token] for token in episodes(2, 1, np.random.default_rng(0))[0]]
    ['BOS', 'east', 'south', 'west', 'RECALL', 'east', 'EOS']
    """
    moves = rng.integers(0, len(MOVES), size=(count, 1 + delay), dtype=np.int8)  # cue and fillers
    return assemble(moves[:, 0], moves[:, 1:])


def assemble(cue: np.ndarray, fillers: np.ndarray) -> np.ndarray:
    """Episodes with the given cues (count,) and fillers (count, d): int8 token ids (count, d + 5)."""
    cue, fillers = np.asarray(cue, np.int8), np.asarray(fillers, np.int8)
    column = np.ones_like(cue)
    return np.column_stack([BOS * column, cue, fillers, RECALL * column, cue, EOS * column])


def recall_index(delay: int) -> int:
    """Position of RECALL, the row whose prediction is the answer."""
    return delay + 2


def split(configuration: Configuration, name: str) -> np.ndarray:
    """The `train`, `validation` or `test` episodes of a run, (size, delay + 5); the same for every model and seed."""
    size = getattr(configuration, f"{name}_size")
    rng = np.random.default_rng((configuration.data_seed, SPLITS[name], configuration.delay))
    return episodes(configuration.delay, size, rng)


def batch_order(configuration: Configuration, epoch: int) -> np.ndarray:
    """Order in which epoch `epoch` (from 0) visits the training episodes: a permutation of shape (train_size,).

    Each epoch draws from its own stream, so a run resumes at any step without a stored generator state.
    """
    rng = np.random.default_rng((configuration.data_seed, ORDER_STREAM, configuration.delay, epoch))
    return rng.permutation(configuration.train_size)


def uniform_predictor(tokens: np.ndarray) -> tuple[float, float]:
    """Reference without memory: accuracy and cross-entropy (nats) of guessing each of the four moves with 1/4.

    tokens: episodes (count, d + 5). A tie among the four is broken at random, hence an expected accuracy of 1/4.
    """
    probability = np.full((len(tokens), len(MOVES)), 1 / len(MOVES))
    answers = tokens[:, -2]  # the cue after RECALL
    of_answer = probability[np.arange(len(tokens)), answers]
    return of_answer.mean(), -np.log(of_answer).mean()
