"""Loss and gradient from PyTorch's autograd on the modules of `model`: slower than the derived ones, and their check."""

import numpy as np
import torch
from torch.nn import functional

from content.experiments.cue_recall.data import recall_index
from content.experiments.cue_recall.loss import Scores
from content.experiments.cue_recall.model import build, load


class Autograd:
    """The engine interface of `recurrent` and `transformer`, one run after the other."""

    def __init__(self, configuration, runs, batch, dtype=np.float32):
        self.configuration = configuration
        self.module = build(configuration).to(torch.from_numpy(np.empty(0, dtype)).dtype)

    def scores(self, weights, tokens):
        """Forward pass. weights: flat vectors (S, P); tokens: episodes (B, T+1). Returns Scores with one entry per run."""
        with torch.no_grad():
            each = [self._one_run(row, tokens)[1] for row in weights]
        return Scores(*map(np.array, zip(*each, strict=True)))

    def scores_and_gradient(self, weights, tokens, out):
        """`scores`, and the gradient of each run's loss with respect to its weights written to `out` (S, P)."""
        each = []
        for row, row_gradient in zip(weights, out, strict=True):
            loss, scores = self._one_run(row, tokens)
            gradients = torch.autograd.grad(loss, list(self.module.parameters()))
            row_gradient[...] = torch.cat([gradient.reshape(-1) for gradient in gradients]).numpy()
            each.append(scores)
        return Scores(*map(np.array, zip(*each, strict=True)))

    def _one_run(self, vector, tokens):
        """The loss as a tensor, and loss, recall cross-entropy and recall accuracy as numbers."""
        load(self.module, self.configuration, vector)
        tokens = torch.from_numpy(tokens.astype(np.int64))
        logits, targets = self.module(tokens[:, :-1]), tokens[:, 1:]  # (B, T, 7), (B, T)
        loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        recall = recall_index(self.configuration.delay)
        answer = logits[:, recall]  # (B, 7)
        cross_entropy = functional.cross_entropy(answer, targets[:, recall])
        accuracy = (answer.argmax(dim=1) == targets[:, recall]).double().mean()
        return loss, (loss.item(), cross_entropy.item(), accuracy.item())
