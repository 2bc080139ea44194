"""Tokens: the source's tables, torch's numbers, and what must hold for every sentence and table."""

import doctest
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.controls import LONGEST, check
from content.explain import Explainer
from content.section import Undefined, arrays, control_parameters
from content.sections.tokens import compute as module
from content.sections.tokens.compute import EMBEDDING, SECTION, VOCABULARY, look_up, sinusoidal, tokenize

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "tokens.toml").read_text())
PARAMETERS = control_parameters(SECTION.controls)

numbers = {name: st.floats(*p.bounds) for name, p in PARAMETERS.items() if hasattr(p, "bounds")}
sentences = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=40).map(" ".join).filter(lambda s: len(s) <= LONGEST)
choices = {"sentence": sentences, "word": st.sampled_from(range(9)), "scaled": st.sampled_from([0, 1])}
states = st.fixed_dictionaries(numbers | choices)


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def printed(array):
    """Numbers rounded to the significant digits that the source prints."""
    return np.vectorize(lambda x: float(f"{x:.{GOLDEN['digits']}g}"))(array)


def test_ids_are_those_of_table_7():
    assert at().ids.tolist() == GOLDEN["table_7"]["ids"]
    assert [VOCABULARY[id] for id in at().ids] == GOLDEN["table_7"]["tokens"]


def test_embedding_table_is_table_8():
    assert list(VOCABULARY) == GOLDEN["table_8"]["tokens"]
    np.testing.assert_array_equal(at().table, GOLDEN["table_8"]["rows"])


@pytest.mark.parametrize("name", GOLDEN["table_9"])
def test_shape_is_that_of_table_9(name):
    assert list(getattr(at(), name).shape) == GOLDEN["table_9"][name]


@pytest.mark.parametrize("name", GOLDEN["rows"])
def test_worked_rows_are_those_of_the_source(name):
    for position, row in GOLDEN["rows"][name].items():
        np.testing.assert_array_equal(printed(getattr(at(), name)[int(position)]), row)


def test_the_two_a_rows_are_equal_before_the_sum_and_differ_after():
    trace = at()
    np.testing.assert_array_equal(trace.embedding[0], trace.embedding[3])
    assert (trace.inputs[0] != trace.inputs[3]).all()
    np.testing.assert_allclose(trace.inputs[3] - trace.inputs[0], trace.positions[3] - trace.positions[0], atol=1e-15)


def test_doctests_run():
    assert doctest.testmod(module).failed == 0


def test_capitals_and_punctuation_do_not_matter():
    assert tokenize("A journey, of a thousand miles: begins!").tolist() == GOLDEN["table_7"]["ids"]


@pytest.mark.parametrize(
    "sentence, reason",
    [
        ("", "no_word"),
        (" ,.!", "no_word"),
        ("a journey of ten miles", "unknown_word"),
        ("путь", "unknown_word"),
        ("a_b", "unknown_word"),
    ],
)
def test_a_sentence_the_vocabulary_cannot_hold_is_undefined_and_says_why(sentence, reason):
    values, problems = check(SECTION, {"sentence": sentence})
    assert not problems
    with pytest.raises(Undefined) as undefined:
        SECTION.trace(values)
    assert undefined.value.reason == reason


@pytest.mark.parametrize("sentence", ["a" * 65, 'a" + b', "a\\", "a\nb", "{{e00}}", "<b>a</b>", "\ud800"])
def test_text_that_could_break_out_of_the_copied_code_is_refused(sentence):
    assert [problem.kind for problem in check(SECTION, {"sentence": sentence})[1]] in (["choice"], ["type"])


def test_every_sentence_fits_into_an_address():
    values, problems = check(SECTION, {"sentence": "a journey of a thousand miles begins with a single step"})
    assert not problems
    assert len(SECTION.trace(values).ids) == 11


@given(states)
def test_every_array_is_finite(values):
    trace = SECTION.trace(values)
    assert all(np.isfinite(array).all() for array in arrays(trace).values())
    assert all(np.isfinite(fact) for fact in SECTION.facts(trace).values())


@given(st.text(max_size=LONGEST))
def test_any_text_is_computed_refused_or_undefined(sentence):
    values, problems = check(SECTION, {"sentence": sentence})
    try:
        trace = SECTION.trace(values)
    except Undefined as undefined:
        assert undefined.reason in ("no_word", "unknown_word")
    else:
        assert np.isfinite(trace.inputs).all()


