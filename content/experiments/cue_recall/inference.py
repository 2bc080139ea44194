"""Forward pass of the three models in NumPy on a run's weights, every intermediate returned; no torch.

Plain and step by step, for one episode at a time: pages show these arrays. The trainer's fast versions are in `recurrent` and
`transformer`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from content.experiments.cue_recall.configuration import LAYER_NORM_EPSILON, SIZES, Configuration
from content.experiments.cue_recall.data import recall_index
from content.experiments.cue_recall.weights import unpack
from content.sections.masks.compute import causal_mask
from content.sections.three_tokens.compute import attention
from content.sections.weighted_average.compute import softmax


class RNNTrace(NamedTuple):
    """One episode through the RNN; T inputs, H hidden units."""

    embedded: np.ndarray  # (T, 16)
    preactivation: np.ndarray  # (T, H)
    hidden: np.ndarray  # (T, H)
    logits: np.ndarray  # (T, 7)
    probabilities: np.ndarray  # (T, 7)


class GRUTrace(NamedTuple):
    """One episode through the GRU; T inputs, H hidden units."""

    embedded: np.ndarray  # (T, 16)
    reset: np.ndarray  # (T, H) r
    update: np.ndarray  # (T, H) u, the share of the old state that is kept
    hidden_part: np.ndarray  # (T, H) W_hn h + b_hn
    candidate: np.ndarray  # (T, H) n
    hidden: np.ndarray  # (T, H)
    logits: np.ndarray  # (T, 7)
    probabilities: np.ndarray  # (T, 7)


class TransformerTrace(NamedTuple):
    """One episode through the Transformer; T inputs, D = 12 features, two heads of six."""

    embedded: np.ndarray  # (T, D) token plus position
    normed: np.ndarray  # (T, D) what the attention reads
    query: np.ndarray  # (heads, T, 6)
    key: np.ndarray  # (heads, T, 6)
    value: np.ndarray  # (heads, T, 6)
    scores: np.ndarray  # (heads, T, T) before the mask
    attention_weights: np.ndarray  # (heads, T, T) rows sum to 1, zero above the diagonal
    head_output: np.ndarray  # (heads, T, 6)
    after_attention: np.ndarray  # (T, D)
    mlp_hidden: np.ndarray  # (T, 24)
    hidden: np.ndarray  # (T, D) after the block
    logits: np.ndarray  # (T, 7)
    probabilities: np.ndarray  # (T, 7)


class AnswerGradient(NamedTuple):
    """How the answer's loss depends on each hidden state."""

    loss: float  # cross-entropy of the answer, nats
    gradient: np.ndarray  # (T, H) dL/dh_t; zero after RECALL
    norm: np.ndarray  # (T,) its Euclidean length


def forward(configuration: Configuration, vector: np.ndarray, tokens: np.ndarray) -> RNNTrace | GRUTrace | TransformerTrace:
    """Run one episode's inputs through the model of `configuration` with the flat weights `vector` (P,).

    tokens: the T = delay + 4 inputs, or all delay + 5 tokens of the episode (EOS is no input and is left out). An RNN or GRU
    also takes N episodes side by side, (T, N); every array of its trace then has this axis behind the first.
    Returns an RNNTrace, GRUTrace or TransformerTrace in float64; row t predicts token t + 1.
    Raises ValueError for another length.
    """
    tokens = np.asarray(tokens)
    axes = (1,) if configuration.model == "transformer" else (1, 2)
    if tokens.ndim not in axes or len(tokens) not in (configuration.inputs, configuration.inputs + 1):
        raise ValueError(f"an episode with delay {configuration.delay} has {configuration.inputs} inputs, not {tokens.shape}")
    named = unpack(configuration, np.asarray(vector, float))
    run = {"rnn": run_rnn, "gru": run_gru, "transformer": run_transformer}[configuration.model]
    return run(named, tokens[: configuration.inputs])


def run_rnn(named: dict[str, np.ndarray], tokens: np.ndarray) -> RNNTrace:
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), from h_{-1} = 0."""
    embedded = named["embedding.weight"][tokens]  # (T, 16)
    from_input = embedded @ named["cell.weight_ih_l0"].T + named["cell.bias_ih_l0"]  # (T, H)
    state, steps = np.zeros(from_input.shape[1:]), []
    for row in from_input:
        preactivation = row + state @ named["cell.weight_hh_l0"].T + named["cell.bias_hh_l0"]  # (H,)
        state = np.tanh(preactivation)
        steps.append((preactivation, state))
    preactivation, hidden = map(np.stack, zip(*steps, strict=True))
    logits = hidden @ named["head.weight"].T + named["head.bias"]  # (T, 7)
    return RNNTrace(embedded, preactivation, hidden, logits, softmax(logits))


def run_gru(named: dict[str, np.ndarray], tokens: np.ndarray) -> GRUTrace:
    """PyTorch's GRU, reset after the affine map: h_t = (1 - u) ⊙ n + u ⊙ h_{t-1}, from h_{-1} = 0."""
    embedded = named["embedding.weight"][tokens]  # (T, 16)
    from_input = embedded @ named["cell.weight_ih_l0"].T + named["cell.bias_ih_l0"]  # (T, 3H)
    width = from_input.shape[-1] // 3
    state, steps = np.zeros((*from_input.shape[1:-1], width)), []
    for row in from_input:
        from_state = state @ named["cell.weight_hh_l0"].T + named["cell.bias_hh_l0"]  # (3H,): reset, update, candidate
        gates = sigmoid(row[..., : 2 * width] + from_state[..., : 2 * width])
        reset, update, hidden_part = gates[..., :width], gates[..., width:], from_state[..., 2 * width :]
        candidate = np.tanh(row[..., 2 * width :] + reset * hidden_part)
        state = (1 - update) * candidate + update * state
        steps.append((reset, update, hidden_part, candidate, state))
    reset, update, hidden_part, candidate, hidden = map(np.stack, zip(*steps, strict=True))
    logits = hidden @ named["head.weight"].T + named["head.bias"]  # (T, 7)
    return GRUTrace(embedded, reset, update, hidden_part, candidate, hidden, logits, softmax(logits))


