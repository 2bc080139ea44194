"""Loss and gradient of the Transformer, derived by hand.

Each run is computed by itself: its arrays are large enough to keep NumPy busy and small enough for the processor's cache.
Three ideas save time:

1. Before the attention, a row depends on its position and token only. First LayerNorm, queries, keys and values are therefore
   computed once for the table of T · 7 pairs and looked up, and their gradient is summed into that table.
2. Softmax weights are never formed. With e = exp(scores) and a column of ones beside the values, one product gives the
   weighted sums and the row sums together; only the small result is divided. Backwards, a seventh row -g·z beside
   g = dL/dz / rowsum turns the softmax's correction term into part of a product: dL/dscores = e ⊙ (gᵀ[v; 1]).
3. The gain and shift of a LayerNorm fold into the linear map behind it.

After the attention arrays are features first, (features, B·T).
"""

import numpy as np

from content.experiments.cue_recall.configuration import LAYER_NORM_EPSILON, SIZES
from content.experiments.cue_recall.data import VOCABULARY, recall_index
from content.experiments.cue_recall.loss import Scores, cross_entropy
from content.experiments.cue_recall.weights import unpack

LARGEST_SCORE = 60.0  # exp of scores within ± this neither overflows nor vanishes in float32


class Transformer:
    """Loss and gradient of S runs that see the same batches of B episodes, one run after the other in the same buffers."""

    def __init__(self, configuration, runs, batch, dtype=np.float32):
        self.configuration, self.one_run = configuration, _OneRun(configuration, batch, dtype)

    def scores(self, weights, tokens):
        """Forward pass. weights: flat vectors (S, P); tokens: episodes (B, T+1). Returns Scores with one entry per run."""
        batch = _Batch(tokens, weights.dtype)
        each = [self.one_run.scores(unpack(self.configuration, row), batch) for row in weights]
        return Scores(*map(np.array, zip(*each, strict=True)))

    def scores_and_gradient(self, weights, tokens, out):
        """`scores`, and the gradient of each run's loss with respect to its weights written to `out` (S, P)."""
        batch, each = _Batch(tokens, weights.dtype), []
        for row, row_gradient in zip(weights, out, strict=True):
            named, gradient = unpack(self.configuration, row), unpack(self.configuration, row_gradient)
            each.append(self.one_run.scores(named, batch))
            self.one_run.gradient(named, gradient)
        return Scores(*map(np.array, zip(*each, strict=True)))


class _Batch:
    """What all runs need to know of a batch: its tokens as table rows and as one-hot columns."""

    def __init__(self, tokens, dtype):
        inputs = tokens[:, :-1].astype(np.intp)  # (B, T)
        self.answers = tokens[:, -2]
        self.rows = (inputs + len(VOCABULARY) * np.arange(inputs.shape[1])).ravel()  # (B·T,) rows of the table
        ids = np.arange(len(VOCABULARY))[:, None, None]
        self.onehot = (tokens[:, :-1] == ids).astype(dtype).reshape(len(VOCABULARY), -1)  # (7, B·T)
        self.targets = (tokens[:, 1:] == ids).astype(dtype).reshape(len(VOCABULARY), -1)  # (7, B·T)
        self.onehot_by_position = (tokens[:, :-1].T[:, None] == ids[:, 0]).astype(dtype)  # (T, 7, B)


