"""The desk with an engine that only counts: sharing, fairness, bounds, who still watches, and what is said when things break."""

import asyncio
import errno
import functools
import os
from collections import Counter

import pytest

from app.training import desk as desk_module
from app.training.cluster import Failed, Lost
from app.training.desk import ABSENT, FORGOTTEN, MOST_RUNS, RETRY, Desk
from content.experiments.cue_recall import runs
from content.experiments.cue_recall.configuration import Configuration, table
from tests.training.fake import EPOCHS, Clock, Engine, run, settle


def on_a_loop(test):
    """Runs a coroutine test on a loop of its own and closes its desk."""

    @functools.wraps(test)
    def whole(*arguments, **named):
        asyncio.run(asyncio.wait_for(test(*arguments, **named), 30))

    return whole


async def open_desk(engine=None):
    """A desk, its engine and its clock."""
    engine, clock = engine or Engine(), Clock()
    desk = engine.desk = Desk(engine, clock)
    return desk, engine, clock


def reader(number):
    return f"reader-{number:04}"


def states(answer):
    return {snapshot["run"]: snapshot["state"] for snapshot in answer["runs"]}


@on_a_loop
async def test_a_run_goes_from_queued_to_finished_and_tells_each_epoch():
    desk, engine, _ = await open_desk()
    first = desk.train(reader(1), run(1))
    assert (first["state"], first["position"], first["epoch"]) == ("queued", 1, 0)
    assert first["message"] == "waiting: the training processes are being started"
    await settle(desk)
    seen, key = {first["run"]: first["version"]}, first["run"]
    for epoch in range(1, EPOCHS + 1):
        await engine.finish()
        (snapshot,) = desk.watch(reader(1), seen)["runs"]
        assert snapshot["version"] > seen[key]
        assert snapshot["epoch"] == epoch
        assert len(snapshot["curves"]["train_loss"]) == epoch
        seen[key] = snapshot["version"]
    assert snapshot["state"] == "finished"
    assert snapshot["test"] == {"accuracy": 1.0, "cross_entropy": 0.0}
    assert desk.watch(reader(1), seen) == {"runs": []}
    assert runs.run_path(run(1)).exists()


@on_a_loop
async def test_readers_with_one_configuration_share_one_run():
    desk, engine, _ = await open_desk()
    for number in range(60):
        snapshot = desk.train(reader(number), run(1))
    await settle(desk)
    assert snapshot["watchers"] == 60
    await engine.finish(EPOCHS)
    assert len(engine.order) == EPOCHS
    assert desk.train(reader(99), run(1))["state"] == "finished"


@on_a_loop
async def test_runs_take_turns_and_positions_count_those_that_wait():
    desk, engine, _ = await open_desk()
    keys = [desk.train(reader(number), run(number))["run"] for number in range(5)]
    await settle(desk)
    assert [desk.snapshot(desk.jobs[key])["position"] for key in keys] == [None, None, 1, 2, 3]
    for _ in range(5 * EPOCHS):
        await engine.finish()
    assert [Counter(engine.order[at : at + 5]) for at in (0, 5, 10)] == [Counter(keys)] * 3
    assert {job.state for job in desk.jobs.values()} == {"finished"}


@on_a_loop
async def test_a_whole_table_takes_no_more_than_the_turn_of_one_run():
    desk, engine, _ = await open_desk(Engine(slots=1))
    short = [Configuration(c.model, c.delay, c.seed, epochs=EPOCHS, train_size=128) for c in table()]
    answer = desk.train_table(reader(1), short)
    assert len(answer["runs"]) == 27
    alone = desk.train(reader(2), run(1))["run"]
    await settle(desk)
    await engine.finish(6)
    assert engine.order[:7].count(alone) == 3
    assert desk.jobs[alone].state == "finished"
    await engine.finish(27 * EPOCHS - 3)
    assert {job.state for job in desk.jobs.values()} == {"finished"}


@on_a_loop
async def test_a_table_of_one_uses_every_slot():
    desk, engine, _ = await open_desk()
    desk.train_table(reader(1), [run(number) for number in range(27)])
    await settle(desk)
    assert len(engine.waiting) == 2


