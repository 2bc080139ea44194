"""The engine behind the desk: a Dask cluster, one of our own or the one that DASK_SCHEDULER_ADDRESS names.

Everything runs on the web server's event loop and nothing waits there: `distributed` is imported in a thread, the cluster is a
child process or another machine, and a slice is awaited. A slice's name is made of its run and its first step, so two web
processes that ask one scheduler for the same slice get the same computation.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator, Callable

from app.training import slices
from app.training.slices import Progress
from content.experiments.cue_recall.checkpoint import from_bytes
from content.experiments.cue_recall.configuration import Configuration

log = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds for the cluster to answer
START = 60.0  # seconds for a cluster of our own to come up, on a busy machine
PROCESSES = 2  # of a cluster of our own, one thread each
ROOT = Path(__file__).resolve().parents[2]


class Unavailable(RuntimeError):
    """There is no cluster; the text says why in words for readers."""


class Lost(RuntimeError):
    """The cluster is gone in the middle of a slice; the slice can be done again on another."""


class Failed(RuntimeError):
    """A slice cannot be done, here or elsewhere; the text says why in words for readers."""


class Cluster:
    """`open` it, ask it to `advance` runs, at most `slots` at once, and `close` it. `trouble` says why nothing moves."""

    def __init__(self, address: str | None = None) -> None:
        self.address = address
        self.client: Any = None
        self.child: asyncio.subprocess.Process | None = None
        self.slots = 0
        self.trouble: str | None = None

    async def open(self) -> None:
        """Connect, and start a cluster of our own first when no other is named. Raises Unavailable."""
        await self.close()
        if importlib.util.find_spec("distributed") is None:
            raise Unavailable("the training software is not installed on this server")
        started = asyncio.create_task(self._start_child()) if self.address is None else None
        try:
            self.distributed = await asyncio.to_thread(importlib.import_module, "distributed")
            # A lost connection is said in one line here; the client and its line would add their tracebacks.
            for name in ("distributed.client", "distributed.batched"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            address = await started if started else self.address
            self.client = await asyncio.wait_for(self._connect(address), PATIENCE + 5)
            await self.look()
        except (OSError, ValueError, asyncio.TimeoutError) as problem:
            log.warning("training is not available: %s: %s", self.address or "a cluster of our own", one_line(problem))
            raise Unavailable("the training cluster does not answer") from None
        finally:
            if started and not started.done():
                started.cancel()
            if self.client is None:
                await self.close()
        log.info("training on %s with %d slots", self.address or "a cluster of our own", self.slots)

    async def _connect(self, address: str) -> Any:
        client = self.distributed.Client(address, asynchronous=True, timeout=PATIENCE, set_as_default=False, name="book")
        try:
            return await client
        except BaseException:
            await client.close()
            raise

    async def _start_child(self) -> str:
        """Address of the scheduler of a cluster of our own."""
        processes = max(1, min(PROCESSES, os.cpu_count() or 1))
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self.child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.training.local_cluster", str(processes), env=os.environ | {"PYTHONPATH": path},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is for the server, which ends the child in order
        )  # fmt: skip
        address = (await asyncio.wait_for(self.child.stdout.readline(), START)).decode().strip()
        if not address:
            raise OSError("its process ended at once")
        return address

    async def look(self) -> None:
        """See how many slices the cluster can do at once."""
        try:
            self.slots = sum((await asyncio.wait_for(self.client.nthreads(), PATIENCE)).values())
        except (OSError, asyncio.TimeoutError):
            self.trouble = "waiting: the training cluster does not answer"
        else:
            self.trouble = None if self.slots else "waiting: the training cluster has no worker at the moment"

    @property
    def alive(self) -> bool:
        """Whether the connection to the scheduler stands."""
        return self.client is not None and self.client.status == "running"

    async def advance(self, configuration: Configuration, progress: Progress | None) -> Progress:
        """The next state of a run that stands at `progress`: one slice further, or where another web process has brought it.

        Raises Lost or Failed.
        """
        run, step = configuration.key(), progress.step if progress else 0
        checkpoint = progress.checkpoint if progress else None
        async with self._asked():
            ahead = await self._ahead(run, step)
            if ahead:
                return ahead
            future = self.client.submit(
                slices.advance_slice, configuration.to_dict(), checkpoint, key=f"cue-{run}-{step}", pure=False
            )
            advanced = await future
            await self._tell(run, advanced)
            del future  # kept until the result is told: whoever asks for this slice meanwhile still shares it
            return advanced

    async def compute(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One short call of `function` on a worker. Raises Lost or Failed."""
        async with self._asked():
            return await self.client.submit(function, *arguments, pure=False)

    @asynccontextmanager
    async def _asked(self) -> AsyncIterator[None]:
        """Whatever may happen to a slice, as Lost or Failed."""
        if not self.alive:
            raise Lost("no connection")
        try:
            yield
        except (OSError, asyncio.TimeoutError, self.distributed.CancelledError) as problem:
            raise Lost(one_line(problem)) from None
        except self.distributed.scheduler.KilledWorker:
            raise Failed("the training processes died again and again in this piece of work") from None
        except Exception as problem:  # whatever a worker raises comes out here
            log.error("a slice failed: %s", one_line(problem))
            raise Failed(f"it failed on the server ({type(problem).__name__})") from None

    # On a shared scheduler the newest checkpoint of each run at work lies with the scheduler, so that a second web process
    # joins a run where it stands and the two go on in step.

    async def _ahead(self, run: str, step: int) -> Progress | None:
        if self.address is None or (await self.client.get_metadata([told(run), "step"], None) or 0) <= step:
            return None
        checkpoint = await self.client.get_metadata([told(run), "checkpoint"], None)
        return slices.progress(from_bytes(checkpoint)) if checkpoint else None

    async def _tell(self, run: str, progress: Progress) -> None:
        if self.address is not None and not progress.diverged:
            await self.client.set_metadata([told(run)], {"step": progress.step, "checkpoint": progress.checkpoint})

    async def forget(self, configuration: Configuration) -> None:
        """Nobody here works on the run any more."""
        if self.address is not None and self.alive:
            try:
                await self.client.set_metadata([told(configuration.key())], {})
            except (OSError, asyncio.TimeoutError):
                pass  # a scheduler that is gone has forgotten it

    async def close(self) -> None:
        """Leave the cluster, and end it when it is our own."""
        client, self.client, self.slots = self.client, None, 0
        if client is not None:
            try:
                await asyncio.wait_for(client.close(), 5)
            except (OSError, asyncio.TimeoutError, asyncio.CancelledError):
                pass  # it was gone already
        child, self.child = self.child, None
        if child is not None:
            child.stdin.close()
            try:
                await asyncio.wait_for(child.wait(), 5)
            except asyncio.TimeoutError:
                child.kill()

    def end(self) -> None:
        """`close` for a server that is going down at this moment: its own cluster sees the end of its input."""
        if self.child is not None and self.child.returncode is None:
            self.child.stdin.close()


def told(run: str) -> str:
    return f"book-run-{run}"


def one_line(problem: BaseException) -> str:
    return " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
