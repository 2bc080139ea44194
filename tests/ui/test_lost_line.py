"""The line to the server breaks: the page says so calmly, keeps numbers and values, and comes back by itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Callable, Iterator

import numpy as np
import pytest

from content.strings import STRINGS
from tests.ui.reader import Reader, eventually, trace_at
from tests.ui.serving import Relay, Server

BROKEN = ["WebSocket connection to", "net::ERR_"]  # what browsers write when a host is away; no page can keep them from it


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers that a test may kill."""
    started: list[Server] = []

    def start(*flags: str) -> Server:
        started.append(Server(tmp_path / f"log{len(started)}.txt", *flags).start())
        return started[-1]

    yield start
    for server in started:
        server.kill()
        assert server.tracebacks() == []


def offline(reader: Reader) -> None:
    def said() -> None:
        assert reader.status() == "offline"

    eventually(said)


def test_a_server_that_goes_away_and_comes_back_costs_the_reader_nothing(readers: Callable[..., Reader], fragile: Callable[..., Server]) -> None:
    server = fragile()
    reader = readers(server.address)
    reader.forgiven = BROKEN
    reader.open("three_tokens", "uk")
    reader.press("q00", "ArrowRight")
    reader.shows("three_tokens", "uk", q00=1.05)

    server.kill()
    offline(reader)
    assert reader.locate(".status").inner_text() == STRINGS["uk"]["offline"]
    for _ in range(3):
        value = reader.press("q00", "ArrowRight")
    assert value == 1.2
    assert reader.locate('[data-entry="q00"]').input_value() == "1,20", "the slider answers by itself"
    assert reader.query()["q00"] == "1.2"
    np.testing.assert_array_equal(reader.numbers("weights"), trace_at("three_tokens", q00=1.05).weights.ravel())
    reader.cell("weights", 0).click()  # nobody to ask: nothing happens, and nothing breaks
    exercise = reader.locate(".exercise").first
    exercise.locator("input").fill("1")
    exercise.locator("button").click()
    eventually(lambda: _true(exercise.locator("output").inner_text() == STRINGS["uk"]["offline"]))
    assert reader.page.evaluate("getComputedStyle(document.querySelector('#lab')).pointerEvents") != "none"

    server.start()
    reader.live(patience=30)
    reader.shows("three_tokens", "uk", q00=1.2)
    assert reader.locate(".status").inner_text() == ""
    reader.press("q00", "ArrowLeft")
    reader.shows("three_tokens", "uk", q00=1.15)


def test_a_token_that_has_run_out_is_replaced(readers: Callable[..., Reader], fragile: Callable[..., Server]) -> None:
    """As after an hour's sleep: the line is gone, and the token the page came with is no longer taken."""
    server = fragile("--session-token-expiration", "2")
    reader = readers(server.address)
    reader.forgiven = BROKEN
    reader.open("masks", example="three", s1=1.5)
    opened = time.monotonic()
    reader.press("s1", "ArrowRight")
    value = float(reader.control("s1").input_value())
    time.sleep(max(0.0, 2.1 - (time.monotonic() - opened)))
    server.kill()
    offline(reader)
    server.start()
    reader.live(patience=30)
    reader.press("s1", "ArrowRight")
    reader.shows("masks", s1=round(value + 0.05, 10))


def test_a_line_that_has_gone_silent_is_given_up_and_opened_again(readers: Callable[..., Reader], server: Server) -> None:
    """A network that swallows everything without hanging up."""
    with Relay(server.port, delay=0.0) as relay:
        reader = readers(relay.address)
        reader.forgiven = BROKEN
        reader.open("three_tokens")
        relay.silent = True
        reader.press("q00", "End")
        offline(reader)
        relay.silent = False
        reader.live(patience=30)
        reader.shows("three_tokens", q00=3.0)


def _true(value: object) -> None:
    assert value
