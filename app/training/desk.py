"""The desk: takes readers' wishes, shares the cluster's time among runs, and tells how far each run is.

It lives on the web server's event loop and answers from memory, at once. A run is known by its configuration's key, so all
readers with one configuration wish for one run. A `Lot` is what gets an equal share of the time: a single run, or the runs of
a whole table together.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import time
from collections import deque
from typing import Any, Callable, Iterable, Mapping

from app.training import slices
from app.training.cluster import Cluster, Failed, Lost, Unavailable, one_line
from app.training.slices import Progress
from content.experiments.cue_recall import runs
from content.experiments.cue_recall.checkpoint import CURVES
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.results import DIGITS, Run

log = logging.getLogger(__name__)

MOST_RUNS = 32  # single runs at work or waiting
MOST_TABLES = 3  # whole tables at work or waiting
MOST_READERS = 1000  # of one run
MOST_LOTS = 512  # remembered
ABSENT = 30.0  # seconds without a word after which a reader no longer counts
FORGOTTEN = 600.0  # seconds after which what nobody asks about is dropped from memory, and an idle cluster is ended
SAVE_EVERY = 3.0  # seconds between two savings of a run
RETRY = 5.0  # seconds between two attempts to use a broken disk or cluster
REOPEN = (0.0, 1.0, 3.0, 6.0)  # seconds to wait before each attempt to find a lost cluster again
WORKING = ("queued", "running")


class Job:
    """A run and where it stands."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration, self.key = configuration, configuration.key()
        self.progress: Progress | None = None
        self.state = "paused"
        self.message: str | None = None
        self.diverged = self.at_work = False
        self.saved_step, self.saved_at = 0, -math.inf
        self.pace: float | None = None  # seconds an update takes, waiting included
        self.lots: list[Lot] = []
        self.curves: dict[str, list[float]] = {name: [] for name in CURVES}
        self.version, self.signature = 0, None

    @property
    def step(self) -> int:
        return self.progress.step if self.progress else 0

    @property
    def left(self) -> int:
        """Updates still to do."""
        return self.configuration.total_steps - self.step

    def take(self, progress: Progress) -> None:
        """A new state of the run; one that is behind changes nothing."""
        if progress.step < self.step:
            return
        self.progress = progress
        for name, curve in zip(CURVES, progress.curves, strict=True):
            known = self.curves[name]
            known += [float(f"{value:.{DIGITS}g}") for value in curve[len(known) :]]
        if progress.diverged:
            self.state, self.message, self.diverged = "failed", progress.diverged, True
        elif progress.test:
            self.state, self.message = "finished", None


class Lot:
    """What gets an equal share of the cluster's time, and who wishes for it: reader and when last heard of."""

    def __init__(self, name: str, jobs: list[Job]) -> None:
        self.name, self.jobs, self.readers = name, jobs, dict[str, float]()
        self.single = len(jobs) == 1
        for job in jobs:
            job.lots.append(self)

    def watchers(self, now: float) -> list[str]:
        return [reader for reader, heard in self.readers.items() if now - heard <= ABSENT]

    @property
    def working(self) -> bool:
        return any(job.state in WORKING for job in self.jobs)

    def startable(self) -> Job | None:
        return next((job for job in self.jobs if job.state in WORKING and not job.at_work), None)