@on_a_loop
async def test_the_stored_table_is_finished_at_once_and_starts_nothing():
    desk, engine, _ = await open_desk()
    answer = desk.train_table(reader(1), table())
    assert set(states(answer).values()) == {"finished"}
    assert desk.train(reader(1), Configuration())["test"]["accuracy"] == 1.0
    await settle(desk)
    assert engine.opened == 0


@on_a_loop
async def test_a_reader_has_one_training_at_a_time_and_a_table_beside_it():
    desk, engine, _ = await open_desk()
    desk.train(reader(1), run(1))
    again = desk.train(reader(1), run(2))
    assert again["refused"] == "busy"
    assert again["run"] == run(1).key()
    assert "refused" not in desk.train(reader(1), run(1))
    assert "refused" not in desk.train_table(reader(1), [run(5), run(6)])
    assert desk.train_table(reader(1), [run(7), run(8)])["refused"] == "busy"
    desk.stop(reader(1), run(1).key(), "paused")
    assert desk.train(reader(1), run(2))["state"] == "queued"


@on_a_loop
async def test_a_full_queue_refuses_new_runs_but_not_those_it_holds():
    desk, _, _ = await open_desk()
    for number in range(MOST_RUNS):
        assert "refused" not in desk.train(reader(number), run(number))
    refused = desk.train(reader(100), run(100))
    assert refused["refused"] == "full"
    assert "\n" not in refused["reason"]
    assert "refused" not in desk.train(reader(100), run(3))
    assert "refused" not in desk.train(reader(101), Configuration())  # finished runs cost nothing


@on_a_loop
async def test_a_cancelled_run_goes_on_while_someone_else_watches():
    desk, engine, _ = await open_desk()
    for number in (1, 2):
        desk.train(reader(number), run(1))
    await settle(desk)
    await engine.finish()
    assert desk.stop(reader(1), run(1).key(), "cancelled")["state"] == "running"
    await engine.finish()
    assert desk.stop(reader(2), run(1).key(), "cancelled")["state"] == "cancelled"
    await engine.finish()
    assert not engine.waiting
    assert desk.jobs[run(1).key()].state == "finished"  # the slice at work was its last, and is not thrown away


@on_a_loop
async def test_a_paused_run_keeps_what_it_has_and_goes_on_from_there():
    desk, engine, _ = await open_desk()
    desk.train(reader(1), run(1))
    await settle(desk)
    await engine.finish()
    paused = desk.stop(reader(1), run(1).key(), "paused")
    assert (paused["state"], paused["epoch"], paused["watchers"]) == ("paused", 1, 0)
    await engine.finish()  # the slice that was at work
    assert not engine.waiting
    assert desk.train(reader(1), run(1))["epoch"] == 2
    await settle(desk)
    await engine.finish()
    assert desk.jobs[run(1).key()].state == "finished"


@on_a_loop
async def test_a_reader_cannot_stop_what_only_others_wish_for():
    desk, engine, _ = await open_desk()
    desk.train(reader(1), run(1))
    await settle(desk)
    assert desk.stop(reader(2), run(1).key(), "cancelled")["state"] == "running"
    assert desk.stop(reader(2), "0" * 16, "cancelled") == {"run": "0" * 16, "state": "unknown"}


@on_a_loop
async def test_cancelling_a_table_leaves_a_run_that_is_wished_for_alone():
    desk, engine, _ = await open_desk()
    desk.train_table(reader(1), [run(number) for number in range(4)])
    desk.train(reader(2), run(0))
    await settle(desk)
    answer = desk.stop(reader(1), run(3).key(), "cancelled")
    assert Counter(states(answer).values()) == {"running": 1, "cancelled": 3}
    assert states(answer)[run(0).key()] == "running"


@on_a_loop
async def test_a_reader_who_no_longer_asks_does_not_count_and_is_welcome_back():
    desk, engine, clock = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    await engine.finish()
    clock.now += ABSENT + 1
    desk._settle()
    await engine.finish()
    assert desk.jobs[key].state == "paused"
    assert not engine.waiting
    assert runs.read(run(1)) is not None
    assert states(desk.watch(reader(2), {key: 0})) == {key: "paused"}  # a stranger's look starts nothing
    assert states(desk.watch(reader(1), {key: 0})) == {key: "running"}
    await settle(desk)
    assert engine.waiting


