"""Loss and gradient of the RNN and the GRU, derived by hand: backpropagation through time in few, large NumPy calls.

Everything is stored features first, (features, B), for S runs at once that see the same batch. Three ideas save time:

1. The input is one of seven tokens, so embedding, input weights and biases fold into one table with a column per token.
2. The state is extended by the token's one-hot column, a_t = [h_{t-1}; onehot(x_t)], and one matrix W⁺ holds the recurrent
   weights, the table and the output head: W⁺ a_t gives the preactivations of step t and the logits of step t-1 together.
3. Backwards, d_t holds the gradients of these same rows. Then dL/dh_{t-1} = W⁺_hᵀ d_t, where W⁺_h are the columns of h, and
   Σ_t d_t a_tᵀ is the gradient of W⁺: every weight at once.

The loss is the mean next-token cross-entropy over all positions and episodes. Source: backpropagation through time as in the
section `tanh_chain`; the GRU's equations as in `gates`.
"""

import numpy as np

from content.experiments.cue_recall.configuration import SIZES
from content.experiments.cue_recall.data import VOCABULARY, recall_index
from content.experiments.cue_recall.loss import Scores, cross_entropy
from content.experiments.cue_recall.weights import unpack

# OpenBLAS has a fast kernel for small products A Bᵀ with at most about this many entries in the result; measured twice as fast.
LARGEST_SMALL_PRODUCT = 1100


