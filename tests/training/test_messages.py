"""What pages send to the training desk: the right shape, or a refusal in one line."""

import asyncio
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import metrics, steps, training
from content import toc
from content.experiments.cue_recall.checkpoint import CURVES
from tests.training.fake import Engine
from tests.training.web import PAGE, ask, wish

READER = "reader-0001"
KEY = "0123456789abcdef"


@pytest.fixture(autouse=True)
def desk(monkeypatch):
    """A desk whose engine only counts."""
    desk = training.the_desk()
    monkeypatch.setattr(desk, "engine", Engine())
    return desk


def in_a_loop(*calls):
    """Answers of calls made on an event loop, as the server makes them."""

    async def whole():
        return [call() for call in calls]

    return asyncio.run(whole())


def test_a_wish_is_answered_at_once_with_a_whole_snapshot():
    (snapshot,) = in_a_loop(lambda: wish(READER, {"model": "gru", "delay": 3, "epochs": 2, "seed": 6250}))
    assert snapshot | {"version": 0, "run": ""} == {
        "id": 1, "run": "", "version": 0, "model": "gru", "delay": 3, "seed": 6250, "epochs": 2, "state": "queued", "epoch": 0,
        "position": 1, "eta": None, "message": "waiting: the training processes are being started", "watchers": 1,
        "curves": {name: [] for name in CURVES}, "test": None, "seconds": 0.0,
    }  # fmt: skip


def test_the_whole_table_at_its_defaults_comes_from_the_store():
    (answer,) = in_a_loop(lambda: wish(READER, {"epochs": 60, "learning_rate": 0.003, "clip": 1}, table=True))
    assert len(answer["runs"]) == 27
    assert {snapshot["state"] for snapshot in answer["runs"]} == {"finished"}
    assert {(s["model"], s["delay"]): s["test"]["accuracy"] for s in answer["runs"]}["transformer", 32] == 1.0


def test_a_table_at_other_settings_is_trained_whatever_model_is_chosen():
    first, second = in_a_loop(
        lambda: wish(READER, {"epochs": 5, "model": "rnn", "delay": 3}, table=True),
        lambda: wish(READER, {"epochs": 5, "model": "gru", "delay": 9}, table=True),
    )
    assert [s["run"] for s in first["runs"]] == [s["run"] for s in second["runs"]]
    assert {s["epochs"] for s in first["runs"]} == {5}


def test_pausing_and_cancelling_answer_with_the_run():
    async def whole():
        key = wish(READER, {"epochs": 2})["run"]
        return [ask(kind, READER, run=key)["state"] for kind in ("pause", "cancel", "pause")]

    assert asyncio.run(whole()) == ["paused", "cancelled", "paused"]


def test_gauges_of_waiting_and_running_runs_stand_in_the_metrics():
    in_a_loop(lambda: wish(READER, {"epochs": 2}))
    assert b"book_training_waiting 1.0" in metrics.text()
    assert b"book_training_running 0.0" in metrics.text()


BAD = {
    "no reader": {"kind": "watch", "reader": None, "runs": {}},
    "a short reader": {"kind": "watch", "reader": "a", "runs": {}},
    "a reader with a line break": {"kind": "watch", "reader": "reader-0001\n", "runs": {}},
    "a long reader": {"kind": "watch", "reader": "a" * 65, "runs": {}},
    "runs that are a list": {"kind": "watch", "runs": [KEY]},
    "no runs": {"kind": "watch"},
    "too many runs": {"kind": "watch", "runs": {f"{n:016x}": 0 for n in range(65)}},
    "a key that is none": {"kind": "watch", "runs": {"../../etc/passwd": 0}},
    "a version that is a text": {"kind": "watch", "runs": {KEY: "1"}},
    "a version that is true": {"kind": "watch", "runs": {KEY: True}},
    "no run to cancel": {"kind": "cancel"},
    "a run that is none": {"kind": "pause", "run": "x"},
    "a table that is 1": {"kind": "cancel", "run": KEY, "table": 1},
    "another page": {"kind": "watch", "page": "three_tokens", "runs": {}},
    "no values": {"kind": "train"},
    "values that lack some": {"kind": "train", "values": {"model": "gru"}},
    "a delay out of range": {"kind": "train", "values": toc.load(PAGE).defaults() | {"delay": 65}},
    "a control that is none": {"kind": "train", "values": toc.load(PAGE).defaults() | {"train_size": 16384}},
}


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_message_is_refused_in_one_line(what):
    message = {"id": 1, "page": PAGE, "reader": READER, **BAD[what]}
    (text,) = in_a_loop(lambda: steps.answer(json.dumps(message))[0])
    head = json.loads(text)
    assert set(head) == {"id", "error"}
    assert "\n" not in head["error"]
    assert not training.the_desk().jobs


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20) | st.just(KEY) | st.just(READER),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just(KEY), inner, max_size=3),
    max_leaves=6,
)


@given(
    kind=st.sampled_from(("watch", "cancel", "pause", "train")),
    rest=st.dictionaries(st.sampled_from(("reader", "run", "runs", "table", "values", *string.ascii_lowercase)), JSON),
)
def test_whatever_is_sent_gets_one_answer(kind, rest):
    (text,) = in_a_loop(lambda: steps.answer(json.dumps({"id": 1, "kind": kind, "page": PAGE, **rest}))[0])
    assert json.loads(text)["id"] == 1


def test_unknown_runs_are_said_to_be_unknown():
    (answer,) = in_a_loop(lambda: ask("watch", READER, runs={KEY: 0}))
    assert answer == {"id": 1, "runs": [{"run": KEY, "state": "unknown"}]}
