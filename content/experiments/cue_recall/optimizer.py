"""Clipping and Adam in one pass over flat weight vectors, S runs at once."""

import numpy as np

BETAS = (0.9, 0.999)
EPSILON = 1e-8
CLIP_EPSILON = 1e-6  # added to the norm, as torch.nn.utils.clip_grad_norm_ does


def clip_and_step(weights, gradient, first, second, step, learning_rate, clip):
    """One update in place, as PyTorch's clip_grad_norm_ and Adam do it.

    weights, gradient, and Adam's two running means `first` and `second`: (S, P) each; gradient is used up. step counts from 1.
    Returns the gradient norms before clipping, (S,). Source: Kingma & Ba 2015, algorithm 1.
    """
    norms = np.sqrt(np.einsum("sp,sp->s", gradient, gradient))
    gradient *= np.minimum(clip / (norms + CLIP_EPSILON), 1).astype(gradient.dtype)[:, None]
    first += (gradient - first) * gradient.dtype.type(1 - BETAS[0])
    gradient *= gradient
    second += (gradient - second) * gradient.dtype.type(1 - BETAS[1])
    # both means start at 0; these factors undo the bias
    size = np.sqrt(second, out=gradient)
    size *= gradient.dtype.type((1 - BETAS[1] ** step) ** -0.5)
    size += gradient.dtype.type(EPSILON)
    np.divide(first, size, out=size)
    size *= gradient.dtype.type(learning_rate / (1 - BETAS[0] ** step))
    weights -= size
    return norms
