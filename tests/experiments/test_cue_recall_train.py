"""Training as a pure step: pieces, stacks, engines, divergence, checkpoints as bytes."""

import doctest
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.experiments.cue_recall import checkpoint as checkpoint_module
from content.experiments.cue_recall import configuration, data, train, weights
from content.experiments.cue_recall.checkpoint import from_bytes, start, to_bytes
from content.experiments.cue_recall.configuration import MODELS, Configuration
from content.experiments.cue_recall.train import Diverged, advance


def short(model, **other):
    return Configuration(model, **{"delay": 3, "epochs": 3, "batch": 32, "train_size": 128, "validation_size": 96,
                                   "test_size": 64, **other})  # fmt: skip


def finish(checkpoint, pieces=(10**6,), through_bytes=False):
    """Train to the end in pieces of these sizes, over and over."""
    metrics, count = [], 0
    while not checkpoint.finished:
        checkpoint, news = advance(checkpoint, pieces[count % len(pieces)])
        metrics, count = [*metrics, news], count + 1
        if through_bytes:
            checkpoint = from_bytes(to_bytes(checkpoint))
    return checkpoint, metrics


def assert_same(one, other):
    """Equal bit for bit in everything but the time they took."""
    for name, value in one._asdict().items():
        if name != "seconds":
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=6, deadline=None)
@given(pieces=st.lists(st.integers(1, 7), min_size=1, max_size=4), through_bytes=st.booleans())
def test_cutting_a_run_into_pieces_changes_no_bit(model, pieces, through_bytes):
    whole, _ = finish(start(short(model)))
    cut, _ = finish(start(short(model)), pieces, through_bytes)
    assert_same(whole, cut)


@pytest.mark.parametrize("model", MODELS)
def test_a_run_in_a_stack_equals_the_run_alone_bit_for_bit(model):
    stacked, _ = finish(start(*(short(model, seed=seed) for seed in (1, 2, 3))))
    for index, seed in enumerate((1, 2, 3)):
        alone, _ = finish(start(short(model, seed=seed)))
        for name in ("weights", "first", "second", "loss_sum", "best_weights", "best_epoch"):
            np.testing.assert_array_equal(getattr(stacked, name)[index], getattr(alone, name)[0], err_msg=name)
        np.testing.assert_array_equal(stacked.curves[:, :, index], alone.curves[:, :, 0])
        np.testing.assert_array_equal(stacked.test[:, index], alone.test[:, 0])


@pytest.mark.parametrize("model", MODELS)
def test_advance_leaves_its_argument_alone(model):
    before, _ = advance(start(short(model)), 5)
    kept = pickle.loads(pickle.dumps(before))
    advance(before, 5)
    assert_same(before, kept)


def test_metrics_tell_each_epoch_once_and_the_test_at_the_end():
    checkpoint, metrics = finish(start(short("rnn")), pieces=(3,))
    epochs = [epoch for news in metrics for epoch in news.epochs]
    assert [epoch.epoch for epoch in epochs] == [1, 2, 3]
    assert [news.test is not None for news in metrics] == [False, False, False, True]
    np.testing.assert_array_equal(np.array([epoch[1:] for epoch in epochs]), checkpoint.curves.swapaxes(0, 1))
    again, news = advance(checkpoint, 10)
    assert_same(again, checkpoint)
    assert news.epochs == ()
    assert news.step == news.total_steps == 12


