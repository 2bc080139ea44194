"""A run's configuration: what is allowed, what is said about the rest, and its key."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.experiments.cue_recall.configuration import (
    BATCHES,
    BOUNDS,
    DELAYS,
    MODELS,
    SEEDS,
    Configuration,
    table,
)

configurations = st.builds(
    Configuration,
    model=st.sampled_from(MODELS),
    delay=st.integers(*BOUNDS["delay"]),
    seed=st.integers(*BOUNDS["seed"]),
    epochs=st.integers(*BOUNDS["epochs"]),
    batch=st.sampled_from(BATCHES),
    learning_rate=st.floats(*BOUNDS["learning_rate"]),
    clip=st.floats(*BOUNDS["clip"]),
)


@settings(deadline=None)
@given(configurations)
def test_dict_and_back_is_the_same_run_with_the_same_key(configuration):
    again = Configuration.from_dict(configuration.to_dict())
    assert again == configuration
    assert again.key() == configuration.key()


def test_whole_and_decimal_spelling_of_a_number_is_one_run():
    assert Configuration(clip=1).key() == Configuration(clip=1.0).key()
    assert Configuration.from_dict({"delay": 8.0}).key() == Configuration(delay=8).key()


def test_every_field_changes_the_key():
    other = {
        "model": "rnn", "delay": 9, "seed": 1, "epochs": 2, "batch": 64, "learning_rate": 0.01, "clip": 2.0,
        "train_size": 256, "validation_size": 64, "test_size": 64, "data_seed": 7,
    }  # fmt: skip
    keys = {Configuration(**{name: value}).key() for name, value in other.items()}
    assert len(keys | {Configuration().key()}) == len(Configuration().to_dict()) + 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"model": "lstm"}, "choose one of rnn, gru, transformer"),
        ({"model": ["rnn"]}, "choose one of rnn, gru, transformer"),
        ({"delay": 0}, "choose a whole number from 1 to 64"),
        ({"delay": 65}, "delay: 65 is not allowed"),
        ({"delay": 8.5}, "choose a whole number"),
        ({"delay": True}, "choose a whole number"),
        ({"delay": "8"}, "choose a whole number"),
        ({"seed": -1}, "seed: -1"),
        ({"epochs": 501}, "from 1 to 500"),
        ({"batch": 100}, "choose one of 32, 64, 128, 256, 512"),
        ({"batch": None}, "choose one of"),
        ({"learning_rate": float("nan")}, "choose a number from 1e-05 to 1"),
        ({"learning_rate": float("inf")}, "learning_rate: inf"),
        ({"clip": 0}, "clip: 0"),
        ({"train_size": 1000}, "choose a multiple of the batch, 128"),
        ({"dropout": 0.1}, "'dropout' is no field"),
        ([("model", "rnn")], "a configuration is a mapping"),
    ],
)
def test_bad_value_is_refused_in_one_line_that_says_what_is_allowed(values, said):
    with pytest.raises(ValueError) as error:
        Configuration.from_dict(values)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_table_has_the_27_runs_of_the_golden_block():
    runs = table()
    assert len(set(runs)) == 27
    assert {(run.model, run.delay, run.seed) for run in runs} == {(m, d, s) for m in MODELS for d in DELAYS for s in SEEDS}
