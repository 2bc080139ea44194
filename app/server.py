"""The few server settings that Panel does not expose, each with its reason.

Checked with Panel 1.9.4 / Bokeh 3.9.2 and Panel 1.10 / Bokeh 3.10; `tests/app/test_server.py` fails when one stops working.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import logging
import os
import resource
import struct
import time
from functools import partial
from typing import Any
from urllib.parse import urlparse

import bokeh.server.server as bokeh_server
import panel.io.server as panel_server
from bokeh.server import urls
from bokeh.server.tornado import BokehTornado
from bokeh.settings import settings
from bokeh.util.token import get_token_payload
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler, authenticated

from app import assets, metrics, steps

log = logging.getLogger(__name__)

LARGEST_MESSAGE = 64 * 1024  # bytes from a page; a step is under 2 kB
SMALL_BODY = 2048  # bytes of arrays that go as text: two frames less on the wire
RATE, BURST = 200, 600  # messages a second from one page, and how many at once; a drag on a fast screen sends 144
TEXT, BINARY = 1, 2  # kinds of websocket frame
YEAR = 31_536_000  # seconds
IDLE = 60  # seconds


def content_security_policy() -> str:
    """Everything from this server; pages may be framed by itself and by what BOOK_FRAME_ANCESTORS names (for an LMS)."""
    ancestors = os.environ.get("BOOK_FRAME_ANCESTORS", "").strip()
    return (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
        f"connect-src 'self' ws: wss:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self' {ancestors}"
    ).strip()


def safe_headers(handler: RequestHandler) -> None:
    """What every answer says to the browser about what it may do with it."""
    handler.set_header("Content-Security-Policy", content_security_policy())
    handler.set_header("X-Content-Type-Options", "nosniff")
    handler.set_header("Referrer-Policy", "same-origin")


class AssetHandler(RequestHandler):
    """Front-end files: compressed once for all readers, and cached by browsers for good under a versioned address."""

    def get(self, digest: str, name: str) -> None:
        try:
            asset = assets.read(name)
        except KeyError:
            raise HTTPError(404) from None
        safe_headers(self)
        self.set_header("Content-Type", asset.type)
        self.set_header("Vary", "Accept-Encoding")
        fresh = digest == assets.digest()
        self.set_header("Cache-Control", f"public, max-age={YEAR}, immutable" if fresh else "no-cache")
        if asset.gzipped and "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(asset.gzipped)
        else:
            self.finish(asset.plain)


class PageHandler(panel_server.DocHandler):
    """The page itself, with safe headers.

    The session's own template is rendered here: Panel would first walk every model class and resource for script tags
    that our template does not use, which took half of the time of opening a page.
    """

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        session = await self.get_session()
        document = session.document
        safe_headers(self)
        self.set_header("Cache-Control", "no-store")  # the token in it is this reader's and does not live long
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(document.template.render(**document.template_variables, token=session.token))


class PageSocket(panel_server.WSHandler):
    """A page's line to its lab, checked at the border.

    A lab message goes straight to `steps.answer`, past Bokeh's document, patch and lock, since nothing of it is kept:
    this halves the CPU of a step. Of Bokeh's own messages a page may pull its document and ask for the server's
    version; whatever else comes ends the line with one line in the log, and no traceback.
    """

    frames: list[str]

    def open(self, *args: Any, **kwargs: Any) -> Any:
        # TCP_NODELAY: an answer is several frames, and with Nagle's algorithm the last one waits 40 ms for the browser's ACK.
        self.set_nodelay(True)
        self.frames = []
        self.allowance, self.counted = float(BURST), time.monotonic()
        metrics.SOCKETS.inc()
        try:
            return super().open(*args, **kwargs)
        except Exception as problem:  # a token may hold anything, and Bokeh reads it unguarded; a line in the log is enough
            log.info("line refused: %.200r", problem)
            self.close(1008, "bad token")

    def on_close(self) -> None:
        if hasattr(self, "frames"):
            metrics.SOCKETS.dec()
        super().on_close()

    def check_origin(self, origin: str) -> bool:
        """Pages of this very host may connect, whatever its name, unless BOKEH_ALLOW_WS_ORIGIN says who may."""
        if not settings.allowed_ws_origin() and urlparse(origin).netloc.lower() == self.request.host.lower():
            return True
        return super().check_origin(origin)

    async def _async_open(self, token: str) -> None:
        try:
            payload = get_token_payload(token)
            if not all(isinstance(payload.get(part, {}), dict) for part in ("headers", "cookies", "arguments")):
                raise ValueError("a token whose parts are of another kind")
            await super()._async_open(token)
        except Exception as problem:
            log.info("line refused: %.200r", problem)
            self.close(1008, "bad token")

    async def on_message(self, fragment: str | bytes) -> None:
        if not isinstance(fragment, str):
            return self._refuse("a binary frame")
        self.frames.append(fragment)
        if len(self.frames) < 3:
            return None
        (header, _, content), self.frames = self.frames, []
        if not self._may_send():
            return self._refuse("too many messages")
        try:
            message, text = read_message(header, content)
        except ValueError as problem:
            return self._refuse(str(problem))
        if text is None:
            for frame in (header, "{}", content):
                await super().on_message(frame)
            return None
        with metrics.STEP_SECONDS.time():
            head, body = steps.answer(text)
        await self._send(message, head, body)
        await asyncio.sleep(0)  # other readers' turn, even when this one has more messages waiting
        return None

    async def _send(self, message: str, head: str, body: bytes) -> None:
        """An answer as Bokeh's MessageSent event. Small arrays stand in the text, large ones in a buffer of their own.

        All frames go out in one write: a system call and a wake-up of the browser instead of three to five. Waiting
        for it to leave means that a reader who does not read is not read from either.
        """
        small = len(body) <= SMALL_BODY
        data: Any = base64.b64encode(body).decode() if small else {"type": "bytes", "data": {"id": "body"}}
        content = {"events": [{"kind": "MessageSent", "msg_type": "lab", "msg_data": [head, data]}]}
        header = {"msgid": f"a{message}", "msgtype": "PATCH-DOC", **({} if small else {"num_buffers": 1})}
        frames = [websocket_frame(part.encode()) for part in (json.dumps(header), "{}", json.dumps(content))]
        if not small:
            frames += [websocket_frame(b'{"id":"body"}'), websocket_frame(body, BINARY)]
        try:
            with await self.write_lock.acquire():
                await self.ws_connection.stream.write(b"".join(frames))
        except (StreamClosedError, AttributeError):
            pass  # the reader has left; Tornado has taken the connection away

    def _may_send(self) -> bool:
        """A leaky bucket: pages send a message for each frame of a drag at most."""
        now = time.monotonic()
        self.allowance = min(BURST, self.allowance + (now - self.counted) * RATE) - 1
        self.counted = now
        return self.allowance >= 0

    def _refuse(self, what: str) -> None:
        if not self.close_code and not getattr(self, "refused", False):
            self.refused = True
            metrics.REFUSED.inc()
            log.warning("line closed by the server: %s", what)
            self.close(1008, "refused")


def websocket_frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """One unmasked, uncompressed frame from a server (RFC 6455, section 5.2).

    >>> websocket_frame(b"hi").hex()
    '81026869'
    """
    size = len(payload)
    if size < 126:
        return struct.pack("!BB", 0x80 | opcode, size) + payload
    if size < 65536:
        return struct.pack("!BBH", 0x80 | opcode, 126, size) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, size) + payload


def read_message(header: str, content: str) -> tuple[str, str | None]:
    """Id of a page's message and the lab's text in it; None for one of Bokeh's own that a page may send.

    Raises ValueError, saying what was wrong, for everything else.
    """
    try:
        head = json.loads(header)
        kind = head["msgtype"]
        message = str(head["msgid"])[:64]
        if kind in ("PULL-DOC-REQ", "SERVER-INFO-REQ") and content == "{}":
            return message, None
        if kind != "PATCH-DOC":
            raise ValueError(f"a message of type {str(kind)[:40]!r}")
        (event,) = json.loads(content)["events"]
        if event["kind"] != "MessageSent" or event["msg_type"] != "lab" or not isinstance(event["msg_data"], str):
            raise ValueError("an event that is not the lab's")
        return message, event["msg_data"]
    except (KeyError, TypeError, RecursionError) as problem:
        raise ValueError(f"a malformed message ({type(problem).__name__})") from None


class LivenessHandler(RequestHandler):
    """`/liveness` says that the event loop turns, for health checks."""

    def get(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.finish({"alive": True})


class MetricsHandler(RequestHandler):
    """`/metrics` in Prometheus text, only for callers with the token in BOOK_METRICS_TOKEN; without one it does not exist."""

    def get(self) -> None:
        token = os.environ.get("BOOK_METRICS_TOKEN", "")
        given = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not token or not hmac.compare_digest(given.encode(), token.encode()):
            raise HTTPError(404)
        self.set_header("Content-Type", metrics.CONTENT_TYPE)
        self.finish(metrics.text())


ROUTES = [
    (r"/assets/([0-9a-f]{12})/(.+)", AssetHandler),
    (r"/liveness", LivenessHandler),
    (r"/metrics", MetricsHandler),
]


def prepare() -> None:
    """Puts the settings in place. Called once, before the server starts."""
    level = os.environ.get("BOOK_LOG_LEVEL", "INFO").upper()
    logging.getLogger("app").setLevel(level)
    if level != "DEBUG":
        logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)  # three lines for each page opened and left
    if os.environ.get("BOKEH_SECRET_KEY"):
        os.environ.setdefault("BOKEH_SIGN_SESSIONS", "yes")  # a secret is there to be used
    ours = {panel_server.DocHandler: PageHandler, panel_server.WSHandler: PageSocket}
    urls.per_app_patterns[:] = [(route, ours.get(handler, handler)) for route, handler, *_ in urls.per_app_patterns]
    urls.toplevel_patterns[:0] = ROUTES
    limit_and_compress()
    close_idle_connections()
    allow_many_sockets()


def limit_and_compress() -> None:
    """Pages go out gzipped, tokens without their reader's headers and cookies; a message larger than a page's closes its line."""
    started = BokehTornado.__init__

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("compress_response", True)
        kwargs["include_headers"] = kwargs["include_cookies"] = []
        kwargs["websocket_max_message_size_bytes"] = LARGEST_MESSAGE
        started(self, *args, **kwargs)

    BokehTornado.__init__ = start


def close_idle_connections() -> None:
    """A connection that sends no request is closed after a minute; Tornado alone would keep it for an hour."""
    bokeh_server.HTTPServer = partial(HTTPServer, idle_connection_timeout=IDLE)


def allow_many_sockets() -> None:
    """As many open sockets as the system lets this process have: a cohort's browsers hold several each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else max(soft, 65536), hard))
