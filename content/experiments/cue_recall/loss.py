"""Next-token cross-entropy with features first: logits (…, 7, N), one softmax per column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Scores(NamedTuple):
    """How S runs did on a batch, each (S,): mean loss over all positions (nats), and cross-entropy and accuracy of recall."""

    loss: np.ndarray
    recall_cross_entropy: np.ndarray
    recall_accuracy: np.ndarray


def cross_entropy(logits: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cross-entropy (…, N) in nats and probabilities (…, 7, N) of logits against one-hot targets, both (…, 7, N).

    The softmax is that of `three_tokens`, over the axis that lies second from the end here; a test compares the two.
    """
    shifted = logits - logits.max(axis=-2, keepdims=True)
    probabilities = np.exp(shifted)
    total = probabilities.sum(axis=-2, keepdims=True)
    probabilities /= total
    return np.log(total[..., 0, :]) - (shifted * targets).sum(axis=-2), probabilities
