"""Cue recall: the source's table, torch's numbers for the reader's episode, and what must hold at every setting."""

import doctest
import json
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.__main__ import run as command_line
from content.experiments.cue_recall import results
from content.experiments.cue_recall.configuration import DELAYS, MODELS, SEEDS, Configuration
from content.experiments.cue_recall.data import recall_index
from content.experiments.cue_recall.runs import run_path
from content.explain import Explainer
from content.section import arrays, control_parameters
from content.sections.cue_recall import compute as module
from content.sections.cue_recall.compute import CUE, SECTION, episodes, nearest_stored, read, spread

GOLDEN = tomllib.loads((Path(__file__).parents[1] / "golden" / "cue_recall.toml").read_text(encoding="utf-8"))
PARAMETERS = control_parameters(SECTION.controls)


def drawn(name):
    parameter = PARAMETERS[name]
    if hasattr(parameter, "objects"):
        return st.sampled_from(parameter.objects)
    return st.from_regex(parameter.regex, fullmatch=True) if hasattr(parameter, "regex") else st.integers(*parameter.bounds)


states = st.fixed_dictionaries({name: drawn(name) for name in PARAMETERS})
unhurried = settings(deadline=None, max_examples=60)


@pytest.fixture(autouse=True)
def no_other_runs(tmp_path, monkeypatch):
    """Only the stored runs exist."""
    monkeypatch.setenv("BOOK_DATA", str(tmp_path))


def at(**changes):
    return SECTION.trace(SECTION.defaults() | changes)


def facts_at(**changes):
    return SECTION.facts(at(**changes))


# The source's numbers


def test_the_cited_table_is_the_sources():
    np.testing.assert_array_equal(at().source_mean, GOLDEN["table"]["mean"])
    np.testing.assert_array_equal(at().source_sd, GOLDEN["table"]["sd"])


def test_guessing_and_the_sizes_of_the_models_are_the_sources():
    facts, guessing = facts_at(), GOLDEN["guessing"]
    assert facts["uniform_accuracy"] == guessing["accuracy"]
    assert round(facts["uniform_cross_entropy"], guessing["decimals"]) == guessing["cross_entropy"]
    assert {model: facts[f"parameters_{model}"] for model in MODELS} == GOLDEN["parameters"]


def test_our_table_reproduces_the_sources_picture():
    mean, near = at().table_mean, GOLDEN["near"]
    assert (mean[:, DELAYS.index(8)] > near["solved"]).all()
    assert (mean[MODELS.index("transformer")] == 1).all()
    assert abs(mean[MODELS.index("rnn"), DELAYS.index(32)] - GOLDEN["guessing"]["accuracy"]) < near["chance"]
    assert mean[0, 1] < mean[1, 1] < mean[2, 1]


def test_our_table_is_that_of_the_stored_runs():
    cells, trace = results.summarise(results.load()), at()
    for i, model in enumerate(MODELS):
        for j, delay in enumerate(DELAYS):
            assert (trace.table_mean[i, j], trace.table_sd[i, j]) == cells[model, delay][:2]
            assert at(delay=delay).seed_accuracy[i].mean() == pytest.approx(trace.table_mean[i, j])


# The reader's episode


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("delay", DELAYS)
def test_what_the_page_shows_equals_torch(model, delay):
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    trace = at(model=model, delay=delay, cue=2, fillers="0132")
    run = nearest_stored(Configuration(model, delay))
    network = build(run.configuration, run.weights).double()
    tokens = torch.as_tensor(episodes("0132", delay)[:, :-1].astype(int))
    with torch.no_grad():
        answers = network(tokens)[:, recall_index(delay)].softmax(-1).numpy()
        np.testing.assert_allclose(trace.answers, answers, atol=1e-12)
        if model == "transformer":
            weights = network.attention_weights(tokens)[2].numpy()
            np.testing.assert_allclose(np.stack([trace.attention_0, trace.attention_1]), weights, atol=1e-12)
        else:
            hidden = network.cell(network.embedding(tokens))[0].numpy()
            np.testing.assert_allclose(trace.hidden, hidden[2], atol=1e-12)
            np.testing.assert_allclose(trace.cue_spread, spread(hidden), atol=1e-12)


@pytest.mark.parametrize("model", ["rnn", "gru"])
def test_the_gradient_of_the_answer_equals_autograd(model):
    torch = pytest.importorskip("torch")
    from content.experiments.cue_recall.model import build

    trace = at(model=model, delay=8, cue=3)
    run = nearest_stored(Configuration(model, 8))
    network = build(run.configuration, run.weights).double()
    embedded = network.embedding(torch.as_tensor(trace.tokens.astype(int)))[None]
    states, state = [], None
    for step in range(recall_index(8) + 1):
        _, state = network.cell(embedded[:, step : step + 1], state)
        state.retain_grad()
        states.append(state)
    torch.nn.functional.cross_entropy(network.head(states[-1][0]), torch.tensor([3])).backward()
    norms = [s.grad.norm().item() for s in states]
    np.testing.assert_allclose(trace.gradient_norm[: len(norms)], norms, rtol=1e-10)
    assert (trace.gradient_norm[len(norms) :] == 0).all()


