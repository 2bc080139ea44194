"""A slow line in front of a server on this machine: every byte through a TCP relay that delays and meters it.

The browser's own throttling leaves websockets alone, so the line itself is slowed, for every server alike. Bytes of all
connections share one pipe in each direction, as behind one home router: a piece of n bytes occupies it for n / rate
seconds and arrives half a round trip later. A new connection costs one more round trip (TCP's handshake). No loss, no slow start.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

PIECE = 8192  # bytes read at once: 6.5 ms of a 10 Mbit/s line
AHEAD = 12  # pieces of one connection under way at most; more than the line holds


class Pipe:
    """One direction of the line."""

    def __init__(self, rate: float | None, delay: float) -> None:
        self.rate, self.delay = rate, delay  # bytes a second, seconds
        self.free = 0.0  # when the last byte taken will have gone in
        self.carried = 0

    def arrival(self, size: int, now: float) -> float:
        """Takes `size` bytes; when they come out at the far end."""
        self.carried += size
        if self.rate is None:
            return now + self.delay
        self.free = max(self.free, now) + size / self.rate
        return self.free + self.delay


class Relay:
    """Listens on a port of its own (`port`) and passes everything to `target`; runs in a thread: `with Relay(5006) as relay:`."""

    def __init__(self, target: int, *, mbit: float | None = None, round_trip: float = 0.0, port: int = 0) -> None:
        self.target, self.round_trip, self.port = target, round_trip, port
        rate = None if mbit is None else mbit * 1e6 / 8
        self.up, self.down = Pipe(rate, round_trip / 2), Pipe(rate, round_trip / 2)

    def __enter__(self) -> Relay:
        listening = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve(listening)), daemon=True)
        self.thread.start()
        listening.wait(10)
        return self

    def __exit__(self, *_: Any) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(10)

    async def serve(self, listening: threading.Event) -> None:
        self.loop, self.stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self.accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        await self.stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self.round_trip)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(carry(reader, far_writer, self.up), carry(far_reader, writer, self.down))
        except asyncio.CancelledError:
            pass  # the relay stops while the line is open


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pipe: Pipe) -> None:
    """Moves bytes one way until that way is closed."""
    loop = asyncio.get_running_loop()
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(AHEAD)

    async def hand_over() -> None:
        while True:
            at, data = await under_way.get()
            await asyncio.sleep(at - loop.time())
            if not data:
                return
            writer.write(data)
            await writer.drain()

    hands = asyncio.create_task(hand_over())
    try:
        while data := await reader.read(PIECE):
            await under_way.put((pipe.arrival(len(data), loop.time()), data))
        await under_way.put((pipe.arrival(0, loop.time()), b""))
        await hands
    except OSError:
        pass
    finally:
        hands.cancel()
        writer.close()


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=int, help="port of the server")
    parser.add_argument("port", type=int, help="port to listen on")
    parser.add_argument("--mbit", type=float, default=10.0)
    parser.add_argument("--round-trip", type=float, default=40.0, help="milliseconds")
    args = parser.parse_args()
    with Relay(args.target, mbit=args.mbit, round_trip=args.round_trip / 1000, port=args.port) as relay:
        print(f"{relay.port} -> {args.target}: {args.mbit:g} Mbit/s, {args.round_trip:g} ms round trip", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
