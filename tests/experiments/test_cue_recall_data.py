"""Episodes: their form, their randomness, their seeds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.experiments.cue_recall import data
from content.experiments.cue_recall.configuration import Configuration

delays = st.integers(1, 64)


@settings(deadline=None)
@given(delays, st.integers(1, 50), st.integers(0, 2**32))
def test_episode_reads_bos_cue_moves_recall_cue_eos(delay, count, seed):
    tokens = data.episodes(delay, count, np.random.default_rng(seed))
    assert tokens.shape == (count, delay + 5)
    assert (tokens[:, 0] == data.BOS).all()
    assert (tokens[:, data.recall_index(delay)] == data.RECALL).all()
    assert (tokens[:, -1] == data.EOS).all()
    assert (tokens[:, 1] == tokens[:, -2]).all()
    moves = tokens[:, 1 : delay + 2]
    assert ((moves >= 0) & (moves < len(data.MOVES))).all()


@settings(deadline=None)
@given(delays, st.integers(0, 2**31 - 1))
def test_same_seed_draws_the_same_episodes_and_splits_differ(delay, data_seed):
    configuration = Configuration(delay=delay, data_seed=data_seed, train_size=256, validation_size=256, test_size=256)
    splits = [data.split(configuration, name) for name in data.SPLITS]
    for name, tokens in zip(data.SPLITS, splits, strict=True):
        np.testing.assert_array_equal(tokens, data.split(configuration, name))
    assert not np.array_equal(splits[0], splits[1])
    assert not np.array_equal(splits[1], splits[2])


def test_splits_have_the_sizes_of_the_golden_block_and_do_not_depend_on_model_or_seed():
    rnn, transformer = Configuration("rnn", 32, seed=1), Configuration("transformer", 32, seed=2)
    assert [len(data.split(rnn, name)) for name in data.SPLITS] == [4096, 512, 1024]
    for name in data.SPLITS:
        np.testing.assert_array_equal(data.split(rnn, name), data.split(transformer, name))
    np.testing.assert_array_equal(data.batch_order(rnn, 3), data.batch_order(transformer, 3))


@settings(deadline=None)
@given(st.integers(0, 500))
def test_each_epoch_visits_every_episode_once(epoch):
    order = data.batch_order(Configuration(train_size=256), epoch)
    assert sorted(order) == list(range(256))
    assert not np.array_equal(order, data.batch_order(Configuration(train_size=256), epoch + 1))


def test_moves_are_uniform_and_tell_nothing_about_the_cue():
    tokens = data.episodes(16, 40_000, np.random.default_rng(5))
    shares = np.bincount(tokens[:, 1:18].ravel(), minlength=4) / tokens[:, 1:18].size
    np.testing.assert_allclose(shares, 0.25, atol=0.005)
    same_as_cue = (tokens[:, 2:18] == tokens[:, 1:2]).mean(axis=0)  # per filler position
    np.testing.assert_allclose(same_as_cue, 0.25, atol=0.015)


def test_uniform_predictor_scores_one_quarter_and_log_four():
    accuracy, cross_entropy = data.uniform_predictor(data.split(Configuration(), "test"))
    assert accuracy == data.UNIFORM_ACCURACY == 1 / 4
    assert cross_entropy == pytest.approx(math.log(4))
    assert pytest.approx(1.386, abs=5e-4) == data.UNIFORM_CROSS_ENTROPY
