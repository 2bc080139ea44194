"""A server under test in its own process: started on a free port, measured from outside, its log read at the end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import MappingProxyType
from typing import Any, Mapping, NamedTuple, Sequence

import psutil

from tests.bench.wire import Place
from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[2]
# As in the Makefile, but a session that nobody uses is dropped sooner, so that a short run sees what is given back.
FLAGS = ("--session-token-expiration", "28800", "--unused-session-lifetime", "15000", "--check-unused-sessions", "1000")


class Reading(NamedTuple):
    """What a server's processes have used up so far."""

    cpu: float  # seconds
    rss: float  # bytes


class Served:
    """`panel serve FOLDER`; `with Served(…) as served:` stops it in the end."""

    def __init__(
        self,
        folder: str = "app",
        flags: Sequence[str] = FLAGS,
        *,
        names: Sequence[int] = (),
        env: Mapping[str, str] = MappingProxyType({}),
        panel: str = "panel",
    ) -> None:
        """`names` are more ports under which readers may come (relays); `panel` is the module that is run."""
        self.port = free_port()
        self.place = Place(self.port, "/" + Path(folder).name)
        self.command = [sys.executable, "-m", panel, "serve", folder, "--port", str(self.port), *flags]
        origins = ",".join(f"localhost:{port}" for port in (self.port, *names))
        self.env = {**os.environ, "BOKEH_ALLOW_WS_ORIGIN": origins, "PYTHONPATH": str(ROOT), **env}

    def __enter__(self) -> Served:
        self.log_file = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(self.command, cwd=ROOT, env=self.env, stdout=self.log_file, stderr=subprocess.STDOUT)
        self.watched = psutil.Process(self.process.pid)
        for _ in range(300):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"http://localhost:{self.port}{self.place.app}", timeout=20).read()
                return self
            except urllib.error.HTTPError as error:
                raise RuntimeError(f"{self.place.app} answers {error.code}\n{self.log()}") from None
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not start\n{self.log()}")

    def __exit__(self, *_: Any) -> None:
        children = self.watched.children(recursive=True) if self.alive() else []
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        for child in psutil.wait_procs(children, timeout=2)[1]:
            child.kill()
        self.log_file.close()

    def alive(self) -> bool:
        return self.process.poll() is None

    def reading(self) -> Reading:
        cpu = rss = 0.0
        for process in (self.watched, *self.watched.children(recursive=True)):
            try:
                times = process.cpu_times()
                cpu += times.user + times.system
                rss += process.memory_info().rss
            except psutil.NoSuchProcess:
                pass
        return Reading(cpu, rss)

    def log(self) -> str:
        self.log_file.flush()
        self.log_file.seek(0)
        text = self.log_file.read()
        self.log_file.seek(0, os.SEEK_END)
        return text

    def tracebacks(self) -> list[str]:
        """The tracebacks in the log, each with the line before it."""
        return re.findall(r"(?:^.*\n)?^Traceback(?:.*\n)(?:[ \t].*\n)*.*$", self.log(), re.M)

    def steps(self) -> dict[int, tuple[float, float]]:
        """Begin and end of the newest answers by message id, ms of the wall clock, in a server started as `tests.bench.inside`."""
        told = json.loads(urllib.request.urlopen(f"http://localhost:{self.port}/steps", timeout=20).read())
        return {id: (begin, end) for id, begin, end in told["steps"]}

    def inside(self) -> dict[str, int]:
        """What is alive in a server that was started as `tests.bench.inside`."""
        return json.loads(urllib.request.urlopen(f"http://localhost:{self.port}/inside", timeout=20).read())
