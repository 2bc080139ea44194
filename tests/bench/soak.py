"""A day in a quarter of a minute: 1,000 pages opened, stepped and closed: `python -m tests.bench.soak`.

Afterwards the server's memory must be what it was after the first pages (±5 %), no session, socket or task may be left
and no traceback stand in its log.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import NamedTuple

from tests.bench.serving import FLAGS, Served
from tests.bench.student import DRAGS, Load, Student

SEATS = 20  # pages open at a time
STEPS = 3  # on each page
WARM = 200  # pages until caches are full and the allocator has settled
FORGOTTEN = 2.0  # seconds after which a session that nobody uses is dropped
QUICKLY = ("--unused-session-lifetime", "1000", "--check-unused-sessions", "500")


class Soak(NamedTuple):
    """What a server is after `pages` pages. Memory in MB."""

    pages: int
    seconds: float
    rss_warm: float
    rss_end: float
    inside_before: dict[str, int]
    inside_after: dict[str, int]
    tracebacks: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def growth(self) -> float:
        return self.rss_end / self.rss_warm - 1

    def failures(self) -> list[str]:
        """What is not as it must be."""
        said = [f"memory changed by {100 * self.growth:+.1f} %"] if abs(self.growth) > 0.05 else []
        for name, before in self.inside_before.items():
            if self.inside_after[name] > before:
                said.append(f"{name}: {before} before, {self.inside_after[name]} after")
        if self.tracebacks:
            said.append(f"{len(self.tracebacks)} tracebacks in the log, the first:\n{self.tracebacks[0]}")
        return said + list(self.errors[:5])


async def sit(served: Served, numbers: list[int], pages: int, errors: list[str]) -> None:
    """One seat: page after page until none is left to open."""
    load = Load(students=pages, mix=tuple(DRAGS))
    while numbers:
        student = Student(numbers.pop(), load, served.place)
        try:
            await student.open()
            for _ in range(STEPS):
                student.move(time.perf_counter())
                await student.quiet(10)
            if student.error or student.wrong() or student.unanswered():
                what = f"{student.wrong()} wrong numbers, {student.unanswered()} unanswered"
                errors.append(student.error or f"student {student.number}: {what}")
            student.leave()
        except (OSError, EOFError) as error:
            errors.append(f"student {student.number}: {error!r}")


async def open_and_close(served: Served, pages: int, errors: list[str]) -> None:
    numbers = list(range(pages))
    await asyncio.gather(*(sit(served, numbers, pages, errors) for _ in range(SEATS)))
    await asyncio.sleep(FORGOTTEN)


def soak(pages: int = 1000) -> Soak:
    errors: list[str] = []
    with Served("app", (*FLAGS, *QUICKLY), panel="tests.bench.inside") as served:
        asyncio.run(open_and_close(served, WARM, errors))
        before, warm = served.inside(), served.reading()
        start = time.perf_counter()
        asyncio.run(open_and_close(served, pages, errors))
        seconds = time.perf_counter() - start - FORGOTTEN
        after, end = served.inside(), served.reading()
        return Soak(pages, seconds, warm.rss / 1e6, end.rss / 1e6, before, after, tuple(served.tracebacks()), tuple(errors))


def counts(inside: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in inside.items())


def told(result: Soak) -> str:
    return (
        f"{result.pages} pages opened and closed in {result.seconds:.0f} s, {STEPS} steps on each\n"
        f"memory {result.rss_warm:.1f} MB after the first {WARM}, {result.rss_end:.1f} MB at the end "
        f"({100 * result.growth:+.1f} %)\n"
        f"alive before: {counts(result.inside_before)}; after: {counts(result.inside_after)}; "
        f"{len(result.tracebacks)} tracebacks in the log"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    result = soak(parser.parse_args().pages)
    print(told(result))
    if failures := result.failures():
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
