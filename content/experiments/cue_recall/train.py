"""Training as a pure step: `advance(checkpoint, steps)` returns the checkpoint `steps` updates later.

Cutting a run into pieces never changes its result, bit for bit, so a run can be paused, moved to another process and resumed.

>>> from content.experiments.cue_recall.checkpoint import start
>>> from content.experiments.cue_recall.configuration import Configuration
>>> checkpoint = start(Configuration("rnn", delay=1, epochs=2, train_size=256))
>>> while not checkpoint.finished:
...     checkpoint, metrics = advance(checkpoint, steps=1)
>>> metrics.step, metrics.total_steps, [epoch.epoch for epoch in metrics.epochs]
(4, 4, [2])
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from content.experiments.cue_recall import data
from content.experiments.cue_recall.checkpoint import CURVES, Checkpoint
from content.experiments.cue_recall.optimizer import clip_and_step
from content.experiments.cue_recall.recurrent import GRU, RNN
from content.experiments.cue_recall.transformer import Transformer

DERIVED = {"rnn": RNN, "gru": GRU, "transformer": Transformer}
ENGINES = ("numpy", "torch")
LARGEST_LOSS = 100.0  # nats; guessing among the seven tokens costs log 7 ≈ 1.95


class Epoch(NamedTuple):
    """One epoch's metrics, each of shape (S,): losses over all positions and cross-entropy in nats, accuracy as a share."""

    epoch: int  # counted from 1
    train_loss: np.ndarray  # mean over the epoch's steps, each before its update
    validation_loss: np.ndarray
    validation_recall_cross_entropy: np.ndarray
    validation_recall_accuracy: np.ndarray


class Test(NamedTuple):
    """Recall on the test episodes with the best weights, each of shape (S,)."""

    accuracy: np.ndarray
    cross_entropy: np.ndarray


class Metrics(NamedTuple):
    """What one call of `advance` has to tell."""

    step: int
    total_steps: int
    epochs: tuple[Epoch, ...]  # an Epoch for each epoch that ended in this call
    test: Test | None  # once the run is finished


class Diverged(RuntimeError):
    """The loss or the gradient is no longer a usable number; the message names the step."""


def advance(checkpoint: Checkpoint, steps: int, engine: str = "numpy") -> tuple[Checkpoint, Metrics]:
    """Do at most `steps` more updates (fewer when the run ends) and return (checkpoint, metrics); the argument stays as it is.

    After each epoch the validation episodes are scored; the weights with the lowest validation recall cross-entropy are kept.
    After the last one the test episodes are scored with these. engine: `numpy` takes the derived gradients, `torch` autograd.

    Raises Diverged, naming the step, when a loss or gradient is not finite or the loss exceeds 100 nats.
    """
    started = time.perf_counter()
    configuration, runs = checkpoint.configurations[0], len(checkpoint.configurations)
    batch, per_epoch = configuration.batch, configuration.steps_per_epoch
    step, stop = checkpoint.step, min(checkpoint.step + steps, configuration.total_steps)
    weights, first, second = (array.copy() for array in (checkpoint.weights, checkpoint.first, checkpoint.second))
    best_weights, best_epoch = checkpoint.best_weights.copy(), checkpoint.best_epoch.copy()
    loss_sum, curves = checkpoint.loss_sum.copy(), list(checkpoint.curves.swapaxes(0, 1))  # a (4, S) array per epoch
    test, epochs_done = checkpoint.test, len(curves)

    engine_for = _Engines(engine, configuration, runs)
    train, validation = data.split(configuration, "train"), data.split(configuration, "validation")
    gradient = np.empty_like(weights)
    order = data.batch_order(configuration, step // per_epoch)
    with np.errstate(all="ignore"):  # what overflows is reported by _check
        while step < stop:
            position = step % per_epoch
            if position == 0:
                order = data.batch_order(configuration, step // per_epoch)
                loss_sum[:] = 0
            tokens = train[order[position * batch : (position + 1) * batch]]
            scores = engine_for(batch).scores_and_gradient(weights, tokens, gradient)
            step += 1
            norms = clip_and_step(weights, gradient, first, second, step, configuration.learning_rate, configuration.clip)
            _check(checkpoint.configurations, step, scores.loss, norms)
            loss_sum += scores.loss
            if step % per_epoch == 0:
                scores = _score(engine_for, weights, validation, batch)
                curves.append(np.stack([loss_sum / per_epoch, *scores]))
                recall = np.stack(curves)[:, CURVES.index("validation_recall_cross_entropy")]  # (epochs, S)
                improved = recall.argmin(axis=0) == len(curves) - 1
                best_weights[improved], best_epoch[improved] = weights[improved], len(curves)
        if step == configuration.total_steps and not checkpoint.finished:
            scores = _score(engine_for, best_weights, data.split(configuration, "test"), batch)
            test = np.stack([scores.recall_accuracy, scores.recall_cross_entropy])

    new_epochs = tuple(Epoch(number, *curves[number - 1]) for number in range(epochs_done + 1, len(curves) + 1))
    advanced = checkpoint._replace(
        step=step,
        weights=weights,
        first=first,
        second=second,
        loss_sum=loss_sum,
        curves=np.stack(curves, axis=1) if curves else checkpoint.curves,
        best_weights=best_weights,
        best_epoch=best_epoch,
        test=test,
        seconds=checkpoint.seconds + time.perf_counter() - started,
    )
    metrics = Metrics(step, configuration.total_steps, new_epochs, Test(*test) if advanced.finished else None)
    return advanced, metrics


class _Engines:
    """Engines by batch size, built when first asked for; an engine's buffers fit one batch size."""

    def __init__(self, name, configuration, runs):
        if name not in ENGINES:
            raise ValueError(f"engine: {name!r} is not allowed; choose one of {', '.join(ENGINES)}")
        self.arguments, self.by_batch = (configuration, runs), {}
        self.kind = DERIVED[configuration.model]
        if name == "torch":
            from content.experiments.cue_recall.autograd import Autograd  # torch is loaded only when asked for

            self.kind = Autograd

    def __call__(self, batch):
        if batch not in self.by_batch:
            self.by_batch[batch] = self.kind(*self.arguments, batch)
        return self.by_batch[batch]


def _score(engine_for, weights, tokens, batch):
    """Scores over all episodes `tokens`, averaged over equal batches."""
    size = math.gcd(len(tokens), batch)
    batches = [engine_for(size).scores(weights, tokens[start : start + size]) for start in range(0, len(tokens), size)]
    return type(batches[0])(*(np.mean(values, axis=0) for values in zip(*batches, strict=True)))


def _check(configurations, step, losses, norms):
    """Raise Diverged for the first run whose loss or gradient norm is not usable."""
    if np.isfinite(norms).all() and (losses <= LARGEST_LOSS).all():
        return
    for configuration, loss, norm in zip(configurations, losses, norms, strict=True):
        if not (math.isfinite(norm) and loss <= LARGEST_LOSS):
            raise Diverged(
                f"{configuration.model}, delay {configuration.delay}, seed {configuration.seed}: the run diverged at step "
                f"{step} (loss {loss:.4g}, gradient norm {norm:.4g}); a smaller learning rate may help"
            )
