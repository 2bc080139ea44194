"""The page's NumPy forward pass against PyTorch, and the gradient from the answer back to each state."""

import subprocess
import sys

import numpy as np
import pytest

from content.experiments.cue_recall import data, results
from content.experiments.cue_recall.configuration import MODELS, Configuration
from content.experiments.cue_recall.inference import answer_gradient, forward
from content.experiments.cue_recall.weights import initial_weights


def trained(model, delay):
    """The stored run with the first seed."""
    return next(run for run in results.load() if (run.configuration.model, run.configuration.delay) == (model, delay))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("delay", [8, 32])
def test_every_intermediate_equals_torch(model, delay):
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    run = trained(model, delay)
    module = build(run.configuration, run.weights).double()
    for episode in data.split(run.configuration, "test")[:5]:
        trace = forward(run.configuration, run.weights, episode)
        tokens = torch.as_tensor(episode[None, :-1].astype(int))
        with torch.no_grad():
            np.testing.assert_allclose(trace.logits, module(tokens)[0], atol=1e-10)
            if model == "transformer":
                mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], dtype=torch.float64)
                hidden = module.block(module.embed(tokens), src_mask=mask, is_causal=True)[0]
                np.testing.assert_allclose(trace.attention_weights, module.attention_weights(tokens)[0], atol=1e-10)
            else:
                hidden = module.cell(module.embedding(tokens))[0][0]
            np.testing.assert_allclose(trace.hidden, hidden, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("delay", [8, 32])
def test_probabilities_equal_those_of_torch_in_float32(model, delay):
    # A GRU that has learned amplifies float32's rounding over 36 steps; the difference is torch's own, see the test above.
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    run = trained(model, delay)
    module = build(run.configuration, run.weights)
    for episode in data.split(run.configuration, "test")[:20]:
        trace = forward(run.configuration, run.weights, episode)
        with torch.no_grad():
            theirs = module(torch.as_tensor(episode[None, :-1].astype(int)))[0].softmax(-1)
        np.testing.assert_allclose(trace.probabilities, theirs, atol=1e-4 if model == "gru" else 1e-5)


@pytest.mark.parametrize("model", ["rnn", "gru"])
def test_gradient_of_the_answer_to_each_state_equals_autograd(model):
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    run = trained(model, 16)
    module = build(run.configuration, run.weights).double()
    episode = data.split(run.configuration, "test")[0]
    cue, recall = int(episode[1]), data.recall_index(16)
    state, states = torch.zeros(1, 1, module.cell.hidden_size, dtype=torch.float64), []
    for token in episode[: recall + 1]:
        _, state = module.cell(module.embedding(torch.tensor([[int(token)]])), state)
        states.append(state)
    loss = torch.nn.functional.cross_entropy(module.head(state)[0], torch.tensor([cue]))
    expected = torch.stack(torch.autograd.grad(loss, states))[:, 0, 0].numpy()  # (recall + 1, H)
    ours = answer_gradient(run.configuration, run.weights, forward(run.configuration, run.weights, episode), cue)
    assert ours.loss == pytest.approx(loss.item(), abs=1e-12)
    np.testing.assert_allclose(ours.gradient[: recall + 1], expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(ours.norm[: recall + 1], np.linalg.norm(expected, axis=1))
    assert (ours.gradient[recall + 1 :] == 0).all()


def test_changed_cue_changes_the_answer_of_the_transformer():
    run = trained("transformer", 32)
    fillers = data.split(run.configuration, "test")[0, 2:34]
    for cue in range(4):
        trace = forward(run.configuration, run.weights, data.assemble([cue], fillers[None])[0])
        assert trace.probabilities[data.recall_index(32)].argmax() == cue


def test_transformer_has_no_state_to_hand_back():
    run = trained("transformer", 8)
    trace = forward(run.configuration, run.weights, data.split(run.configuration, "test")[0])
    with pytest.raises(ValueError, match="attention weights instead"):
        answer_gradient(run.configuration, run.weights, trace, 0)


def test_episode_of_another_length_is_refused():
    configuration = Configuration("rnn", 8)
    with pytest.raises(ValueError, match="has 12 inputs"):
        forward(configuration, initial_weights(configuration), np.zeros(14, int))


def test_nothing_that_a_web_process_uses_imports_torch():
    names = ["configuration", "data", "weights", "inference", "results", "checkpoint", "train"]
    imports = ", ".join(f"content.experiments.cue_recall.{name}" for name in names)
    code = f"import sys, {imports}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