@on_a_loop
async def test_a_reader_who_keeps_asking_counts():
    desk, engine, clock = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    for _ in range(5):
        clock.now += ABSENT - 1
        desk.watch(reader(1), {key: 0})
        desk._settle()
    assert desk.jobs[key].state == "running"


@on_a_loop
async def test_a_run_nobody_asks_about_is_dropped_and_found_again_on_disk():
    desk, engine, clock = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    await engine.finish(EPOCHS)
    clock.now += FORGOTTEN + 1
    desk._forget()
    assert not desk.jobs
    assert not desk.lots
    assert desk.watch(reader(1), {key: 5}) == {"runs": [{"run": key, "state": "unknown"}]}


@on_a_loop
async def test_a_diverged_run_fails_with_its_step_and_is_not_tried_again():
    desk, engine, _ = await open_desk()
    line = "rnn, delay 1, seed 1: the run diverged at step 7 (loss 120, gradient norm 3)"
    engine.answers[run(1).key()] = line
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    await engine.finish()
    (snapshot,) = desk.watch(reader(1), {key: 0})["runs"]
    assert (snapshot["state"], snapshot["message"]) == ("failed", line)
    assert desk.train(reader(2), run(1))["message"] == line
    assert not engine.waiting
    assert not runs.run_path(run(1)).exists()


@on_a_loop
async def test_a_failed_run_harms_no_other_and_can_be_tried_again():
    desk, engine, _ = await open_desk()
    engine.answers[run(1).key()] = Failed("training failed on the server (MemoryError)")
    desk.train(reader(1), run(1))
    desk.train(reader(2), run(2))
    await settle(desk)
    await engine.finish(2)
    assert desk.jobs[run(1).key()].state == "failed"
    assert desk.jobs[run(2).key()].state == "running"
    del engine.answers[run(1).key()]
    assert desk.train(reader(1), run(1))["state"] == "running"


@on_a_loop
async def test_a_lost_cluster_is_looked_for_and_runs_go_on_from_what_they_had(monkeypatch):
    monkeypatch.setattr(desk_module, "REOPEN", (0.0, 0.0))
    desk, engine, _ = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    await engine.finish()
    engine.answers[key] = Lost("connection reset")
    await engine.finish()
    del engine.answers[key]
    await settle(desk)
    assert engine.opened == 2
    assert desk.jobs[key].state == "running"
    assert desk.jobs[key].step == 1
    await engine.finish(2)
    assert desk.jobs[key].state == "finished"


@on_a_loop
async def test_without_a_cluster_runs_fail_with_a_plain_line_and_a_later_wish_tries_again():
    desk, engine, clock = await open_desk(Engine(unavailable="the training cluster does not answer"))
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    (snapshot,) = desk.watch(reader(1), {key: 0})["runs"]
    assert snapshot["state"] == "failed"
    assert snapshot["message"] == "training is not available: the training cluster does not answer"
    assert desk.train(reader(1), run(1)) == {"refused": "unavailable", "reason": snapshot["message"]}
    engine.unavailable = None
    clock.now += RETRY + 1
    assert desk.train(reader(1), run(1))["state"] == "queued"
    await settle(desk)
    assert desk.jobs[key].state == "running"


@on_a_loop
async def test_a_data_directory_that_cannot_be_written_is_said_at_once(data):
    data.write_text("a file stands where the directory should be")
    desk, engine, _ = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    assert desk.jobs[key].message == "training is not available: the server cannot write to its data directory"
    assert engine.opened == 0


