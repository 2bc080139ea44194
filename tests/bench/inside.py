"""`python -m tests.bench.inside serve app …` is `panel serve app …` with two more addresses.

`/inside` tells what is alive, `/steps` when the newest messages came and were answered.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections import Counter, deque
from typing import Any

from bokeh.document import Document
from bokeh.server import urls
from bokeh.server.session import ServerSession
from bokeh.server.views.ws import WSHandler
from panel.command import main
from tornado.web import RequestHandler


class InsideHandler(RequestHandler):
    """Numbers of sessions, documents, sockets and asyncio's tasks, after a collection of garbage."""

    def get(self) -> None:
        gc.collect()
        kinds = Counter(type(thing) for thing in gc.get_objects())

        def count(kind: type) -> int:
            return sum(number for other, number in kinds.items() if issubclass(other, kind))

        self.finish({
            "sessions": count(ServerSession),
            "documents": count(Document),
            "sockets": count(WSHandler),
            "tasks": len(asyncio.all_tasks()),
        })  # fmt: skip


STEPS: deque[tuple[int, float, float]] = deque(maxlen=2000)  # id, begin and end, in ms of the wall clock


class StepsHandler(RequestHandler):
    """When the newest messages were taken up and when their answers were ready."""

    def get(self) -> None:
        self.finish({"steps": list(STEPS)})


def watch_steps() -> None:
    """Notes begin and end of each answer."""
    from app import steps

    answer = steps.answer

    def timed(text: Any) -> tuple[str, bytes]:
        begin = time.time()
        head, body = answer(text)
        STEPS.append((json.loads(head)["id"], 1000 * begin, 1000 * time.time()))
        return head, body

    steps.answer = timed


if __name__ == "__main__":
    watch_steps()
    urls.toplevel_patterns.append((r"/steps", StepsHandler))
    urls.toplevel_patterns.append((r"/inside", InsideHandler))
    main()
