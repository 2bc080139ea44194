"""The three models as PyTorch modules: the definition that everything else in this experiment is checked against."""

import torch
from torch import nn

from content.experiments.cue_recall.configuration import SIZES
from content.experiments.cue_recall.data import VOCABULARY
from content.experiments.cue_recall.weights import initial_weights, unpack


class Recurrent(nn.Module):
    """Embedding, one recurrent layer (nn.RNN with tanh, or nn.GRU), linear head."""

    def __init__(self, configuration):
        super().__init__()
        size = SIZES[configuration.model]
        layer = {"rnn": nn.RNN, "gru": nn.GRU}[configuration.model]
        self.embedding = nn.Embedding(len(VOCABULARY), size["embedding"])
        self.cell = layer(size["embedding"], size["hidden"], batch_first=True)
        self.head = nn.Linear(size["hidden"], len(VOCABULARY))

    def forward(self, tokens):
        """Next-token logits (B, T, 7) for token ids (B, T)."""
        hidden, _ = self.cell(self.embedding(tokens))  # (B, T, H)
        return self.head(hidden)


class Transformer(nn.Module):
    """Token and learned position embeddings, one causal pre-norm block, final LayerNorm, linear head."""

    def __init__(self, configuration):
        super().__init__()
        size = SIZES["transformer"]
        self.embedding = nn.Embedding(len(VOCABULARY), size["width"])
        self.position = nn.Embedding(configuration.positions, size["width"])
        self.block = nn.TransformerEncoderLayer(
            size["width"], size["heads"], size["mlp"], dropout=0.0, activation="relu", batch_first=True, norm_first=True
        )
        self.norm = nn.LayerNorm(size["width"])
        self.head = nn.Linear(size["width"], len(VOCABULARY))

    def embed(self, tokens):
        """Token plus position vectors (B, T, D)."""
        return self.embedding(tokens) + self.position.weight[: tokens.shape[1]]

    def forward(self, tokens):
        """Next-token logits (B, T, 7) for token ids (B, T)."""
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], dtype=self.position.weight.dtype)
        hidden = self.block(self.embed(tokens), src_mask=mask, is_causal=True)  # (B, T, D)
        return self.head(self.norm(hidden))

    def attention_weights(self, tokens):
        """What each position looked at: (B, heads, T, T), rows sum to 1."""
        future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
        normed = self.block.norm1(self.embed(tokens))
        _, weights = self.block.self_attn(normed, normed, normed, attn_mask=future, need_weights=True, average_attn_weights=False)
        return weights


def build(configuration, vector=None):
    """The module of a configuration, holding `vector` (P,) or, without it, the run's initial weights."""
    module = Transformer(configuration) if configuration.model == "transformer" else Recurrent(configuration)
    load(module, configuration, initial_weights(configuration) if vector is None else vector)
    return module


def load(module, configuration, vector):
    """Copy the flat vector (P,) into the module's parameters."""
    module.load_state_dict({name: torch.as_tensor(array) for name, array in unpack(configuration, vector).items()})
