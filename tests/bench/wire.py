"""A page's line to the server, as a browser speaks it: HTTP for the page, websocket frames, Bokeh's messages. Only asyncio.

Written for load: a frame costs a few microseconds, so that hundreds of readers fit in one process. The hostile reader
uses it too, since it sends whatever bytes it is given.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import struct
from base64 import b64encode
from typing import Any, Callable, NamedTuple, Sequence

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
TOKEN = re.compile(r'"token":\s*"([^"]+)"')
ASSET = re.compile(r'(?:src|href)="((?:assets|static)/[^"]+\.(?:js|css|woff2|svg)[^"]*)"')


Hear = Callable[[list[bytes]], None]
Lost = Callable[[int | None], None]


class Refused(ConnectionError):
    """The server said no to a page or a socket; `status` is its HTTP status."""

    def __init__(self, status: int, path: str) -> None:
        super().__init__(f"status {status} for {path}")
        self.status = status


class Place(NamedTuple):
    """Where a server listens and what stands in a browser's address line."""

    port: int
    app: str = "/app"
    name: str = "localhost"

    @property
    def host(self) -> str:
        return f"{self.name}:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"


class Visit:
    """One HTTP connection that is kept open, as browsers do."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.received = 0  # bytes of bodies as they came over the wire

    async def __aenter__(self) -> Visit:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.place.port, limit=2**20)
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.writer.close()

    async def get(self, path: str) -> bytes:
        """The body at `path`, unpacked. Raises `Refused` unless the status is 200."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.place.host}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, *lines = head.splitlines()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        self.received += len(body)
        if int(status.split()[1]) != 200:
            raise Refused(int(status.split()[1]), path)
        return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


def frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """One frame from a client. Its mask is zeros: the server unmasks it all the same, and the client need not mask."""
    size = len(payload)
    if size < 126:
        head = bytes((0x80 | opcode, 0x80 | size))
    elif size < 2**16:
        head = struct.pack("!BBH", 0x80 | opcode, 0xFE, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0xFF, size)
    return head + b"\0\0\0\0" + payload


class Line(asyncio.Protocol):
    """A socket of Bokeh's protocol. `hear(frames)` gets each whole message, `lost(code)` the end of the line."""

    def __init__(self, hear: Hear, lost: Lost) -> None:
        self.hear, self.lost = hear, lost
        self.rest = b""
        self.frames: list[bytes] = []
        self.wanted = 3
        self.code: int | None = None  # status code of the server's close frame
        self.closed = False
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.upgraded = False

    @classmethod
    async def open(cls, place: Place, token: str, hear: Hear, lost: Lost = lambda code: None, origin: str | None = None) -> Line:
        """Opens the socket and waits for the server's greeting (ACK). Raises `Refused`, or ConnectionError when it is closed."""
        _, line = await asyncio.get_running_loop().create_connection(lambda: cls(hear, lost), "127.0.0.1", place.port)
        line.path = f"{place.app}/ws"
        line.transport.write((
            f"GET {line.path} HTTP/1.1\r\nHost: {place.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: bokeh, {token}\r\nOrigin: {origin or place.origin}\r\n\r\n"
        ).encode())  # fmt: skip
        await line.greeted
        return line

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        if not self.greeted.done():
            self.greeted.set_exception(ConnectionError(f"closed before the greeting, code {self.code}"))
        self.lost(self.code)

    def data_received(self, data: bytes) -> None:
        data = self.rest + data if self.rest else data
        if not self.upgraded:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self.rest = head
                return
            status = int(head.split(None, 2)[1])
            if status != 101:
                self.transport.close()
                if not self.greeted.done():
                    self.greeted.set_exception(Refused(status, self.path))
                return
            self.upgraded = True
        at, end = 0, len(data)
        while end - at >= 2:
            size, start = data[at + 1] & 0x7F, at + 2
            if size == 126:
                start += 2
                size = int.from_bytes(data[at + 2 : start], "big") if start <= end else end
            elif size == 127:
                start += 8
                size = int.from_bytes(data[at + 2 : start], "big") if start <= end else end
            if start + size > end:
                break
            self.take(data[at] & 0x0F, data[start : start + size])
            at = start + size
        self.rest = data[at:]

    def take(self, opcode: int, payload: bytes) -> None:
        """One frame from the server."""
        if opcode == PING:
            self.transport.write(frame(payload, PONG))
            return
        if opcode == CLOSE:
            self.code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else None
            self.transport.write(frame(payload[:2], CLOSE))
            self.transport.close()
            return
        self.frames.append(payload)
        if len(self.frames) == 1:
            self.wanted = 3 + 2 * (json.loads(payload).get("num_buffers") or 0)
        if len(self.frames) < self.wanted:
            return
        message, self.frames = self.frames, []
        if not self.greeted.done():
            self.greeted.set_result(None)  # the first message is the ACK
        else:
            self.hear(message)

    def send(self, msgtype: str, content: str, msgid: str = "0") -> None:
        """Three frames, each handed to the network on its own, as a page's script does."""
        write = self.transport.write
        write(frame(f'{{"msgid":"{msgid}","msgtype":"{msgtype}"}}'.encode()))
        write(frame(b"{}"))
        write(frame(content.encode()))

    def close(self) -> None:
        """Says goodbye as a browser does that leaves the page."""
        if not self.closed:
            self.transport.write(frame(struct.pack("!H", 1001), CLOSE))
            self.transport.close()


async def fetch_page(place: Place, query: str, *, assets: bool) -> tuple[str, Callable[[], Any]]:
    """The HTML of a page, and a coroutine function that fetches what it names over six connections, as a first visit does."""
    async with Visit(place) as visit:
        html = (await visit.get(f"{place.app}{query}")).decode()
    names = list(dict.fromkeys(ASSET.findall(html))) if assets else []

    async def rest() -> None:
        await asyncio.gather(*(fetch_some(place, names[k::6]) for k in range(6) if names[k::6]))

    return html, rest


async def fetch_some(place: Place, names: Sequence[str]) -> None:
    base = place.app.rsplit("/", 1)[0]
    async with Visit(place) as visit:
        for name in names:
            await visit.get(f"{base}/{name}")