class _OneRun:
    def __init__(self, configuration, batch, dtype):
        size = SIZES["transformer"]
        self.dtype, self.batch, self.time = np.dtype(dtype), batch, configuration.inputs
        self.recall = recall_index(configuration.delay)
        self.width, self.heads = size["width"], size["heads"]
        self.head_width = self.width // self.heads
        heads, each, time, width = self.heads, self.head_width, self.time, self.width
        # Table of (position, token) pairs and its rows looked up: queries, keys, and values with a 1 behind each head's.
        columns = 2 * width + heads * (each + 1)
        self.table = np.ones((time * len(VOCABULARY), columns), dtype)
        self.looked_up = np.empty((batch * time, columns), dtype)
        self.query, self.key = (self._per_head(self.looked_up, start, each) for start in (0, width))  # (B, heads, T, 6)
        self.value = self._per_head(self.looked_up, 2 * width, each + 1)  # (B, heads, T, 7)
        self.delta_looked_up = np.empty((batch * time, 3 * width), dtype)
        self.delta_query, self.delta_key, self.delta_value = (
            self._per_head(self.delta_looked_up, start, each) for start in (0, width, 2 * width)
        )
        self.visible = np.tril(np.ones((time, time), dtype))
        self.exponentials = np.empty((batch, heads, time, time), dtype)  # e
        self.delta_scores = np.empty_like(self.exponentials)
        self.sums = np.empty((heads, each + 1, batch, time), dtype)  # e-weighted values, and the row sums of e
        self.delta_sums = np.empty_like(self.sums)
        rows = batch * time
        self.attended = np.empty((width, rows), dtype)
        self.stream = [np.empty((width, rows), dtype) for _ in range(2)]  # residual stream before and after the MLP
        self.hidden = np.empty((size["mlp"], rows), dtype)
        self.delta_hidden = np.empty_like(self.hidden)
        self.logits = np.empty((len(VOCABULARY), rows), dtype)
        self.norm_mlp, self.norm_head = LayerNorm(width, rows, dtype), LayerNorm(width, rows, dtype)
        self.delta_stream, self.delta_branch = np.empty((2, width, rows), dtype)
        self.ones = np.ones(rows, dtype)

    def _per_head(self, rows, start, width):
        """View (B, heads, T, width) of the columns from `start` in rows (B·T, columns)."""
        columns = rows.reshape(self.batch, self.time, -1)[:, :, start : start + self.heads * width]
        return columns.reshape(self.batch, self.time, self.heads, width).swapaxes(1, 2)

    def scores(self, named, batch):
        """Loss over all positions, recall cross-entropy and recall accuracy of one run."""
        self.batch_of_tokens = batch
        self._look_up(named)
        self._attend()
        before_mlp, after_mlp = self.stream
        # residual stream: embedding, plus attention, plus MLP
        np.matmul(named["embedding.weight"].T, batch.onehot, out=before_mlp)  # (D, B·T)
        by_position = before_mlp.reshape(self.width, self.batch, self.time)
        by_position += named["position.weight"][: self.time].T[:, None]
        np.matmul(named["block.self_attn.out_proj.weight"], self.attended, out=after_mlp)
        before_mlp += after_mlp
        before_mlp += named["block.self_attn.out_proj.bias"][:, None]
        weight, bias = self.norm_mlp.fold(named, "block.norm2", "block.linear1")
        np.matmul(weight, self.norm_mlp.normalise(before_mlp), out=self.hidden)  # (F, B·T)
        self.hidden += bias
        np.maximum(self.hidden, self.dtype.type(0), out=self.hidden)
        np.matmul(named["block.linear2.weight"], self.hidden, out=after_mlp)
        after_mlp += before_mlp
        after_mlp += named["block.linear2.bias"][:, None]
        weight, bias = self.norm_head.fold(named, "norm", "head")
        np.matmul(weight, self.norm_head.normalise(after_mlp), out=self.logits)  # (7, B·T)
        self.logits += bias
        losses, self.probabilities = cross_entropy(self.logits, batch.targets)
        by_position = losses.reshape(self.batch, self.time)
        answer = self.logits.reshape(-1, self.batch, self.time)[:, :, self.recall].argmax(axis=0)
        return (
            losses.mean(dtype=np.float64),
            by_position[:, self.recall].mean(dtype=np.float64),
            (answer == batch.answers).mean(),
        )

    def _look_up(self, named):
        """Queries (scaled by 1/√d_k), keys and values of every (position, token) pair, then of every row of the batch."""
        width, each = self.width, self.head_width
        pairs = named["position.weight"][: self.time, None] + named["embedding.weight"]  # (T, 7, D)
        self.pairs, self.pair_scale = _normalise_rows(pairs.reshape(-1, width))
        self.normed_pairs = self.pairs * named["block.norm1.weight"] + named["block.norm1.bias"]  # (T·7, D)
        projected = self.normed_pairs @ named["block.self_attn.in_proj_weight"].T + named["block.self_attn.in_proj_bias"]
        np.multiply(projected[:, :width], self.dtype.type(each**-0.5), out=self.table[:, :width])
        self.table[:, width : 2 * width] = projected[:, width : 2 * width]
        values = self.table[:, 2 * width :].reshape(-1, self.heads, each + 1)
        values[:, :, :each] = projected[:, 2 * width :].reshape(-1, self.heads, each)
        np.take(self.table, self.batch_of_tokens.rows, axis=0, out=self.looked_up, mode="clip")

    def _attend(self):
        """Causal attention: `attended` (D, B·T) = e-weighted values over the row sums of e."""
        each = self.head_width
        np.matmul(self.query, self.key.swapaxes(2, 3), out=self.exponentials)  # scores (B, heads, T, T)
        if self._scores_can_be_large():
            causal = np.where(self.visible > 0, self.exponentials, -np.inf)
            np.subtract(self.exponentials, causal.max(axis=-1, keepdims=True), out=self.exponentials)
            np.minimum(self.exponentials, self.dtype.type(0), out=self.exponentials)  # hidden scores only
        np.exp(self.exponentials, out=self.exponentials)
        self.exponentials *= self.visible
        sums_by_episode = self.sums.transpose(2, 0, 1, 3)  # (B, heads, 7, T)
        np.matmul(self.value.swapaxes(2, 3), self.exponentials.swapaxes(2, 3), out=sums_by_episode)
        self.one_over_total = 1 / self.sums[:, each:]  # (heads, 1, B, T)
        np.multiply(self.sums[:, :each], self.one_over_total, out=self._by_head(self.attended))

    def _by_head(self, features):
        """View (heads, 6, B, T) of an array (D, B·T)."""
        return features.reshape(self.heads, self.head_width, self.batch, self.time)

    def _scores_can_be_large(self):
        """Whether |q|·|k|, which no score exceeds, leaves the range in which exp is safe without subtracting a maximum."""
        entries = self.table[:, : 2 * self.width].reshape(-1, self.head_width)  # (T·7·2·heads, 6)
        squares = np.square(entries) @ self.ones[: self.head_width]
        query, key = np.sqrt(squares.reshape(-1, 2, self.heads).max(axis=0))  # longest of each head
        return not (query * key).max() <= LARGEST_SCORE

    def gradient(self, named, gradient):
        """Write the gradient of the last `scores` call's loss to the named arrays `gradient`."""
        batch, ones = self.batch_of_tokens, self.ones
        delta_stream, delta_branch = self.delta_stream, self.delta_branch
        delta_logits = np.subtract(self.probabilities, batch.targets, out=self.probabilities)
        delta_logits *= self.dtype.type(1 / delta_logits.shape[1])
        # head and final LayerNorm
        self.norm_head.unfold(delta_logits, named, gradient, ones)
        self.norm_head.backward(delta_logits, out=delta_stream)
        # MLP branch
        gradient["block.linear2.weight"][...] = (self.hidden @ delta_stream.T).T  # twice as fast as the other way round
        np.matmul(delta_stream, ones, out=gradient["block.linear2.bias"])
        np.matmul(named["block.linear2.weight"].T, delta_stream, out=self.delta_hidden)
        self.delta_hidden *= self.hidden > 0
        self.norm_mlp.unfold(self.delta_hidden, named, gradient, ones)
        self.norm_mlp.backward(self.delta_hidden, out=delta_branch)
        delta_stream += delta_branch
        # attention branch
        np.matmul(delta_stream, self.attended.T, out=gradient["block.self_attn.out_proj.weight"])
        np.matmul(delta_stream, ones, out=gradient["block.self_attn.out_proj.bias"])
        np.matmul(named["block.self_attn.out_proj.weight"].T, delta_stream, out=delta_branch)
        self._attend_backward(delta_branch)
        # embedding and positions: directly, and through the table
        by_position = delta_stream.reshape(self.width, self.batch, self.time)
        gradient["position.weight"][...] = 0
        gradient["position.weight"][: self.time] = by_position.sum(axis=1).T
        np.matmul(batch.onehot, delta_stream.T, out=gradient["embedding.weight"])
        self._look_up_backward(named, gradient)

    def _attend_backward(self, delta_attended):
        """From dL/d`attended` (D, B·T) to the gradients of the looked-up queries, keys and values."""
        each = self.head_width
        over_total, correction = self.delta_sums[:, :each], self.delta_sums[:, each]
        np.multiply(self._by_head(delta_attended), self.one_over_total, out=over_total)  # g
        np.multiply(over_total, self._by_head(self.attended), out=self._by_head(delta_attended))
        np.sum(self._by_head(delta_attended), axis=1, out=correction)
        np.negative(correction, out=correction)  # -g·z
        delta_by_episode = self.delta_sums.transpose(2, 0, 3, 1)  # (B, heads, T, 7)
        np.matmul(delta_by_episode, self.value.swapaxes(2, 3), out=self.delta_scores)  # (B, heads, T, T)
        self.delta_scores *= self.exponentials
        np.matmul(self.exponentials.swapaxes(2, 3), delta_by_episode[..., :each], out=self.delta_value)
        np.matmul(self.delta_scores, self.key, out=self.delta_query)
        np.matmul(self.delta_scores.swapaxes(2, 3), self.query, out=self.delta_key)

    def _look_up_backward(self, named, gradient):
        """Sum the rows' gradients into the table's, then through projection and first LayerNorm to the embeddings."""
        width = self.width
        rows = self.delta_looked_up.reshape(self.batch, self.time, 3 * width).swapaxes(0, 1)  # (T, B, 3D)
        delta_table = np.matmul(self.batch_of_tokens.onehot_by_position, rows).reshape(-1, 3 * width)  # (T·7, 3D)
        delta_table[:, :width] *= self.dtype.type(self.head_width**-0.5)
        np.matmul(delta_table.T, self.normed_pairs, out=gradient["block.self_attn.in_proj_weight"])
        np.sum(delta_table, axis=0, out=gradient["block.self_attn.in_proj_bias"])
        delta_normed = delta_table @ named["block.self_attn.in_proj_weight"]  # (T·7, D)
        np.sum(delta_normed, axis=0, out=gradient["block.norm1.bias"])
        np.sum(delta_normed * self.pairs, axis=0, out=gradient["block.norm1.weight"])
        delta_pairs = _normalise_rows_backward(delta_normed * named["block.norm1.weight"], self.pairs, self.pair_scale)
        by_pair = delta_pairs.reshape(self.time, len(VOCABULARY), width)
        gradient["position.weight"][: self.time] += by_pair.sum(axis=1)
        gradient["embedding.weight"] += by_pair.sum(axis=0)