class Recurrent:
    """What RNN and GRU share: buffers for S runs on batches of B episodes, loss, and the way to the named weights.

    A subclass says how many blocks of H rows stand before and behind the head's seven rows in W⁺ (`blocks`), and gives
    `fold`, `unfold`, `next_state` and `through_state`.
    """

    blocks = (None, None)

    def __init__(self, configuration, runs, batch, dtype=np.float32):
        self.configuration, self.width = configuration, SIZES[configuration.model]["hidden"]
        self.time, self.runs, self.batch = configuration.inputs, runs, batch
        before, behind = (count * self.width for count in self.blocks)
        self.head = slice(before, before + len(VOCABULARY))  # rows of the head in W⁺
        self.behind = slice(self.head.stop, self.head.stop + behind)
        shape = (runs, self.behind.stop, self.width + len(VOCABULARY))
        self.matrix = np.zeros(shape, dtype)  # W⁺
        self.matrix_gradient = np.empty(shape, dtype)
        self.to_hidden = np.zeros((runs, self.width, self.head.stop), dtype)  # W⁺_hᵀ
        self.state = np.zeros((self.time + 1, runs, shape[2], batch), dtype)  # a_t
        self.sums = np.empty((runs, shape[1], batch), dtype)  # W⁺ a_t of one step
        self.logits = np.empty((self.time, runs, len(VOCABULARY), batch), dtype)
        self.delta = np.zeros((self.time + 1, *self.sums.shape), dtype)  # d_t
        self.delta_hidden = np.empty((runs, self.width, batch), dtype)

    def scores(self, weights, tokens):
        """Forward pass. weights: flat vectors (S, P); tokens: episodes (B, T+1). Returns Scores with one entry per run."""
        width = self.width
        self.fold(unpack(self.configuration, weights))
        onehot = np.arange(len(VOCABULARY))[:, None] == tokens.T[:, None, :]  # (T+1, 7, B)
        self.state[:, :, width:] = onehot[:, None]
        for step in range(self.time):
            np.matmul(self.matrix, self.state[step], out=self.sums)  # (S, rows, B)
            if step:
                self.logits[step - 1] = self.sums[:, self.head]
            self.next_state(step, self.sums, self.state[step, :, :width], self.state[step + 1, :, :width])
        np.matmul(self.matrix[:, self.head], self.state[-1], out=self.logits[-1])
        losses, self.probabilities = cross_entropy(self.logits, self.state[1:, :, width:])
        recall = recall_index(self.configuration.delay)
        return Scores(
            losses.mean(axis=(0, 2), dtype=np.float64),
            losses[recall].mean(axis=1, dtype=np.float64),
            (self.logits[recall].argmax(axis=1) == tokens[:, recall + 1]).mean(axis=1),
        )

    def scores_and_gradient(self, weights, tokens, out):
        """`scores`, and the gradient of each run's loss with respect to its weights written to `out` (S, P)."""
        scores = self.scores(weights, tokens)
        delta_logits = np.subtract(self.probabilities, self.state[1:, :, self.width :], out=self.probabilities)
        np.multiply(delta_logits, 1 / (self.time * self.batch), out=self.delta[1:, :, self.head])
        for step in range(self.time - 1, -1, -1):
            np.matmul(self.to_hidden, self.delta[step + 1, :, : self.head.stop], out=self.delta_hidden)  # dL/dh_step
            self.through_state(step, self.delta_hidden, self.delta[step])
        pieces = -(-self.matrix[0].size // LARGEST_SMALL_PRODUCT)
        for rows in np.array_split(np.arange(self.behind.stop), pieces):
            block = slice(rows[0], rows[-1] + 1)
            products = np.matmul(self.delta[:, :, block], self.state.swapaxes(2, 3))  # (T+1, S, rows, H + 7)
            np.sum(products, axis=0, out=self.matrix_gradient[:, block])
        self.unfold(self.matrix_gradient, unpack(self.configuration, weights), unpack(self.configuration, out))
        return scores

    def fold_head(self, named):
        """Write the output head into W⁺, its bias into every token's column."""
        self.matrix[:, self.head, : self.width] = named["head.weight"]
        self.matrix[:, self.head, self.width :] = named["head.bias"][..., None]
        self.to_hidden[:, :, self.head] = named["head.weight"].swapaxes(1, 2)

    def unfold_head(self, gradient):
        """Read the head's gradient out of the gradient of W⁺."""
        gradient["head.weight"][...] = self.matrix_gradient[:, self.head, : self.width]
        gradient["head.bias"][...] = self.matrix_gradient[:, self.head, self.width :].sum(axis=2)

    @staticmethod
    def token_table(named):
        """Input weights times each token's embedding plus the input bias, (S, rows, 7)."""
        return named["cell.weight_ih_l0"] @ named["embedding.weight"].swapaxes(1, 2) + named["cell.bias_ih_l0"][..., None]

    @staticmethod
    def unfold_table(table_gradient, named, gradient):
        """From the table's gradient (S, rows, 7) to input weights, input bias and embedding."""
        gradient["cell.weight_ih_l0"][...] = table_gradient @ named["embedding.weight"]
        gradient["cell.bias_ih_l0"][...] = table_gradient.sum(axis=2)
        gradient["embedding.weight"][...] = table_gradient.swapaxes(1, 2) @ named["cell.weight_ih_l0"]


class RNN(Recurrent):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh)."""

    blocks = (1, 0)

    def __init__(self, configuration, runs, batch, dtype=np.float32):
        super().__init__(configuration, runs, batch, dtype)
        self.slope = np.empty_like(self.delta_hidden)

    def fold(self, named):
        """Write the weights into W⁺ and W⁺_hᵀ."""
        width = self.width
        self.matrix[:, :width, :width] = named["cell.weight_hh_l0"]
        self.matrix[:, :width, width:] = self.token_table(named) + named["cell.bias_hh_l0"][..., None]
        self.to_hidden[:, :, :width] = named["cell.weight_hh_l0"].swapaxes(1, 2)
        self.fold_head(named)

    def unfold(self, matrix_gradient, named, gradient):
        """Read every weight's gradient out of the gradient of W⁺."""
        width = self.width
        gradient["cell.weight_hh_l0"][...] = matrix_gradient[:, :width, :width]
        gradient["cell.bias_hh_l0"][...] = matrix_gradient[:, :width, width:].sum(axis=2)
        self.unfold_table(matrix_gradient[:, :width, width:], named, gradient)
        self.unfold_head(gradient)

    def next_state(self, step, sums, previous, following):
        """Write h_t to `following`."""
        np.tanh(sums[:, : self.width], out=following)

    def through_state(self, step, delta_hidden, delta):
        """dL/dz_t = dL/dh_t ⊙ (1 - h_t²)."""
        following = self.state[step + 1, :, : self.width]
        np.multiply(following, following, out=self.slope)
        np.subtract(1, self.slope, out=self.slope)
        np.multiply(delta_hidden, self.slope, out=delta[:, : self.width])


