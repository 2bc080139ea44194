"""Three small models that were trained to recall a cue: what each of them does with an episode of the reader's."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import param

from content.experiments.cue_recall import results
from content.experiments.cue_recall.configuration import DELAYS, MODELS, SEEDS, Configuration
from content.experiments.cue_recall.data import MOVES, UNIFORM_ACCURACY, UNIFORM_CROSS_ENTROPY, VOCABULARY, assemble, recall_index
from content.experiments.cue_recall.inference import answer_gradient, forward
from content.experiments.cue_recall.results import Run
from content.experiments.cue_recall.runs import find_run
from content.experiments.cue_recall.weights import parameter_count
from content.section import Section

CUE = 1  # position of the cue, behind BOS


class Controls(param.Parameterized):
    """The run that is trained or shown, and the episode its model reads."""

    model = param.Selector(default="transformer", objects=list(MODELS), doc="Which model.")
    delay = param.Integer(16, bounds=(1, 64), doc="Random moves between the cue and RECALL.")
    seed = param.Integer(6206, bounds=(6200, 6299), doc="Seed of the initial weights.")
    epochs = param.Integer(60, bounds=(1, 120), doc="Passes over the 4,096 training episodes.")
    learning_rate = param.Selector(default=0.003, objects=[0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], doc="Adam's step size.")
    clip = param.Selector(default=1, objects=[0.1, 1, 10, 1000], doc="Largest norm of the gradient.")
    cue = param.Selector(default=0, objects=[0, 1, 2, 3], doc="Cue of the episode on show.")
    fillers = param.String(
        "2031120331021320", regex="[0-3]{1,64}", doc="Its moves between cue and RECALL, repeated or cut to the delay."
    )


class Trace(NamedTuple):
    """T = delay of the run on show + 4 inputs; H features of a state. Rows of (3, …) arrays: RNN, GRU, Transformer."""

    tokens: np.ndarray  # (T,) token ids that the model reads
    recall: np.ndarray  # () position of RECALL; what the model predicts there is its answer
    prediction: np.ndarray  # (7,) probability of each token after RECALL
    answers: np.ndarray  # (4, 7) the same for each cue, everything else left as it is
    attention_0: np.ndarray  # (T, T) weights of the first head, row = position that looks; zeros for RNN and GRU
    attention_1: np.ndarray  # (T, T) of the second head
    answer_attention: np.ndarray  # (2, T) the rows of RECALL
    hidden: np.ndarray  # (T, H) state after each input (Transformer: what leaves the block)
    cue_spread: np.ndarray  # (T,) distance of the four cues' states from their mean, root mean square
    gradient_norm: np.ndarray  # (T,) length of dL/dh_t, L = loss of the answer; zeros for the Transformer: no state is handed on
    epoch: np.ndarray  # (60,) 1, 2, … of the stored curves
    stored_accuracy: np.ndarray  # (3, 60) validation recall accuracy of stored runs at the nearest stored delay and seed
    stored_cross_entropy: np.ndarray  # (3, 60) validation recall cross-entropy, nats
    stored_loss: np.ndarray  # (3, 60) training loss over all tokens, nats
    seed_accuracy: np.ndarray  # (3, 3) test accuracy at the nearest stored delay, one column for each stored seed
    table_mean: np.ndarray  # (3, 3) ours: mean test accuracy over three seeds; columns: delay 8, 16, 32
    table_sd: np.ndarray  # (3, 3) ours: sample standard deviation
    source_mean: np.ndarray  # (3, 3) the source's mean, cited
    source_sd: np.ndarray  # (3, 3) the source's sample standard deviation, cited
    asked: np.ndarray  # (2,) step size and clip norm that the controls ask for
    test: np.ndarray  # (2,) test accuracy and cross-entropy (nats) of the run on show
    shown: np.ndarray  # (5,) its delay and seed, 1 if it is the very run that is asked for; delay and seed of the stored curves


class Reading(NamedTuple):
    """The same moves read with each of the four cues; what has no axis of four belongs to the cue on show."""

    tokens: np.ndarray  # (T,)
    answers: np.ndarray  # (4, 7) probabilities after RECALL
    attention: np.ndarray  # (2, T, T)
    hidden: np.ndarray  # (T, H)
    cue_spread: np.ndarray  # (T,) of the four
    gradient_norm: np.ndarray  # (T,)


@cache
def stored() -> dict[tuple[str, int, int], Run]:
    """The runs of the stored table by model, delay and seed."""
    return {(c.model, c.delay, c.seed): run for run in results.load() for c in [run.configuration]}


def nearest(value: int, choices: tuple[int, ...]) -> int:
    """The choice that is nearest to `value`; of two, the smaller.

    >>> nearest(12, (8, 16, 32)), nearest(60, (8, 16, 32))
    (8, 32)
    """
    return min(choices, key=lambda choice: (abs(choice - value), choice))


def nearest_stored(asked: Configuration) -> Run:
    """The stored run of the same model whose delay and seed are nearest to those of `asked`."""
    return stored()[asked.model, nearest(asked.delay, DELAYS), nearest(asked.seed, SEEDS)]


def episodes(fillers: str, delay: int) -> np.ndarray:
    """Four episodes (4, delay + 5) that differ in their cue only; `fillers` repeated or cut to `delay` moves.

    >>> [VOCABULARY[token] for token in episodes("20", 3)[1]]
    ['BOS', 'east', 'south', 'north', 'south', 'RECALL', 'east', 'EOS']
    """
    moves = np.resize([int(move) for move in fillers], delay)
    return assemble(np.arange(len(MOVES)), np.tile(moves, (len(MOVES), 1)))


@lru_cache(maxsize=64)
def read(configuration: Configuration, weights: bytes, fillers: str, cue: int) -> Reading:
    """What a model with these weights (flat, float32) makes of the reader's moves. Cached: most controls leave it alone."""
    vector = np.frombuffer(weights, np.float32).astype(float)
    tokens = episodes(fillers, configuration.delay)  # (4, T + 1)
    recall, time = recall_index(configuration.delay), configuration.inputs
    if configuration.model == "transformer":
        traces = [forward(configuration, vector, episode) for episode in tokens]
        attention, norm = traces[cue].attention_weights, np.zeros(time)
    else:
        together = forward(configuration, vector, tokens.T)  # every array (T, 4, …)
        traces = [type(together)(*(array[:, k] for array in together)) for k in range(len(tokens))]
        attention, norm = np.zeros((2, time, time)), answer_gradient(configuration, vector, traces[cue], cue).norm
    answers = np.stack([trace.probabilities[recall] for trace in traces])
    hidden = np.stack([trace.hidden for trace in traces])  # (4, T, H)
    return Reading(tokens[cue, :-1], answers, attention, hidden[cue], spread(hidden), norm)


