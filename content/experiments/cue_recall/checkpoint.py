"""The whole state of a training run as plain data: start one, write it to bytes, read it back.

A checkpoint may hold several runs that differ only in their seed; they are trained together, which saves time.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import NamedTuple

import numpy as np

from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.weights import initial_weights

CURVES = ("train_loss", "validation_loss", "validation_recall_cross_entropy", "validation_recall_accuracy")
FORMAT = b"cue_recall checkpoint 1"  # part of the checksum: another format is refused
DIGEST = hashlib.sha256().digest_size


class Checkpoint(NamedTuple):
    """S runs after `step` updates. Every array has one row (or, in `curves` and `test`, one column) per run.

    There is no generator state: each epoch draws its order from its own seed, so the step alone says which batch is next.
    `seconds` is the time spent so far, the only field that differs when a run is repeated.
    """

    configurations: tuple[Configuration, ...]  # S Configurations, equal but for the seed
    step: int  # updates done
    weights: np.ndarray  # (S, P)
    first: np.ndarray  # (S, P), Adam's mean of the gradient
    second: np.ndarray  # (S, P), Adam's mean of its square
    loss_sum: np.ndarray  # (S,), train losses of the current epoch's steps
    curves: np.ndarray  # (4, epochs done, S), in the order of CURVES
    best_weights: np.ndarray  # (S, P), of the epoch with the lowest validation recall cross-entropy
    best_epoch: np.ndarray  # (S,), counted from 1
    test: np.ndarray  # (2, S): recall accuracy and recall cross-entropy; (2, 0) until the run is finished
    seconds: float

    @property
    def finished(self) -> bool:
        """Whether all updates are done and the test episodes have been scored."""
        return self.test.shape[1] > 0


def start(*configurations: Configuration) -> Checkpoint:
    """Checkpoint at step 0 of one run, or of several that differ only in their seed.

    Raises ValueError when they differ in anything else.
    """
    first = configurations[0]
    if any(configuration.with_seed(first.seed) != first for configuration in configurations):
        raise ValueError("runs trained together may differ only in their seed")
    weights = np.stack([initial_weights(configuration) for configuration in configurations])
    runs = len(configurations)
    return Checkpoint(
        configurations=configurations,
        step=0,
        weights=weights,
        first=np.zeros_like(weights),
        second=np.zeros_like(weights),
        loss_sum=np.zeros(runs),
        curves=np.empty((len(CURVES), 0, runs)),
        best_weights=weights.copy(),
        best_epoch=np.zeros(runs, int),
        test=np.empty((2, 0)),
        seconds=0.0,
    )


def to_bytes(checkpoint: Checkpoint) -> bytes:
    """The checkpoint as bytes: a SHA-256 digest, then an .npz archive; it holds no pickles."""
    header = {
        "configurations": [configuration.to_dict() for configuration in checkpoint.configurations],
        "step": checkpoint.step,
        "seconds": checkpoint.seconds,
    }
    arrays = {name: value for name, value in checkpoint._asdict().items() if isinstance(value, np.ndarray)}
    file = io.BytesIO()
    np.savez(file, header=np.array(json.dumps(header)), **arrays)
    archive = file.getvalue()
    return hashlib.sha256(FORMAT + archive).digest() + archive


def from_bytes(content: bytes) -> Checkpoint:
    """Read what `to_bytes` wrote. Raises ValueError with one line when the content is changed, cut short or of another format."""
    digest, archive = content[:DIGEST], content[DIGEST:]
    if hashlib.sha256(FORMAT + archive).digest() != digest:
        raise ValueError("broken checkpoint: its checksum does not fit")
    with np.load(io.BytesIO(archive), allow_pickle=False) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    configurations = tuple(map(Configuration.from_dict, header["configurations"]))
    return Checkpoint(configurations, header["step"], seconds=header["seconds"], **arrays)
