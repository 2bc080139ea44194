"""The measurement of layers: made once on a worker, one piece at a time, kept, and plain about what goes wrong."""

import asyncio
import json

import pytest

from app import steps, training
from app.training import meter
from app.training.cluster import Failed, Lost
from content.experiments import layer_times
from tests.training.fake import Engine


def ask(start):
    head, _ = steps.answer(json.dumps({"id": 1, "kind": "measure", "page": "connections", "start": start}))
    return json.loads(head)


class Bench(Engine):
    """An engine whose workers answer at once."""

    at_work = most = calls = 0
    problem = None

    async def compute(self, function, *arguments):
        self.calls += 1
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await asyncio.sleep(0)
        self.at_work -= 1
        if self.problem:
            raise self.problem
        return [0.001, 0.002, 0.003] if arguments else {"numpy": "2"}


@pytest.fixture
def bench(monkeypatch):
    bench = Bench()
    monkeypatch.setattr(training.the_desk(), "engine", bench)
    monkeypatch.setattr(meter, "RETRY", 0.0)
    return bench


def until_ended():
    async def whole():
        assert ask(True)["state"] == ask(True)["state"] == "running"
        for _ in range(2000):
            await asyncio.sleep(0.005)
            snapshot = ask(False)
            if snapshot["state"] != "running":
                return snapshot

    return asyncio.run(whole())


def test_all_pieces_are_measured_one_at_a_time_and_kept(bench, data):
    assert ask(False)["state"] == "absent"
    snapshot = until_ended()
    assert snapshot["state"] == "finished"
    assert snapshot["done"] == snapshot["total"] == bench.calls - 1
    assert snapshot["milliseconds"]["attention"][0] == [64, 1.0, 2.0, 2.8]
    assert bench.most == 1
    training.stop()
    assert ask(True)["milliseconds"] == snapshot["milliseconds"]  # from the file, without a loop
    assert training.the_meter().task is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"made": {}, "seconds": {"attention": []}}', "\x00"])
def test_a_broken_file_is_no_measurement(data, content, caplog):
    data.mkdir()
    (data / "layer_times.json").write_text(content)
    assert ask(False)["state"] == "absent"
    assert [record.exc_info for record in caplog.records] == [None]


@pytest.mark.parametrize(
    ("problem", "message"),
    [(Failed("it failed on the server (MemoryError)"),) * 2, (Lost("reset"), "the training cluster is lost")],
)
def test_what_goes_wrong_is_said_and_can_be_tried_again(bench, monkeypatch, problem, message):
    monkeypatch.setattr(training.the_desk(), "lose", lambda problem: None)
    bench.problem = problem
    snapshot = until_ended()
    assert (snapshot["state"], snapshot["message"]) == ("failed", str(message))
    bench.problem = None
    assert until_ended()["state"] == "finished"


def test_a_message_must_say_whether_to_start():
    assert "error" in ask(1)
    message = {"id": 1, "kind": "measure", "page": "masks", "start": True}
    assert "error" in json.loads(steps.answer(json.dumps(message))[0])


@pytest.mark.parametrize("kind", layer_times.KINDS)
def test_layers_can_be_timed_with_numpy_alone(kind, monkeypatch):
    monkeypatch.setattr(layer_times, "find_spec", lambda name: None)
    monkeypatch.setattr(layer_times, "SECONDS", 0.0)
    times = layer_times.measure(kind, 64)
    assert len(times) == layer_times.REPEATS[0]
    assert min(times) > 0
