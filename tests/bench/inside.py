"""`python -m tests.bench.inside serve app …` is `panel serve app …` with one more address: `/inside` tells what is alive."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

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


if __name__ == "__main__":
    urls.toplevel_patterns.append((r"/inside", InsideHandler))
    main()
