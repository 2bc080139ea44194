"""The few server settings that Panel does not expose, each with its reason.

Checked with Panel 1.9.4 / Bokeh 3.9.2 and Panel 1.10 / Bokeh 3.10; `tests/app/test_server.py` fails when one stops working.
"""

from __future__ import annotations

import os
from typing import Any

import panel.io.server as panel_server
from bokeh.server import urls
from bokeh.server.tornado import BokehTornado
from tornado.web import HTTPError, RequestHandler

from app import assets

LARGEST_MESSAGE = 64 * 1024  # bytes from a page; a step is under 2 kB
YEAR = 31_536_000  # seconds


def content_security_policy() -> str:
    """Everything from this server; pages may be framed by itself and by what BOOK_FRAME_ANCESTORS names (for an LMS)."""
    ancestors = os.environ.get("BOOK_FRAME_ANCESTORS", "").strip()
    return (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
        f"connect-src 'self' ws: wss:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self' {ancestors}"
    ).strip()


def safe_headers(handler: RequestHandler) -> None:
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
    """The page itself, with safe headers and nothing of the reader's request headers in its token."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        safe_headers(self)
        await super().get(*args, **kwargs)

    def _generate_token_payload(self) -> dict[str, Any]:
        payload = super()._generate_token_payload()
        return {**payload, "headers": {}, "cookies": {}, "arguments": {}}


def prepare() -> None:
    """Puts the settings in place. Called once, before the server starts."""
    handlers = [handler for _, handler in urls.per_app_patterns]
    page = next(k for k, handler in enumerate(handlers) if issubclass(handler, panel_server.DocHandler))
    urls.per_app_patterns[page] = (urls.per_app_patterns[page][0], PageHandler)
    if not any(pattern[1] is AssetHandler for pattern in urls.toplevel_patterns):
        urls.toplevel_patterns.append((r"/assets/([0-9a-f]{12})/(.+)", AssetHandler))
    send_at_once()
    limit_and_compress()


def send_at_once() -> None:
    """TCP_NODELAY on every page's socket.

    Bokeh sends a message as several frames; with Nagle's algorithm the last ones wait 40 ms for the browser's delayed ACK.
    """
    opened = panel_server.WSHandler.open

    def open(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.set_nodelay(True)
        return opened(self, *args, **kwargs)

    panel_server.WSHandler.open = open


def limit_and_compress() -> None:
    """Pages go out gzipped, and a socket message larger than any page sends closes its socket."""
    started = BokehTornado.__init__

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("compress_response", True)
        kwargs["websocket_max_message_size_bytes"] = LARGEST_MESSAGE
        started(self, *args, **kwargs)

    BokehTornado.__init__ = start