class GRU(Recurrent):
    """r = σ(z_r), u = σ(z_u), n = tanh(i + r ⊙ m), h_t = n + u ⊙ (h_{t-1} - n), with m = W_hn h + b_hn and i = W_in x + b_in.

    A sigmoid is a tanh of half the argument, σ(z) = (1 + tanh(z/2)) / 2, and NumPy's tanh is fast: W⁺ gives z_r/2 and z_u/2, then
    m and, behind the head, i. The rows of d_t are the gradients of z_r, z_u, m and i.
    """

    blocks = (3, 1)

    def __init__(self, configuration, runs, batch, dtype=np.float32):
        super().__init__(configuration, runs, batch, dtype)
        width = self.width
        self.gates = np.empty((self.time, runs, 2 * width, batch), dtype)  # r, u
        self.candidate = np.empty((self.time, runs, width, batch), dtype)  # n
        self.held_back = np.empty_like(self.candidate)  # m (1 - r)
        self.carry, self.product, self.slope = np.empty((3, runs, width, batch), dtype)

    def fold(self, named):
        """Write the weights into W⁺ and W⁺_hᵀ."""
        width, gates = self.width, 2 * self.width
        weight, bias = named["cell.weight_hh_l0"], named["cell.bias_hh_l0"][..., None]
        table = self.token_table(named)  # (S, 3H, 7)
        self.matrix[:, :gates, :width] = weight[:, :gates] * 0.5
        self.matrix[:, :gates, width:] = (table[:, :gates] + bias[:, :gates]) * 0.5
        self.matrix[:, gates : 3 * width, :width] = weight[:, gates:]
        self.matrix[:, gates : 3 * width, width:] = bias[:, gates:]
        self.matrix[:, self.behind, width:] = table[:, gates:]
        self.to_hidden[:, :, : 3 * width] = weight.swapaxes(1, 2)
        self.fold_head(named)

    def unfold(self, matrix_gradient, named, gradient):
        """Read every weight's gradient out of Σ_t d_t a_tᵀ."""
        width, gates = self.width, 2 * self.width
        through_hidden = matrix_gradient[:, : 3 * width]
        gradient["cell.weight_hh_l0"][...] = through_hidden[:, :, :width]
        gradient["cell.bias_hh_l0"][...] = through_hidden[:, :, width:].sum(axis=2)
        input_rows = [through_hidden[:, :gates, width:], matrix_gradient[:, self.behind, width:]]
        self.unfold_table(np.concatenate(input_rows, axis=1), named, gradient)
        self.unfold_head(gradient)

    def next_state(self, step, sums, previous, following):
        """Write h_t to `following`; keep r, u, n and m (1 - r) for the way back."""
        width = self.width
        gates, candidate, held_back = self.gates[step], self.candidate[step], self.held_back[step]
        hidden_part = sums[:, 2 * width : 3 * width]  # m
        np.tanh(sums[:, : 2 * width], out=gates)
        np.multiply(gates, 0.5, out=gates)
        np.add(gates, 0.5, out=gates)  # r, u
        np.multiply(gates[:, :width], hidden_part, out=candidate)
        np.subtract(hidden_part, candidate, out=held_back)
        np.add(candidate, sums[:, self.behind], out=candidate)
        np.tanh(candidate, out=candidate)  # n
        np.subtract(previous, candidate, out=following)
        np.multiply(following, gates[:, width:], out=following)
        np.add(following, candidate, out=following)

    def through_state(self, step, delta_hidden, delta):
        """From dL/dh_t to the rows of d_t; what reaches h_{t-1} past the matrices is carried to the step before."""
        width = self.width
        reset, update = self.gates[step, :, :width], self.gates[step, :, width:]
        candidate, carry, product, slope = self.candidate[step], self.carry, self.product, self.slope
        delta_hidden_part, delta_input_part = delta[:, 2 * width : 3 * width], delta[:, self.behind]
        if step < self.time - 1:
            np.add(delta_hidden, carry, out=delta_hidden)
        np.multiply(delta_hidden, update, out=carry)
        # candidate: dL/di = dL/dh (1 - u) (1 - n²), and dL/dm = dL/di r
        np.subtract(delta_hidden, carry, out=product)
        np.multiply(candidate, candidate, out=slope)
        np.subtract(1, slope, out=slope)
        np.multiply(product, slope, out=delta_input_part)
        np.multiply(delta_input_part, reset, out=delta_hidden_part)
        # reset gate: dL/dz_r = dL/di m r (1 - r) = dL/dm · m (1 - r)
        np.multiply(delta_hidden_part, self.held_back[step], out=delta[:, :width])
        # update gate: dL/dz_u = dL/dh (h_{t-1} - n) u (1 - u) = dL/dh u · (h_{t-1} - h_t)
        np.subtract(self.state[step, :, :width], self.state[step + 1, :, :width], out=product)
        np.multiply(carry, product, out=delta[:, width : 2 * width])
