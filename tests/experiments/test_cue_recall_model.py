"""The models' definition in PyTorch, their weights as one flat vector, and the derived gradients against autograd."""

import numpy as np
import pytest

from content.experiments.cue_recall import data
from content.experiments.cue_recall.configuration import MODELS, Configuration
from content.experiments.cue_recall.loss import cross_entropy
from content.experiments.cue_recall.train import DERIVED
from content.experiments.cue_recall.weights import initial_weights, parameter_count, shapes
from content.sections.three_tokens.compute import softmax

torch = pytest.importorskip("torch")

from content.experiments.cue_recall.autograd import Autograd
from content.experiments.cue_recall.model import Recurrent, Transformer, build

COUNTS = {"rnn": 1943, "gru": 2023, "transformer": 1915}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("delay", [1, 8, 16, 32])
def test_parameter_count_is_that_of_the_golden_block(model, delay):
    configuration = Configuration(model, delay)
    assert parameter_count(configuration) == COUNTS[model]
    assert sum(parameter.numel() for parameter in build(configuration).parameters()) == COUNTS[model]


def test_longer_episode_gets_more_positions():
    assert parameter_count(Configuration("transformer", 64)) == COUNTS["transformer"] + 12 * (68 - 36)


@pytest.mark.parametrize("model", MODELS)
def test_names_and_order_of_the_flat_vector_are_those_of_the_module(model):
    configuration = Configuration(model)
    module = build(configuration)
    assert {name: tuple(array.shape) for name, array in module.named_parameters()} == shapes(configuration)
    joined = torch.cat([parameter.flatten() for parameter in module.parameters()])
    np.testing.assert_array_equal(joined.detach().numpy(), initial_weights(configuration))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", [0, 6206, 2**31 - 1])
@pytest.mark.parametrize("delay", [8, 40])
def test_initial_weights_are_those_of_pytorchs_manual_seed(model, seed, delay):
    configuration = Configuration(model, delay, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        fresh = (Transformer if model == "transformer" else Recurrent)(configuration)
    theirs = torch.cat([parameter.flatten() for parameter in fresh.parameters()]).detach().numpy()
    np.testing.assert_allclose(initial_weights(configuration), theirs, atol=1e-6)


def test_seed_decides_the_initial_weights():
    first, again, other = (initial_weights(Configuration(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_attention_weights_are_causal_and_sum_to_one():
    configuration = Configuration("transformer", 8)
    tokens = torch.as_tensor(data.split(configuration, "test")[:3, :-1].astype(int))
    weights = build(configuration).attention_weights(tokens)
    assert weights.shape == (3, 2, 12, 12)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2, 12))
    assert (weights.triu(1) == 0).all()


def batch_and_weights(model, delay, runs, dtype):
    configuration = Configuration(model, delay)
    tokens = data.episodes(delay, 32, np.random.default_rng(delay))
    weights = np.stack([initial_weights(configuration.with_seed(seed), dtype) for seed in range(runs)])
    # away from the initial values, where biases and LayerNorm gains are special
    weights += 0.1 * np.random.default_rng(1).standard_normal(weights.shape).astype(dtype)
    return configuration, tokens, weights


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("delay", [1, 7, 40])
def test_derived_loss_and_gradient_equal_autograd_in_float64(model, delay):
    configuration, tokens, weights = batch_and_weights(model, delay, 2, np.float64)
    derived, automatic = np.full_like(weights, np.nan), np.empty_like(weights)
    engine = DERIVED[model](configuration, 2, 32, np.float64)
    for _ in range(2):  # the second call finds used buffers
        ours = engine.scores_and_gradient(weights, tokens, derived)
    theirs = Autograd(configuration, 2, 32, np.float64).scores_and_gradient(weights, tokens, automatic)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    np.testing.assert_allclose(derived, automatic, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("model", MODELS)
def test_derived_loss_and_gradient_equal_autograd_in_float32(model):
    configuration, tokens, weights = batch_and_weights(model, 16, 3, np.float32)
    derived, automatic = np.empty_like(weights), np.empty_like(weights)
    ours = DERIVED[model](configuration, 3, 32).scores_and_gradient(weights, tokens, derived)
    theirs = Autograd(configuration, 3, 32).scores_and_gradient(weights, tokens, automatic)
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-6)
    np.testing.assert_allclose(derived, automatic, atol=1e-6)


def test_attention_with_scores_too_large_for_exp_still_equals_autograd():
    configuration, tokens, weights = batch_and_weights("transformer", 8, 1, np.float64)
    weights *= 12
    derived, automatic = np.empty_like(weights), np.empty_like(weights)
    engine = DERIVED["transformer"](configuration, 1, 32, np.float64)
    ours = engine.scores_and_gradient(weights, tokens, derived)
    assert engine.one_run._scores_can_be_large()
    theirs = Autograd(configuration, 1, 32, np.float64).scores_and_gradient(weights, tokens, automatic)
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-10)
    np.testing.assert_allclose(derived, automatic, rtol=1e-6, atol=1e-9)


def test_softmax_of_the_loss_is_the_books_softmax():
    rng = np.random.default_rng(0)
    logits, tokens = rng.normal(size=(5, 7, 11)), rng.integers(0, 7, (5, 11))
    targets = (np.arange(7)[:, None] == tokens[:, None]).astype(float)
    losses, probabilities = cross_entropy(logits, targets)
    expected = softmax(logits.swapaxes(1, 2))
    np.testing.assert_allclose(probabilities.swapaxes(1, 2), expected)
    np.testing.assert_allclose(losses, -np.log(np.take_along_axis(expected, tokens[..., None], 2))[..., 0])