class Desk:
    """`train`, `watch` and `stop` answer readers. `engine` is a `Cluster` or, in tests, what looks like one."""

    def __init__(self, engine: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.engine = engine or Cluster()
        self.clock = clock
        self.jobs: dict[str, Job] = {}
        self.lots: dict[str, Lot] = {}
        self.line: deque[Lot] = deque()  # lots with work to do, the next one first
        self.tasks: set[asyncio.Task] = set()
        self.status = "closed"  # "opening", "open"
        self.trouble: str | None = None  # why the cluster could not be opened
        self.disk_trouble: str | None = None
        self.tried_at = -math.inf
        self.worked_at = clock()
        self.housekeeping: asyncio.Task | None = None
        self.pace: dict[str, float] = {}  # seconds an update takes for each token of its episodes, by model
        self.on_finished: Callable[[], Any] = lambda: None

    # What readers ask

    def train(self, reader: str, configuration: Configuration) -> dict[str, Any]:
        """A reader's wish for one run. Returns its snapshot, or why not."""
        lot = self._lot(configuration.key(), [configuration])
        job = lot.jobs[0]
        if job.state != "finished" and not job.diverged and not (lot.working and reader in lot.readers):
            other = self._wish_of(reader, single=True)
            if other and other is not lot:
                return refusal("busy", "one training at a time: pause or cancel the one that is at work", run=other.name)
            if problem := self._obstacle(lot):
                return problem
        return self._join(lot, reader) or self.snapshot(job)

    def train_table(self, reader: str, configurations: list[Configuration]) -> dict[str, Any]:
        """A reader's wish for a whole table. Returns the snapshots of its runs, or why not."""
        lot = self._lot("table " + " ".join(configuration.key() for configuration in configurations), configurations)
        if any(job.state != "finished" and not job.diverged for job in lot.jobs) and not (lot.working and reader in lot.readers):
            other = self._wish_of(reader, single=False)
            if other and other is not lot:
                return refusal("busy", "one table at a time: pause or cancel the one that is at work")
            if problem := self._obstacle(lot):
                return problem
        return self._join(lot, reader) or {"runs": [self.snapshot(job) for job in lot.jobs]}

    def watch(self, reader: str, seen: Mapping[str, Any]) -> dict[str, Any]:
        """Snapshots that the reader has not seen yet. A reader who comes back after a while counts again."""
        now, told = self.clock(), []
        for key in seen:
            for lot in self.jobs[key].lots if key in self.jobs else ():
                if reader in lot.readers:
                    lot.readers[reader] = now
                    self._come_back(lot, reader)
        for key, version in seen.items():
            snapshot = self.snapshot(self.jobs[key]) if key in self.jobs else {"run": key, "state": "unknown"}
            if snapshot.get("version") != version or version is None:
                told.append(snapshot)
        return {"runs": told}

    def stop(self, reader: str, key: str, state: str, *, table: bool = False) -> dict[str, Any]:
        """The reader no longer wishes for a run, or for the table it belongs to: its `state` is then "paused" or "cancelled".

        What others wish for goes on. A run keeps what it has done in either state.
        """
        if key not in self.jobs:
            return {"run": key, "state": "unknown"}
        job = self.jobs[key]
        own = [lot for lot in job.lots if reader in lot.readers]
        singles = [lot for lot in own if lot.single and not table]
        lots = singles or [lot for lot in own if not lot.single]
        for lot in lots:
            del lot.readers[reader]
        self._settle(state)
        if job.state in ("paused", "cancelled") and not any(lot.readers for lot in job.lots):
            job.state = state
        self._fill()
        return self.snapshot(job) if singles or not lots else {"runs": [self.snapshot(job) for job in lots[0].jobs]}

    def snapshot(self, job: Job) -> dict[str, Any]:
        """What a page shows of a run. Its version grows whenever something else in it changes."""
        configuration, progress = job.configuration, job.progress
        now = self.clock()
        shown = {
            "state": job.state,
            "epoch": len(job.curves[CURVES[0]]),
            "position": self._position(job),
            "eta": self._eta(job),
            "message": self._message(job),
            "watchers": len({reader for lot in job.lots for reader in lot.watchers(now)}),
        }
        signature = tuple(shown.values())
        if signature != job.signature:
            # counted from the clock, so that versions of a server that was started again are newer
            job.signature, job.version = signature, max(job.version + 1, int(time.time() * 1000))
        return {
            "run": job.key,
            "version": job.version,
            "model": configuration.model,
            "delay": configuration.delay,
            "seed": configuration.seed,
            "epochs": configuration.epochs,
            **shown,
            "curves": {name: list(curve) for name, curve in job.curves.items()},
            "test": {"accuracy": progress.test[0], "cross_entropy": progress.test[1]} if progress and progress.test else None,
            "seconds": round(progress.seconds, 1) if progress else 0.0,
        }

    def count(self, state: str) -> int:
        """Runs in this state."""
        return sum(job.state == state for job in self.jobs.values())

    # Wishes

    def _lot(self, name: str, configurations: list[Configuration]) -> Lot:
        if name not in self.lots:
            self.lots[name] = Lot(name, [self._job(configuration) for configuration in configurations])
        return self.lots[name]

    def _job(self, configuration: Configuration) -> Job:
        """The run as it stands in memory, in the stored table or in the data directory."""
        key = configuration.key()
        if key not in self.jobs:
            job = self.jobs[key] = Job(configuration)
            if stored := runs.stored_runs().get(key):
                job.take(progress_of(stored))
            elif kept := runs.read(configuration):
                job.take(slices.progress(kept.checkpoint, versions=kept.versions))
            job.saved_step = job.step
            if job.state == "finished":
                self.on_finished()
        return self.jobs[key]

    def _wish_of(self, reader: str, *, single: bool) -> Lot | None:
        """The work in progress that a reader wished for."""
        now = self.clock()
        return next((lot for lot in self.line if lot.single == single and reader in lot.watchers(now)), None)

    def _obstacle(self, lot: Lot) -> dict[str, Any] | None:
        """Why a lot cannot be put in line, or None."""
        if lot in self.line:
            return None
        if self.status == "closed" and self.trouble and self.clock() - self.tried_at < RETRY:
            return refusal("unavailable", self.trouble)
        if self.disk_trouble:
            return refusal("unavailable", f"training is not available: {self.disk_trouble}")
        if sum(other.single == lot.single for other in self.line) >= (MOST_RUNS if lot.single else MOST_TABLES):
            return refusal("full", "the queue is full; please try again in a minute or two")
        return None

    def _join(self, lot: Lot, reader: str) -> dict[str, Any] | None:
        """Adds the reader's wish and puts the lot in line; a refusal when too many wish for it."""
        if reader not in lot.readers and len(lot.readers) >= MOST_READERS:
            return refusal("full", "too many readers wish for this run; please try again in a minute or two")
        lot.readers[reader] = self.clock()
        for job in lot.jobs:
            if job.state in ("paused", "cancelled") or (job.state == "failed" and not job.diverged):
                job.state, job.message = "queued", None
        if lot.working and lot not in self.line:
            self.line.append(lot)
        self._start()
        self._fill()
        return None

    def _come_back(self, lot: Lot, reader: str) -> None:
        """A run that was paused since nobody was there goes on when one of its readers is heard of again."""
        if lot not in self.line and any(job.state == "paused" for job in lot.jobs) and not self._obstacle(lot):
            if self._wish_of(reader, single=lot.single) is None:
                self._join(lot, reader)

    def _settle(self, state: str = "paused") -> None:
        """Puts aside what nobody wishes for any more."""
        now = self.clock()
        wished = [lot for lot in self.line if lot.watchers(now)]
        wanted = {job.key for lot in wished for job in lot.jobs}
        for job in [job for lot in self.line for job in lot.jobs]:
            if job.state in WORKING and job.key not in wanted:
                job.state, job.message = state, None
                self._do(self._save(job), self.engine.forget(job.configuration))
        self.line = deque(lot for lot in wished if lot.working)

    # Work

    def _start(self) -> None:
        """Opens the cluster unless it is open, and begins to keep house."""
        if self.housekeeping is None:
            self.housekeeping = asyncio.create_task(self._keep_house())
        if self.line and self.status == "closed":
            self.status, self.trouble = "opening", None
            self._do(self._open((0.0,)))

    async def _open(self, waits: Iterable[float]) -> None:
        """Opens disk and cluster, with an attempt after each of the waits; if that fails, so do all runs in line."""
        trouble = None
        for wait in waits:
            await asyncio.sleep(wait)
            self.tried_at = self.clock()
            try:
                await asyncio.to_thread(runs.check_writable)
                self.disk_trouble = None
                await self.engine.open()
            except OSError as problem:
                log.warning("runs cannot be kept in %s: %s", runs.folder(), problem.strerror)
                trouble = plain(problem)
            except Unavailable as problem:
                trouble = str(problem)
            except Exception as problem:
                log.error("the training cluster could not be opened: %s", one_line(problem))
                trouble = "the training cluster cannot be started"
            else:
                self.status, self.trouble = "open", None
                return self._fill()
        self.status, self.tried_at, self.trouble = "closed", self.clock(), f"training is not available: {trouble}"
        for job in self.jobs.values():
            if job.state in WORKING:
                job.state, job.message = "failed", self.trouble
        self._settle()

    async def opened(self) -> Any:
        """The engine, once it is open. Raises Unavailable, in words for readers."""
        if self.housekeeping is None:
            self._start()
        if self.status == "closed":
            self.status, self.trouble = "opening", None
            self._do(self._open((0.0,)))
        while self.status == "opening":
            await asyncio.sleep(0.05)
        if self.status != "open":
            raise Unavailable(self.trouble or "training is not available")
        self.worked_at = self.clock()
        return self.engine

    def _fill(self) -> None:
        """Gives free slots to the lots in line, in turn."""
        while self.status == "open" and self._at_work() < self.engine.slots and (job := self._next()):
            job.state, job.at_work = "running", True
            self._do(self._slice(job))

    def _at_work(self) -> int:
        return sum(job.at_work for job in self.jobs.values())

    def _next(self) -> Job | None:
        """The job whose turn it is; its lot goes to the end of the line."""
        for _ in range(len(self.line)):
            lot = self.line[0]
            self.line.rotate(-1)
            if job := lot.startable():
                return job
        return None

    async def _slice(self, job: Job) -> None:
        """One slice of a run, and the next one for whoever's turn it is."""
        began, before = self.clock(), job.step
        try:
            progress = await self.engine.advance(job.configuration, job.progress)
        except Lost as problem:
            self.lose(problem)
        except Failed as problem:
            job.state, job.message = "failed", str(problem)
        else:
            job.take(progress)
            self._learn_pace(job, self.clock() - began, job.step - before)
            if job.state not in WORKING or self.clock() - job.saved_at >= SAVE_EVERY:
                await self._save(job)
            if job.state == "finished":
                self.on_finished()
        finally:
            job.at_work = False
            self.worked_at = self.clock()
        self._settle()
        self._fill()

    def lose(self, problem: Lost) -> None:
        """Looks for the cluster again; runs wait with what they have."""
        if self.status == "open":
            log.warning("the training cluster is lost: %s", problem)
            self.status = "opening"
            self._do(self._open(REOPEN))

    def _learn_pace(self, job: Job, seconds: float, steps: int) -> None:
        if steps > 0:
            latest = seconds / steps
            job.pace = latest if job.pace is None else 0.7 * job.pace + 0.3 * latest
            self.pace[job.configuration.model] = job.pace / job.configuration.inputs

    # Keeping

    async def _save(self, job: Job) -> None:
        """Writes a run to the data directory, unless it has been written as it is."""
        progress = job.progress
        if progress is None or progress.step <= job.saved_step or progress.diverged:
            return
        job.saved_at = self.clock()
        try:
            await asyncio.to_thread(runs.write, job.configuration, progress.checkpoint, progress.versions)
        except OSError as problem:
            if self.disk_trouble is None:
                log.warning("runs cannot be kept in %s: %s", runs.folder(), problem.strerror)
            self.disk_trouble = plain(problem)
        else:
            job.saved_step, self.disk_trouble = progress.step, None

    async def _keep_house(self) -> None:
        """Every second: readers who left, a disk that was full, memory and processes that nobody needs."""
        rounds = 0
        while True:
            await asyncio.sleep(1)
            rounds += 1
            try:
                await self._tidy(rounds)
            except Exception as problem:  # the next round may fare better
                log.error("at the training desk: %s", one_line(problem))

    async def _tidy(self, rounds: int) -> None:
        self._settle()
        if self.disk_trouble and rounds % RETRY == 0:
            await self._try_disk()
        if self.status == "open" and rounds % 2 == 0:
            if self.engine.alive:
                await self.engine.look()
            elif self.line:
                self.lose(Lost("the connection broke"))
        self._fill()
        self._forget()
        if self.status == "open" and not self.line and self.clock() - self.worked_at > FORGOTTEN:
            log.info("nobody trains: the training cluster is left")
            self.status = "closed"
            await self.engine.close()

    async def _try_disk(self) -> None:
        try:
            await asyncio.to_thread(runs.check_writable)
        except OSError:
            return
        self.disk_trouble = None
        for job in list(self.jobs.values()):
            await self._save(job)

    def _forget(self) -> None:
        """Drops what nobody has asked about for long."""
        now = self.clock()
        quiet = [lot for lot in self.lots.values() if lot not in self.line]
        quiet.sort(key=lambda lot: max(lot.readers.values(), default=-math.inf))
        spare = len(self.lots) - MOST_LOTS
        for number, lot in enumerate(quiet):
            if number < spare or now - max(lot.readers.values(), default=-math.inf) > FORGOTTEN:
                del self.lots[lot.name]
                for job in lot.jobs:
                    job.lots.remove(lot)
        for lot in self.lots.values():
            for reader in [reader for reader, heard in lot.readers.items() if now - heard > FORGOTTEN]:
                del lot.readers[reader]
        unsaved = self.disk_trouble is not None
        for job in [job for job in self.jobs.values() if not job.lots and not job.at_work]:
            if not (unsaved and job.step > job.saved_step):
                del self.jobs[job.key]
                self._do(self.engine.forget(job.configuration))

    def _do(self, *coroutines: Any) -> None:
        """Starts coroutines; one that breaks says so in one line of the log."""
        for coroutine in coroutines:
            task = asyncio.create_task(coroutine)
            self.tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception():
            log.error("at the training desk: %s", one_line(task.exception()))

    async def close(self) -> None:
        """Stops all work, keeps what is done, leaves the cluster."""
        self.end()
        await self.engine.close()

    def end(self) -> None:
        """`close` for a server that is going down at this moment: nothing is awaited."""
        self.status = "closed"
        for task in [*self.tasks, *([self.housekeeping] if self.housekeeping else [])]:
            task.cancel()
        for job in self.jobs.values():
            if job.progress and job.step > job.saved_step and not job.diverged:
                try:
                    runs.write(job.configuration, job.progress.checkpoint, job.progress.versions)
                except OSError as problem:
                    log.warning("run %s cannot be kept: %s", job.key, problem.strerror)
        self.engine.end()

    # What is told

    def _message(self, job: Job) -> str | None:
        if job.state in WORKING:
            if self.status != "open":
                return "waiting: the training processes are being started"
            return self.engine.trouble or (
                f"training goes on, but what is done cannot be kept: {self.disk_trouble}" if self.disk_trouble else None
            )
        if job.state == "finished" and self.disk_trouble and job.step > job.saved_step:
            return f"finished, but the run cannot be kept yet: {self.disk_trouble}"
        return job.message

    def _position(self, job: Job) -> int | None:
        """Place among the runs that wait for their first slice, from 1."""
        if job.state != "queued":
            return None
        waiting = dict.fromkeys(job.key for lot in self.line for job in lot.jobs if job.state == "queued")
        return list(waiting).index(job.key) + 1 if job.key in waiting else None

    def _eta(self, job: Job) -> float | None:
        """Seconds until the run is finished when nothing changes; None when unknown. Lots share the slots equally."""
        if job.state not in WORKING or self._seconds_left(job) is None:
            return None
        slots = max(self.engine.slots, 1)
        best = math.inf
        for lot in job.lots:
            if lot not in self.line:
                continue
            ahead = lot.jobs[: lot.jobs.index(job) + 1]
            own = sum(self._seconds_left(each) or 0.0 for each in ahead)
            others = sum(min(own, self._lot_seconds(other, own)) for other in self.line if other is not lot)
            best = min(best, max(self._seconds_left(job), (own + others) / slots))
        return coarse(best) if math.isfinite(best) else None

    def _lot_seconds(self, lot: Lot, unknown: float) -> float:
        times = [self._seconds_left(job) for job in lot.jobs]
        return unknown if None in times else sum(times)

    def _seconds_left(self, job: Job) -> float | None:
        if job.state not in WORKING:
            return 0.0
        model = job.configuration.model
        pace = job.pace or (self.pace[model] * job.configuration.inputs if model in self.pace else None)
        return None if pace is None else job.left * pace


def progress_of(run: Run) -> Progress:
    """A run of the stored table as what a page shows of it; it has no checkpoint."""
    configuration = run.configuration
    curves = [run.curves[name] for name in CURVES]
    test = (run.test_accuracy, run.test_cross_entropy)
    return Progress(b"", configuration.total_steps, curves, test, run.seconds, run.versions)


def refusal(kind: str, reason: str, **more: Any) -> dict[str, Any]:
    return {"refused": kind, "reason": reason, **more}


def coarse(seconds: float) -> float:
    """Seconds as one would say them: to the second, to five, to ten."""
    unit = 1 if seconds < 10 else 5 if seconds < 60 else 10
    return float(math.ceil(seconds / unit) * unit)


def plain(problem: OSError) -> str:
    """What is wrong with the data directory, in words for readers."""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the server's disk is full"
    return "the server cannot write to its data directory"