def test_the_answer_follows_the_cue_where_the_model_has_learnt_it():
    for cue in range(4):
        assert at(cue=cue).prediction.argmax() == cue
    assert facts_at()["followed"] == 4
    assert facts_at(model="rnn", delay=32)["followed"] == 1, "an answer that never changes is right for one cue"


def test_only_the_cue_differs_between_the_four_episodes():
    four = episodes("0123", 6)
    different = (four != four[0]).any(axis=0)
    assert np.flatnonzero(different).tolist() == [CUE, 9]  # the cue, and the cue again after RECALL
    assert four[0, 2:8].tolist() == [0, 1, 2, 3, 0, 1]


def test_moves_are_cut_to_the_delay_of_the_run():
    assert at(delay=8, fillers="0" * 8 + "3" * 20).tokens.tolist() == at(delay=8, fillers="0").tokens.tolist()


def test_recurrent_models_have_no_attention_and_the_transformer_hands_on_no_state():
    assert not at(model="rnn").attention_0.any()
    assert not at(model="gru").answer_attention.any()
    assert not at().gradient_norm.any()


def test_nothing_of_the_cue_is_in_the_states_before_it():
    for model in MODELS:
        assert at(model=model).cue_spread[0] == 0


# Runs


def test_a_run_that_nobody_trained_is_replaced_by_the_nearest_stored_one():
    facts = facts_at(model="gru", delay=25, seed=6250)
    assert (facts["own_run"], facts["run_delay"], facts["run_seed"]) == (0, 32, 6208)
    assert at(model="gru", delay=25, seed=6250).tokens.shape == (36,)
    assert facts_at(epochs=59)["own_run"] == 0


def test_a_run_that_was_trained_meanwhile_is_shown():
    from content.experiments.cue_recall import runs
    from content.experiments.cue_recall.checkpoint import start
    from content.experiments.cue_recall.train import advance

    configuration = Configuration("rnn", 3, 6206, 1)
    assert facts_at(model="rnn", delay=3, epochs=1)["own_run"] == 0
    checkpoint = start(configuration)
    while not checkpoint.finished:
        checkpoint, _ = advance(checkpoint, configuration.total_steps)
    runs.write(configuration, checkpoint, results.versions())
    assert run_path(configuration).exists()
    trace = at(model="rnn", delay=3, epochs=1)
    assert SECTION.facts(trace)["own_run"] == 1
    assert trace.tokens.shape == (7,)
    np.testing.assert_array_equal(trace.test, checkpoint.test[:, 0])


def test_the_command_line_prints_what_compute_gives():
    printed = json.loads(command_line(["cue_recall", "model=rnn", "delay=8", "clip=1", "learning_rate=0.003"]))
    np.testing.assert_array_equal(printed["trace"]["answers"], at(model="rnn", delay=8).answers)
    assert printed["facts"]["own_run"] == 1


# Every setting


@unhurried
@given(states)
def test_probabilities_and_attention_are_shares_at_every_setting(values):
    trace = SECTION.trace(values)
    for name, array in arrays(trace).items():
        assert np.isfinite(array).all(), name
    np.testing.assert_allclose(trace.answers.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(trace.prediction, trace.answers[values["cue"]])
    assert trace.hidden.shape[0] == trace.cue_spread.size == trace.gradient_norm.size == trace.tokens.size
    assert trace.tokens[CUE] == values["cue"]
    if values["model"] == "transformer":
        for weights in (trace.attention_0, trace.attention_1):
            np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
            assert not np.triu(weights, 1).any()


def test_weights_are_given_and_the_explanation_says_so_without_failing():
    explainer = Explainer(SECTION, SECTION.defaults())
    for name, array in arrays(at()).items():
        top = explainer.top(name, (0,) * array.ndim)
        assert explainer.line(top)


def test_a_new_state_is_computed_in_a_few_milliseconds():
    times = []
    for model in MODELS:
        for _ in range(5):
            read.cache_clear()
            start = time.perf_counter()
            at(model=model, delay=32)
            times.append(time.perf_counter() - start)
    assert np.median(times) < 0.02  # about 2 ms; a busy machine takes longer


def test_examples_in_the_docstrings_run():
    assert doctest.testmod(module).failed == 0


def test_every_seed_and_delay_of_the_stored_table_is_shown_as_it_is():
    for model in MODELS:
        for seed in SEEDS:
            assert facts_at(model=model, seed=seed)["own_run"] == 1
