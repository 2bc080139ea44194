"""Cue recall: which of three small models carries one token across a delay of random moves?

An episode reads `BOS cue move … move RECALL cue EOS`. Only `model` (and a PyTorch engine, when asked for) imports torch.
"""