def spread(hidden: np.ndarray) -> np.ndarray:
    """How far states (n, T, H) lie from their mean at each time, root mean square over the n: (T,).

    >>> spread(np.array([[[3.0, 4.0]], [[-3.0, -4.0]]])).tolist()
    [5.0]
    """
    return np.sqrt(np.square(hidden - hidden.mean(axis=0)).sum(axis=-1).mean(axis=0))


@cache
def tables() -> tuple[np.ndarray, ...]:
    """Mean and standard deviation of our stored runs, then of the source: four arrays (3, 3), models by delays."""
    cells = results.summarise(list(stored().values())), results.source_table()
    return tuple(
        np.array([[getattr(cell[model, delay], field) for delay in DELAYS] for model in MODELS])
        for cell in cells
        for field in ("mean", "sd")
    )


def compute(*, model, delay, seed, epochs, learning_rate, clip, cue, fillers) -> Trace:
    """The run that the controls ask for, or the stored one nearest to it, reading the reader's episode.

    Never raises for legal controls. Source of experiment and table: textbook chapter of week 06, table 34.

    >>> trace = compute(**SECTION.defaults())
    >>> VOCABULARY[trace.prediction.argmax()], trace.tokens.shape, trace.hidden.shape
    ('north', (20,), (20, 12))
    """
    asked = Configuration(model, delay, seed, epochs, learning_rate=float(learning_rate), clip=float(clip))
    own, close = find_run(asked), nearest_stored(asked)
    run = own or close
    reading = read(run.configuration, np.asarray(run.weights, np.float32).tobytes(), fillers, cue)
    recall = recall_index(run.configuration.delay)
    close_delay, close_seed = close.configuration.delay, close.configuration.seed
    beside = [stored()[each, close_delay, close_seed] for each in MODELS]
    accuracy, cross_entropy, loss = (
        np.stack([each.curves[name] for each in beside])
        for name in ("validation_recall_accuracy", "validation_recall_cross_entropy", "train_loss")
    )
    return Trace(
        reading.tokens, np.asarray(recall), reading.answers[cue], reading.answers, *reading.attention,
        reading.attention[:, recall], reading.hidden, reading.cue_spread, reading.gradient_norm,
        1 + np.arange(accuracy.shape[1]), accuracy, cross_entropy, loss,
        np.array([[stored()[each, close_delay, init].test_accuracy for init in SEEDS] for each in MODELS]), *tables(),
        np.stack([learning_rate, clip]), np.array([run.test_accuracy, run.test_cross_entropy]),
        np.array([run.configuration.delay, run.configuration.seed, own is not None, close_delay, close_seed]),
    )  # fmt: skip


def facts(trace: Trace) -> dict[str, float]:
    """Numbers for the prose."""
    run_delay, run_seed, own_run, stored_delay, stored_seed = trace.shown
    followed = trace.answers.argmax(axis=1) == np.arange(len(MOVES))
    cue, recall = int(trace.tokens[CUE]), int(trace.recall)
    counts = {f"parameters_{model}": parameter_count(Configuration(model)) for model in MODELS}
    return {
        "run_delay": run_delay,
        "run_seed": run_seed,
        "own_run": own_run,
        "stored_delay": stored_delay,
        "stored_seed": stored_seed,
        "test_accuracy": trace.test[0],
        "test_cross_entropy": trace.test[1],
        "followed": followed.sum(),  # cues of four that the answer follows
        "answer": trace.prediction.argmax(),
        "right_probability": trace.prediction[cue],
        "cue_attention_0": trace.answer_attention[0, CUE],
        "cue_attention_1": trace.answer_attention[1, CUE],
        "spread_cue": trace.cue_spread[CUE],
        "spread_least": trace.cue_spread[CUE:recall].min(),
        "spread_before": trace.cue_spread[recall - 1],
        "spread_recall": trace.cue_spread[recall],
        "gradient_cue": trace.gradient_norm[CUE],
        "gradient_recall": trace.gradient_norm[recall],
        "uniform_accuracy": UNIFORM_ACCURACY,
        "uniform_cross_entropy": UNIFORM_CROSS_ENTROPY,
        # Cue and random moves cost log 4 each even with a perfect memory; RECALL, the answer and EOS can cost nothing.
        "least_loss": (run_delay + 1) * UNIFORM_CROSS_ENTROPY / (run_delay + 4),
        "loss_without_memory": (run_delay + 2) * UNIFORM_CROSS_ENTROPY / (run_delay + 4),
        **counts,
    }


SECTION = Section("cue_recall", Controls, compute, facts)