@pytest.mark.parametrize("model", MODELS)
def test_best_weights_are_those_of_the_lowest_validation_recall_cross_entropy(model):
    run = short(model, epochs=6, learning_rate=0.1)
    checkpoint = start(run)
    by_epoch = []
    while not checkpoint.finished:
        checkpoint, news = advance(checkpoint, run.steps_per_epoch)
        by_epoch.append((news.epochs[0].validation_recall_cross_entropy[0], checkpoint.weights[0]))
    best = min(range(len(by_epoch)), key=lambda epoch: by_epoch[epoch][0])
    assert checkpoint.best_epoch[0] == best + 1
    np.testing.assert_array_equal(checkpoint.best_weights[0], by_epoch[best][1])
    engine = train.DERIVED[model](run, 1, run.test_size)
    scores = engine.scores(checkpoint.best_weights, data.split(run, "test"))
    np.testing.assert_allclose(checkpoint.test[:, 0], [scores.recall_accuracy[0], scores.recall_cross_entropy[0]], rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_losses_equal_those_of_a_plain_pytorch_loop(model):
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    run = short(model, delay=12, epochs=5)
    module, losses = build(run), []
    optimizer = torch.optim.Adam(module.parameters(), lr=run.learning_rate)
    train_split = torch.as_tensor(data.split(run, "train").astype(int))
    for epoch in range(run.epochs):
        total = 0.0
        for indices in np.split(data.batch_order(run, epoch), run.steps_per_epoch):
            tokens = train_split[indices]
            logits = module(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), run.clip)
            optimizer.step()
            total += loss.item()
        losses.append(total / run.steps_per_epoch)
    checkpoint, _ = advance(start(run), run.total_steps)
    np.testing.assert_allclose(checkpoint.curves[0, :, 0], losses, rtol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_both_engines_train_alike(model):
    pytest.importorskip("torch")
    derived, _ = advance(start(short(model)), 100)
    automatic, _ = advance(start(short(model)), 100, engine="torch")
    np.testing.assert_allclose(derived.curves, automatic.curves, rtol=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_small_clip_makes_the_first_step_no_smaller_but_the_gradient_short(model):
    # Adam divides by the gradient's own size, so clipping shows in its means, not in the step.
    loose, _ = advance(start(short(model, clip=1000)), 1)
    tight, _ = advance(start(short(model, clip=0.01)), 1)
    assert np.linalg.norm(tight.first) == pytest.approx(0.1 * 0.01, rel=1e-3)
    assert np.linalg.norm(loose.first) > np.linalg.norm(tight.first)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("spoil", [np.nan, np.inf, 1e30])
def test_divergence_is_reported_with_its_step(model, spoil):
    checkpoint, _ = advance(start(short(model, seed=1), short(model, seed=2)), 6)
    checkpoint.weights[1, -1] = spoil
    with pytest.raises(Diverged, match=f"{model}, delay 3, seed 2: the run diverged at step 7 "):
        advance(checkpoint, 3)


def test_runs_that_differ_in_more_than_the_seed_are_not_stacked():
    with pytest.raises(ValueError, match="may differ only in their seed"):
        start(Configuration("rnn"), Configuration("gru"))


def test_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="choose one of numpy, torch"):
        advance(start(short("rnn")), 1, engine="jax")


def test_checkpoint_survives_bytes_and_pickle():
    checkpoint, _ = advance(start(short("gru", seed=1), short("gru", seed=2)), 6)
    for again in (from_bytes(to_bytes(checkpoint)), pickle.loads(pickle.dumps(checkpoint))):
        assert_same(checkpoint, again)
        assert again.seconds == checkpoint.seconds


WRITTEN = to_bytes(start(short("rnn")))


@settings(deadline=None)
@given(st.integers(0, len(WRITTEN) - 1), st.integers(0, len(WRITTEN) - 1), st.integers(1, 255))
def test_changed_or_truncated_checkpoint_is_refused_in_one_line(length, place, change):
    changed = bytearray(WRITTEN)
    changed[place] ^= change
    for broken in (WRITTEN[:length], bytes(changed)):
        with pytest.raises(ValueError, match="^broken checkpoint: .*$"):
            from_bytes(broken)


@pytest.mark.parametrize("module", [configuration, data, weights, train, checkpoint_module])
def test_examples_in_docstrings_run(module):
    assert doctest.testmod(module).failed == 0
