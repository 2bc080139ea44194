"""A book of one's own for a test: `panel serve app` on a free port, and a slow line in front of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from itertools import pairwise
from pathlib import Path

from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """The book's server as a process. Its log goes to a file; `stop` and `start` again keep port and log."""

    def __init__(self, log: Path, *flags: str, port: int | None = None) -> None:
        self.log, self.flags, self.port, self.process = log, flags, port or free_port(), None

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}/app"

    def start(self) -> Server:
        panel = Path(sys.executable).with_name("panel")
        command = [str(panel), "serve", "app", "--port", str(self.port), *self.flags]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONUNBUFFERED": "1"}, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, f"the server ended:\n{self.said()}"
            try:
                urllib.request.urlopen(f"http://localhost:{self.port}/liveness", timeout=5).close()
                return self
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
        raise AssertionError(f"the server did not come up:\n{self.said()}")

    def kill(self) -> None:
        """Ends the process at once, as a power cut would."""
        self.process.kill()
        self.process.wait()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def tracebacks(self) -> list[str]:
        """The beginning of each traceback in the log."""
        return [text[-300:] + "Traceback" + after[:1500] for text, after in pairwise(self.said().split("Traceback"))]


class Relay:
    """A TCP relay that holds what the server sends back by `delay` seconds; while it is `silent`, nothing passes at all."""

    def __init__(self, target: int, delay: float) -> None:
        self.target, self.delay, self.silent, self.port = target, delay, False, free_port()
        self.ready = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}/app"

    def __enter__(self) -> Relay:
        self.thread.start()
        assert self.ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._accept, "localhost", self.port))
        self.ready.set()
        self.loop.run_forever()
        for task in (tasks := asyncio.all_tasks(self.loop)):
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("localhost", self.target)
        try:
            await asyncio.gather(self._pass(reader, far_writer, 0), self._pass(far_reader, writer, self.delay))
        except OSError:
            pass  # one end hung up
        finally:
            writer.close()
            far_writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
        """Each piece arrives `delay` after it came in, in order, however many are on their way."""
        pieces: asyncio.Queue = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0.0, due - self.loop.time()))
                if not piece:
                    writer.close()
                    return
                if self.silent:
                    continue
                writer.write(piece)
                await writer.drain()

        delivery = asyncio.create_task(deliver())
        try:
            piece = b"-"
            while piece:
                piece = await reader.read(65536)
                await pieces.put((self.loop.time() + delay, piece))
            await delivery
        finally:
            delivery.cancel()
