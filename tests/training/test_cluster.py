"""Real clusters on loopback: killed workers, a killed or missing cluster, two web processes on one, one that starts again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from app import training
from app.training import cluster
from content.experiments.cue_recall import runs
from content.experiments.cue_recall.checkpoint import start
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.train import advance
from tests.free_port import free_port
from tests.training.web import ask, wish

pytest.importorskip("distributed")
ROOT = Path(__file__).resolve().parents[2]
ENDED = ("finished", "failed")


def assert_as_undisturbed(configuration):
    """The kept run equals one that was trained in one go in this process, bit for bit."""
    kept = runs.read(configuration).checkpoint
    alone, _ = advance(start(configuration), configuration.total_steps)
    for name in ("curves", "weights", "best_weights", "test", "step"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(alone, name), err_msg=name)


def configuration(controls):
    return Configuration(**{"model": "transformer", "delay": 16, **controls})


async def until(condition, seconds=60):
    """Polls as pages do until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        await asyncio.sleep(0.02)


def process_of(command, parent):
    """Processes below `parent` whose command line holds `command`."""
    return [child for child in psutil.Process(parent).children(recursive=True) if command in " ".join(child.cmdline())]


def on_a_loop(coroutine):
    async def whole():
        try:
            await coroutine
        finally:
            await training.the_desk().close()

    asyncio.run(asyncio.wait_for(whole(), 120))


def test_sixty_readers_and_ten_runs_all_finish_though_a_worker_is_killed(caplog):
    wishes = [{"model": ("rnn", "gru")[n % 2], "delay": 1 + n % 3, "seed": 6200 + n, "epochs": 30} for n in range(10)]  # several slices each
    order = []

    async def class_of_sixty():
        the_desk = training.the_desk()
        given = the_desk.engine.advance

        async def noted(configuration, progress):
            order.append(configuration.key())
            return await given(configuration, progress)

        the_desk.engine.advance = noted
        keys = {n: wish(f"reader-{n:03}", wishes[n % 10])["run"] for n in range(60)}
        assert len(set(keys.values())) == 10
        seen, state, slowest, last = {}, {}, 0.0, time.monotonic()
        killed = False
        while len([one for one in state.values() if one in ENDED]) < 10:
            await asyncio.sleep(0.05)
            slowest, last = max(slowest, time.monotonic() - last), time.monotonic()
            for n, key in keys.items():
                for snapshot in ask("watch", f"reader-{n:03}", runs={key: seen.get((n, key), 0)})["runs"]:
                    seen[n, key], state[key] = snapshot["version"], snapshot["state"]
                    assert snapshot["watchers"] == 6
            if not killed and len(order) > 12:
                killed = process_of("multiprocessing.spawn", os.getpid())[0]
                killed.send_signal(signal.SIGKILL)
        assert killed
        assert set(state.values()) == {"finished"}
        assert slowest < 1.0

    on_a_loop(class_of_sixty())
    first = [order.index(key) for key in dict.fromkeys(order)]
    assert first == list(range(10)), "each run has its first slice before any has its second"
    for controls in wishes:
        assert_as_undisturbed(configuration(controls))
    assert not [record for record in caplog.records if record.exc_info and record.name.startswith("app")]


def test_a_cluster_that_is_killed_is_started_again_and_the_run_goes_on(caplog):
    controls = {"model": "gru", "delay": 4, "epochs": 40}

    async def one_reader():
        key = wish("reader-001", controls)["run"]
        job = training.the_desk().jobs[key]
        await until(lambda: job.step > 0)
        training.the_desk().engine.child.kill()
        at = job.step
        await until(lambda: training.the_desk().status == "opening")
        (snapshot,) = ask("watch", "reader-001", runs={key: 0})["runs"]
        assert snapshot["message"] == "waiting: the training processes are being started"
        await until(lambda: job.state in ENDED)
        assert job.state == "finished"
        assert at > 0

    on_a_loop(one_reader())
    assert_as_undisturbed(configuration(controls))
    assert not [record for record in caplog.records if record.exc_info]