class LayerNorm:
    """LayerNorm over the features of columns (D, N), its gain and shift folded into the linear map behind it."""

    def __init__(self, width, columns, dtype):
        self.normed = np.empty((width, columns), dtype)
        self.scratch = np.empty((width, columns), dtype)
        self.average = np.full(width, 1 / width, dtype)

    def normalise(self, features):
        """(x - mean) / √(variance + ε) of every column, kept for the way back."""
        np.subtract(features, self.average @ features, out=self.normed)
        np.multiply(self.normed, self.normed, out=self.scratch)
        self.scale = 1 / np.sqrt(self.average @ self.scratch + self.average.dtype.type(LAYER_NORM_EPSILON))  # (N,)
        self.normed *= self.scale
        return self.normed

    def fold(self, named, norm, linear):
        """Weight and bias (a column) of the linear map applied to the normalised columns."""
        self.norm_name, self.linear_name = norm, linear
        weight = named[f"{linear}.weight"]
        self.weight = weight * named[f"{norm}.weight"]
        return self.weight, (named[f"{linear}.bias"] + weight @ named[f"{norm}.bias"])[:, None]

    def unfold(self, delta, named, gradient, ones):
        """Gradients of linear map, gain and shift from the gradient `delta` of the linear map's result."""
        norm, linear = self.norm_name, self.linear_name
        folded, bias = delta @ self.normed.T, delta @ ones
        weight = named[f"{linear}.weight"]
        gradient[f"{linear}.bias"][...] = bias
        gradient[f"{linear}.weight"][...] = folded * named[f"{norm}.weight"] + np.outer(bias, named[f"{norm}.bias"])
        gradient[f"{norm}.weight"][...] = (folded * weight).sum(axis=0)
        gradient[f"{norm}.bias"][...] = bias @ weight

    def backward(self, delta, out):
        """Gradient of the columns before `normalise`, from the gradient `delta` of the linear map's result."""
        np.matmul(self.weight.T, delta, out=out)
        np.multiply(out, self.normed, out=self.scratch)
        along = self.average @ self.scratch
        np.multiply(self.normed, along, out=self.scratch)
        self.scratch += self.average @ out
        out -= self.scratch
        out *= self.scale


def _normalise_rows(rows):
    """Rows (R, D) with mean 0 and variance 1, and the factor (R, 1) that scaled each."""
    average = np.full((rows.shape[1], 1), 1 / rows.shape[1], rows.dtype)
    centred = rows - rows @ average
    scale = 1 / np.sqrt(np.square(centred) @ average + rows.dtype.type(LAYER_NORM_EPSILON))
    return centred * scale, scale


def _normalise_rows_backward(delta, normed, scale):
    """Gradient of the rows before `_normalise_rows`, from the gradient `delta` of its first result."""
    average = np.full((delta.shape[1], 1), 1 / delta.shape[1], delta.dtype)
    return (delta - delta @ average - normed * ((delta * normed) @ average)) * scale
