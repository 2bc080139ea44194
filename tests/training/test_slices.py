"""A slice of a run, as a worker does it."""

import time

import numpy as np
import pytest

from app.training import slices
from content.experiments.cue_recall import train
from content.experiments.cue_recall.checkpoint import from_bytes, start
from content.experiments.cue_recall.configuration import MODELS, Configuration
from content.experiments.cue_recall.train import Diverged, advance

SHORT = {"delay": 2, "epochs": 2, "train_size": 256, "validation_size": 64, "test_size": 64}


@pytest.mark.parametrize("model", MODELS)
def test_slices_of_any_length_give_the_run_bit_for_bit(model):
    configuration = Configuration(model, **SHORT)
    whole, _ = advance(start(configuration), 1000)
    for seconds in (0.0, 0.004, 0.02):
        progress, count = None, 0
        while progress is None or progress.test is None:
            progress = slices.advance_slice(configuration.to_dict(), progress and progress.checkpoint, seconds)
            count += 1
        np.testing.assert_array_equal(progress.curves, whole.curves[:, :, 0])
        np.testing.assert_array_equal(from_bytes(progress.checkpoint).best_weights, whole.best_weights)
        assert progress.test == (whole.test[0, 0], whole.test[1, 0])
        assert progress.step == configuration.total_steps
    assert count > 0


def test_a_slice_takes_about_its_time():
    configuration = Configuration("gru", 8).to_dict()
    progress = slices.advance_slice(configuration, None)  # finds its pace
    began = time.process_time()
    slices.advance_slice(configuration, progress.checkpoint)
    assert 0.1 * slices.SECONDS < time.process_time() - began < 0.5


@pytest.mark.parametrize("last", range(5, 12))
def test_divergence_ends_the_run_right_before_its_step_with_every_epoch_before_it(monkeypatch, last):
    def check(_configurations, step, _losses, _norms):
        if step > last:
            raise Diverged(f"the run diverged at step {step}")

    monkeypatch.setattr(train, "_check", check)
    configuration = Configuration("rnn", 2, epochs=20, train_size=128, batch=32)
    before, _ = advance(start(configuration), last)
    monkeypatch.setitem(slices.PACE, ("rnn", 2, 32), 1e-6)  # the slice wants to do it in one go
    progress = slices.advance_slice(configuration.to_dict(), None, 1.0)
    assert progress.diverged == f"the run diverged at step {last + 1}"
    assert progress.step == last
    np.testing.assert_array_equal(progress.curves, before.curves[:, :, 0])
    np.testing.assert_array_equal(from_bytes(progress.checkpoint).weights, before.weights)
