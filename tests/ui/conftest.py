"""Browser tests: one server and one chromium for all, a fresh context for each test."""

from __future__ import annotations

import shutil
from typing import Any, Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.ui.reader import Reader, Seat
from tests.ui.serving import Server

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
)  # fmt: skip


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The book, served for all tests. What it logs must hold no traceback."""
    server = Server(tmp_path_factory.mktemp("server") / "log.txt").start()
    yield server
    server.kill()
    assert server.tracebacks() == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a way to any other host."""
    path = shutil.which("chromium")
    assert path, "no chromium found; `make test` installs one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def seats() -> dict[str, list[Seat]]:
    """Empty seats by what their readers asked for."""
    return {}


@pytest.fixture
def readers(browser: Browser, server: Server, seats: dict[str, list[Seat]]) -> Iterator[Callable[..., Reader]]:
    """Makes readers; at the end of the test none of them may have met an error or asked another host for anything."""
    made: list[tuple[list[Seat], Reader]] = []

    def make(address: str = server.address, **options: Any) -> Reader:
        empty = seats.setdefault(repr(sorted(options.items())), [])
        made.append((empty, Reader(empty.pop() if empty else Seat(browser, **options), address)))
        return made[-1][1]

    yield make
    complaints = [line for _, reader in made for line in reader.complaints()]
    for empty, reader in made:
        if reader.leave():
            empty.append(reader.seat)
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def reader(readers: Callable[..., Reader]) -> Reader:
    """One reader with a wide screen."""
    return readers()
