"""From a sentence to numbers: ids, embedding lookup, sinusoidal positions, and their sum."""

from __future__ import annotations

import re
from typing import NamedTuple, Sequence

import numpy as np
import param

from content.section import Section, Undefined

SENTENCE = "a journey of a thousand miles begins"
VOCABULARY = ("a", "journey", "of", "thousand", "miles", "begins", "with", "single", "step")
# One row a word of the vocabulary, five features each; illustrative numbers, not learnt.
EMBEDDING = np.array(
    [
        [0.2, -0.1, 0.4, 0.0, -0.2],  # a
        [0.5, 0.3, -0.2, 0.1, 0.4],  # journey
        [-0.1, 0.2, 0.0, -0.3, 0.1],  # of
        [0.4, -0.4, 0.2, 0.5, -0.1],  # thousand
        [0.1, 0.5, -0.3, 0.2, 0.3],  # miles
        [-0.3, 0.1, 0.5, -0.2, 0.2],  # begins
        [0.0, -0.2, 0.1, 0.3, -0.4],  # with
        [0.3, 0.0, -0.1, 0.4, 0.2],  # single
        [-0.2, 0.4, 0.3, -0.1, 0.5],  # step
    ]
)  # (9, 5)


def tokenize(sentence: str, vocabulary: Sequence[str] = VOCABULARY) -> np.ndarray:
    """Ids of the words of a sentence, (T,): lower case, punctuation dropped, split at spaces.

    Raises `Undefined` when a word is not in the vocabulary, or when there is no word at all.

    >>> tokenize("A journey of a thousand miles begins.").tolist()
    [0, 1, 2, 0, 3, 4, 5]
    """
    words = re.sub(r"[^\w\s]", "", sentence.lower()).split()
    if not words:
        raise Undefined("no_word", "the sentence has no word")
    for word in words:
        if word not in vocabulary:
            raise Undefined("unknown_word", f"{word!r} is not in the vocabulary: {', '.join(vocabulary)}")
    return np.array([vocabulary.index(word) for word in words])  # (T,)


def look_up(ids: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The table's row for every id: `ids` (T,), `table` (K, D) -> (T, D). Nothing is multiplied.

    Raises IndexError when an id is not a row of the table.

    >>> look_up(np.array([1, 0, 1]), np.array([[5.0, 6.0], [7.0, 8.0]])).tolist()
    [[7.0, 8.0], [5.0, 6.0], [7.0, 8.0]]
    """
    return table[ids]


def sinusoidal(length: int, width: int, base: float = 10000.0) -> np.ndarray:
    """Sinusoidal position codes, (length, width): sine in even features, cosine in odd ones.

    Features 2i and 2i+1 share the frequency base^(−2i/width), in radians a position;
    an odd width leaves the last feature a sine without its cosine.
    Source: Vaswani et al., Attention Is All You Need (2017), section 3.5.

    >>> sinusoidal(4, 5).round(3)[3].tolist()
    [0.141, -0.99, 0.075, 0.997, 0.002]
    """
    position = np.arange(length)[:, None]  # (T, 1)
    feature = np.arange(width)  # (D,)
    frequency = base ** (-2 * (feature // 2) / width)  # (D,)
    angle = position * frequency  # (T, D) radians
    return np.where(feature % 2 == 0, np.sin(angle), np.cos(angle))


def entry(row: int, column: int) -> param.Number:
    doc = f"Embedding of {VOCABULARY[row]!r}, feature {column}."
    return param.Number(EMBEDDING[row, column].item(), bounds=(-1.0, 1.0), step=0.05, doc=doc)


class Controls(param.Parameterized):
    """A sentence of the nine words, how its vectors are made, and all 45 entries of the embedding table, e<row><column>."""

    # Letters of any script, so that an unknown word reaches `tokenize` and its explanation.
    sentence = param.String(SENTENCE, regex=r"[\w ,.!?;:'-]{0,64}", doc="Words of the vocabulary.")
    word = param.Selector(default=0, objects=list(range(len(VOCABULARY))), doc="Word whose row of the table is followed.")
    scaled = param.Selector(default=0, objects=[0, 1], doc="Multiply the embeddings by √D before adding, as the paper does.")
    base = param.Number(10000.0, bounds=(1.0, 20000.0), step=1.0, doc="Base of the position frequencies.")
    locals().update({f"e{k}{j}": entry(k, j) for k, j in np.ndindex(EMBEDDING.shape)})


class Trace(NamedTuple):
    ids: np.ndarray  # (T,)
    found: np.ndarray  # (count,) positions where the followed word stands
    table: np.ndarray  # (9, 5)
    embedding: np.ndarray  # (T, 5) the chosen rows of the table
    positions: np.ndarray  # (T, 5)
    inputs: np.ndarray  # (T, 5) their sum, H⁰


def compute(*, sentence, word, scaled, base, **entries) -> Trace:
    """Ids, vectors and positions of a sentence; T is its number of words. `word` only chooses what is followed."""
    ids = tokenize(sentence)
    table = np.stack([entries[f"e{k}{j}"] for k, j in np.ndindex(EMBEDDING.shape)]).reshape(EMBEDDING.shape)
    embedding = look_up(ids, table)  # (T, D)
    length, width = embedding.shape
    positions = sinusoidal(length, width, base)  # (T, D)
    inputs = (np.sqrt(width) * embedding if scaled else embedding) + positions
    return Trace(ids, np.flatnonzero(ids == word), table, embedding, positions, inputs)


def facts(trace: Trace) -> dict[str, float]:
    """Numbers the prose quotes by name; any array element can be quoted as `inputs[0,2]`."""
    length, width = trace.inputs.shape
    return {
        "num_tokens": length,
        "num_types": len(set(trace.ids.tolist())),
        "vocabulary_size": len(trace.table),
        "width": width,
    }


SECTION = Section("tokens", Controls, compute, facts)