def run_transformer(named: dict[str, np.ndarray], tokens: np.ndarray) -> TransformerTrace:
    """One causal pre-norm block between the embeddings and the final LayerNorm."""
    heads = SIZES["transformer"]["heads"]
    embedded = named["embedding.weight"][tokens] + named["position.weight"][: len(tokens)]  # (T, D)
    normed = layer_norm(embedded, named["block.norm1.weight"], named["block.norm1.bias"])
    projected = normed @ named["block.self_attn.in_proj_weight"].T + named["block.self_attn.in_proj_bias"]  # (T, 3D)
    by_head = projected.reshape(len(tokens), 3, heads, -1).transpose(1, 2, 0, 3)  # (3, heads, T, 6)
    query, key, value = by_head
    mask = causal_mask(len(tokens))
    each_head = [attention(*head, mask=mask) for head in zip(query, key, value, strict=True)]
    scores, weights, head_output = map(np.stack, zip(*each_head, strict=True))
    joined = np.concatenate(list(head_output), axis=1)  # (T, D)
    attended = joined @ named["block.self_attn.out_proj.weight"].T + named["block.self_attn.out_proj.bias"]
    after_attention = embedded + attended
    normed_again = layer_norm(after_attention, named["block.norm2.weight"], named["block.norm2.bias"])
    mlp_hidden = np.maximum(normed_again @ named["block.linear1.weight"].T + named["block.linear1.bias"], 0)  # (T, 24)
    hidden = after_attention + mlp_hidden @ named["block.linear2.weight"].T + named["block.linear2.bias"]
    final = layer_norm(hidden, named["norm.weight"], named["norm.bias"])
    logits = final @ named["head.weight"].T + named["head.bias"]  # (T, 7)
    return TransformerTrace(
        embedded, normed, query, key, value, scores, weights, head_output, after_attention, mlp_hidden, hidden,
        logits, softmax(logits),
    )  # fmt: skip


def answer_gradient(configuration: Configuration, vector: np.ndarray, trace: RNNTrace | GRUTrace, cue: int) -> AnswerGradient:
    """Gradient of the answer's loss, -log p(cue after RECALL), with respect to every hidden state of an RNN or GRU.

    configuration, vector: as for `forward`, which made `trace`; cue: token id of the right answer. Returns an AnswerGradient.
    Raises ValueError for a Transformer, which has no state that is handed on.
    """
    if configuration.model == "transformer":
        raise ValueError("a Transformer hands no hidden state from step to step; look at its attention weights instead")
    named = unpack(configuration, np.asarray(vector, float))
    recall = recall_index(configuration.delay)
    delta_logits = trace.probabilities[recall].copy()  # (7,)
    delta_logits[cue] -= 1  # softmax and cross-entropy together
    gradient = np.zeros_like(trace.hidden)  # (T, H)
    gradient[recall] = delta_logits @ named["head.weight"]
    one_step_back = {"rnn": rnn_step_back, "gru": gru_step_back}[configuration.model]
    for step in range(recall, 0, -1):
        gradient[step - 1] = one_step_back(named["cell.weight_hh_l0"], trace, step, gradient[step])
    loss = -np.log(trace.probabilities[recall, cue])
    return AnswerGradient(float(loss), gradient, np.linalg.norm(gradient, axis=1))


def rnn_step_back(weight: np.ndarray, trace: RNNTrace, step: int, delta: np.ndarray) -> np.ndarray:
    """dL/dh_{t-1} = W_hhᵀ (dL/dh_t ⊙ (1 - h_t²)) for t = `step`, from `delta` = dL/dh_t (H,)."""
    return (delta * (1 - trace.hidden[step] ** 2)) @ weight


def gru_step_back(weight: np.ndarray, trace: GRUTrace, step: int, delta: np.ndarray) -> np.ndarray:
    """dL/dh_{t-1} through the kept share, the candidate and both gates, for t = `step`, from `delta` = dL/dh_t (H,)."""
    reset, update, candidate = trace.reset[step], trace.update[step], trace.candidate[step]
    delta_candidate = delta * (1 - update) * (1 - candidate**2)
    delta_reset = delta_candidate * trace.hidden_part[step] * reset * (1 - reset)
    delta_update = delta * (trace.hidden[step - 1] - candidate) * update * (1 - update)
    return delta * update + np.concatenate([delta_reset, delta_update, delta_candidate * reset]) @ weight


def layer_norm(rows: np.ndarray, gain: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Rows (T, D) with mean 0 and variance 1 each, times `gain` plus `shift` (D,)."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + LAYER_NORM_EPSILON) * gain + shift


def sigmoid(z: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-z)), written with tanh, which does not overflow."""
    return (1 + np.tanh(z / 2)) / 2