def test_an_unreachable_scheduler_is_said_in_a_plain_line_and_nothing_waits(monkeypatch, caplog):
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", f"tcp://127.0.0.1:{free_port()}")
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)

    async def one_reader():
        began = time.monotonic()
        first = wish("reader-001", {"epochs": 1})
        assert (first["state"], first["message"]) == ("queued", "waiting: the training processes are being started")
        slowest, last = 0.0, time.monotonic()
        assert last - began < 0.5

        def failed():
            nonlocal slowest, last
            slowest, last = max(slowest, time.monotonic() - last), time.monotonic()
            return training.the_desk().jobs[first["run"]].state == "failed"

        await until(failed)
        assert slowest < 0.7
        (snapshot,) = ask("watch", "reader-001", runs={first["run"]: first["version"]})["runs"]
        assert snapshot["message"] == "training is not available: the training cluster does not answer"
        again = wish("reader-001", {"epochs": 1})
        assert (again["refused"], again["reason"]) == ("unavailable", snapshot["message"])

    on_a_loop(one_reader())
    assert not [record for record in caplog.records if record.exc_info]


def test_without_distributed_the_reader_is_told_and_nothing_is_started(monkeypatch):
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None)

    async def one_reader():
        key = wish("reader-001", {"epochs": 1})["run"]
        await until(lambda: training.the_desk().jobs[key].state == "failed")
        (snapshot,) = ask("watch", "reader-001", runs={key: 0})["runs"]
        assert snapshot["message"] == "training is not available: the training software is not installed on this server"
        assert training.the_desk().engine.child is None

    on_a_loop(one_reader())


@contextmanager
def external_cluster():
    """`dask scheduler` and `dask worker` on loopback, as an operator starts them. Gives the scheduler's address."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    scheduler = [*dask, "scheduler", "--no-dashboard", "--host", "127.0.0.1", "--port", str(port)]
    worker = [*dask, "worker", address, *"--nworkers 2 --nthreads 1 --no-dashboard --host 127.0.0.1".split()]
    quiet = {"env": environment, "cwd": ROOT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, **quiet) for command in (scheduler, worker)]
    try:
        yield address
    finally:
        for process in processes:
            process.kill()  # the workers end with their nanny
            process.wait()


def web(reader, *wishes):
    command = [sys.executable, "-m", "tests.training.web", reader, *map(json.dumps, wishes)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def go(process, ready=False):
    """Tells a web process that is ready to begin."""
    if not ready:
        process.stdout.readline()
    process.stdin.write("go\n")
    process.stdin.flush()
    return process


def said(process):
    """All that a web process says until it ends."""
    lines = [json.loads(line) for line in process.stdout]
    assert process.wait(10) == 0
    return lines


def test_two_web_processes_on_one_scheduler_share_one_run_and_one_that_is_killed_is_taken_up_again(monkeypatch):
    from distributed import Client

    shared = {"model": "gru", "delay": 6, "epochs": 20}
    resumed = {"model": "gru", "delay": 2, "epochs": 30}
    with external_cluster() as address, Client(address, timeout=60, set_as_default=False) as client:
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", address)
        client.get_task_stream()  # from here on the scheduler notes what is computed
        webs = [web(f"reader-{name}", shared) for name in "ab"]
        for process in webs:
            process.stdout.readline()
        asked = 0
        for process in webs:
            go(process, ready=True)
        for process in webs:
            lines = said(process)
            assert lines[-2]["state"] == "finished"
            assert lines[-1]["imported"] == ["distributed"]
            asked += lines[-1]["asked"]
        slices = [task["key"] for task in client.get_task_stream() if configuration(shared).key() in task["key"]]
        assert asked > len(slices), "some slices were asked for by both"
        assert len(slices) <= len(set(slices)) + 1, "but computed once (one may fall between two stools)"
        assert_as_undisturbed(configuration(shared))

        killed = go(web("reader-a", resumed))
        for line in killed.stdout:
            if json.loads(line)["epoch"] >= 5 and runs.read(configuration(resumed)):
                break
        killed.kill()
        killed.wait()
        again = said(go(web("reader-a", resumed)))
        assert again[0]["epoch"] > 0, "found on disk at once"
        assert again[-2]["state"] == "finished"
        assert_as_undisturbed(configuration(resumed))