@given(states)
def test_equal_words_have_equal_embeddings_wherever_they_stand(values):
    trace = SECTION.trace(values)
    for id in set(trace.ids.tolist()):
        rows = trace.embedding[trace.ids == id]
        assert (rows == rows[0]).all()


@given(states, st.integers(0, 8), st.integers(0, 4))
def test_an_entry_of_the_table_moves_only_the_positions_of_its_word(values, word, feature):
    before, after = SECTION.trace(values | {f"e{word}{feature}": -1.0}), SECTION.trace(values | {f"e{word}{feature}": 1.0})
    moved = before.inputs != after.inputs
    assert (moved == ((before.ids == word)[:, None] & (np.arange(5) == feature))).all()


@given(states, st.permutations(list(range(9))))
def test_the_order_of_the_vocabulary_changes_no_vector(values, order):
    trace = SECTION.trace(values)
    shuffled = [VOCABULARY[k] for k in order]
    np.testing.assert_array_equal(look_up(tokenize(values["sentence"], shuffled), trace.table[order]), trace.embedding)


@given(states, st.integers(0, 8))
def test_the_followed_word_changes_no_number_and_is_found_where_it_stands(values, word):
    before, after = SECTION.trace(values), SECTION.trace(values | {"word": word})
    assert all(np.array_equal(a, b) for name, a, b in zip(before._fields, before, after) if name != "found")
    assert (after.found == np.flatnonzero(after.ids == word)).all()


@given(st.integers(1, 40), st.integers(1, 17), st.floats(1.0, 1e5))
def test_sine_and_cosine_of_a_pair_lie_on_the_unit_circle(length, width, base):
    codes = sinusoidal(length, width, base)
    paired = codes[:, : width // 2 * 2].reshape(length, width // 2, 2)
    np.testing.assert_allclose((paired**2).sum(axis=-1), 1.0, atol=1e-12)


@given(st.integers(1, 40), st.integers(1, 17))
def test_an_odd_width_is_the_next_frequencies_without_the_last_cosine(length, width):
    codes = sinusoidal(length, width)
    assert codes.shape == (length, width)
    t = np.arange(length)
    for j in range(width):
        wave = np.cos if j % 2 else np.sin
        np.testing.assert_allclose(codes[:, j], wave(t / 10000.0 ** (2 * (j // 2) / width)), atol=1e-12)


def test_look_up_multiplies_nothing():
    one_hot = np.eye(9)[at().ids]
    np.testing.assert_array_equal(one_hot @ EMBEDDING, at().embedding)


@pytest.mark.parametrize("changes", [{}, {"sentence": "step", "base": 1.0}, {"scaled": 1, "e00": -0.0}])
def test_every_cell_explains_itself(changes):
    values = SECTION.defaults() | changes
    explainer = Explainer(SECTION, values)
    for name, array in arrays(SECTION.trace(values)).items():
        for index in np.ndindex(array.shape):
            expression = explainer.top(name, index)
            assert explainer.evaluate(expression) == pytest.approx(array[index], abs=1e-12)
            assert explainer.line(expression)


@settings(deadline=None, max_examples=50)  # the first example pays for loading torch
@given(states)
def test_the_sum_agrees_with_torch(values):
    torch = pytest.importorskip("torch")
    trace = SECTION.trace(values)
    embedding = torch.nn.functional.embedding(torch.from_numpy(trace.ids), torch.from_numpy(trace.table))
    t = torch.arange(len(trace.ids), dtype=torch.float64)[:, None]
    positions = torch.empty_like(embedding)
    even = torch.arange(0, 5, 2, dtype=torch.float64)
    rates = torch.pow(torch.tensor(values["base"], dtype=torch.float64), -even / 5)
    positions[:, 0::2] = torch.sin(t * rates)
    positions[:, 1::2] = torch.cos(t * rates[:2])
    inputs = embedding * (5**0.5 if values["scaled"] else 1.0) + positions
    np.testing.assert_allclose(trace.embedding, embedding, rtol=0, atol=0)
    np.testing.assert_allclose(trace.positions, positions, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.inputs, inputs, rtol=0, atol=1e-12)