@on_a_loop
async def test_a_full_disk_loses_no_run_and_is_tried_again(monkeypatch, caplog):
    desk, engine, clock = await open_desk()
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    replace = os.replace

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    await engine.finish()
    (snapshot,) = desk.watch(reader(1), {key: 0})["runs"]
    assert snapshot["message"] == "training goes on, but what is done cannot be kept: the server's disk is full"
    assert desk.train(reader(2), run(2))["refused"] == "unavailable"
    await engine.finish(2)
    (snapshot,) = desk.watch(reader(1), {key: 0})["runs"]
    assert (snapshot["state"], snapshot["message"]) == (
        "finished", "finished, but the run cannot be kept yet: the server's disk is full"
    )  # fmt: skip
    assert [record.getMessage() for record in caplog.records if "cannot be kept" in record.getMessage()] == [
        f"runs cannot be kept in {runs.folder()}: No space left on device"
    ]
    assert not list(runs.folder().glob("*.part"))
    monkeypatch.setattr(os, "replace", replace)
    await desk._try_disk()
    assert desk.snapshot(desk.jobs[key])["message"] is None
    assert runs.read(run(1)) is not None


@on_a_loop
async def test_a_desk_that_is_closed_keeps_what_is_done_and_the_next_one_goes_on():
    desk, engine, _ = await open_desk()
    desk.train(reader(1), run(1))
    await settle(desk)
    await engine.finish()
    desk.jobs[run(1).key()].saved_step = 0
    runs.run_path(run(1)).unlink(missing_ok=True)
    await desk.close()
    assert engine.closed
    assert runs.read(run(1)) is not None


@on_a_loop
async def test_the_time_left_is_shared_among_the_runs_in_line():
    desk, engine, clock = await open_desk(Engine(slots=1))
    long = run(1, epochs=100)
    key = desk.train(reader(1), long)["run"]
    await settle(desk)
    assert desk.snapshot(desk.jobs[key])["eta"] is None
    clock.now += 1.0  # an epoch a second
    await engine.finish()
    assert desk.snapshot(desk.jobs[key])["eta"] == pytest.approx(100, abs=10)
    desk.train(reader(2), run(2, epochs=100))
    assert desk.snapshot(desk.jobs[key])["eta"] == pytest.approx(200, abs=20)


@on_a_loop
async def test_gauges_tell_waiting_and_running_runs():
    desk, _, _ = await open_desk()
    for number in range(5):
        desk.train(reader(number), run(number))
    await settle(desk)
    assert (desk.count("queued"), desk.count("running")) == (3, 2)


@on_a_loop
async def test_a_cluster_without_workers_is_said_while_runs_wait():
    desk, engine, _ = await open_desk(Engine(slots=0))
    engine.trouble = "waiting: the training cluster has no worker at the moment"
    key = desk.train(reader(1), run(1))["run"]
    await settle(desk)
    snapshot = desk.snapshot(desk.jobs[key])
    assert (snapshot["state"], snapshot["message"]) == ("queued", engine.trouble)
    engine.slots, engine.trouble = 1, None
    await desk._tidy(1)
    assert desk.snapshot(desk.jobs[key])["state"] == "running"


@on_a_loop
async def test_a_cluster_that_nobody_uses_is_left_and_started_again_when_needed():
    desk, engine, clock = await open_desk()
    desk.train(reader(1), run(1))
    await settle(desk)
    await engine.finish(EPOCHS)
    await desk._tidy(1)
    assert engine.closed == 0
    clock.now += FORGOTTEN + 1
    await desk._tidy(2)
    assert (engine.opened, engine.closed) == (1, 1)
    desk.train(reader(1), run(2))
    await settle(desk)
    assert engine.opened == 2
    assert engine.waiting


@on_a_loop
async def test_memory_is_bounded_whatever_readers_ask_for(monkeypatch):
    monkeypatch.setattr(desk_module, "MOST_READERS", 5)
    monkeypatch.setattr(desk_module, "MOST_LOTS", 40)
    desk, _, _ = await open_desk()
    for number in range(5):
        desk.train(reader(number), run(1))
    assert desk.train(reader(9), run(1))["refused"] == "full"
    for number in range(100):
        desk.train(reader(100 + number), run(100 + number))
    desk._forget()
    assert len(desk.lots) <= 40
    assert len(desk.jobs) <= 40
    assert len(desk.line) == MOST_RUNS
