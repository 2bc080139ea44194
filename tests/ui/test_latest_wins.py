"""On a slow line the newest values win: one step is on its way at most, and the last one is never lost."""

from __future__ import annotations

from typing import Callable

import pytest
from playwright.sync_api import WebSocket

from tests.ui.reader import SLIDER, Reader
from tests.ui.serving import Relay, Server


class Traffic:
    """Counts the steps that a page has asked for and had answered."""

    def __init__(self, reader: Reader) -> None:
        self.asked = self.answered = self.most = 0
        reader.page.on("websocket", self._watch)

    def _watch(self, line: WebSocket) -> None:
        line.on("framesent", self._sent)
        line.on("framereceived", self._received)

    def _sent(self, frame: str | bytes) -> None:
        if isinstance(frame, str) and "MessageSent" in frame and '\\"kind\\":\\"step\\"' in frame:
            self.asked += 1
            self.most = max(self.most, self.asked - self.answered)

    def _received(self, frame: str | bytes) -> None:
        if isinstance(frame, str) and "MessageSent" in frame and '\\"facts\\"' in frame:
            self.answered += 1


@pytest.mark.parametrize("section", ["three_tokens", "position"])
def test_a_drag_over_a_slow_line_ends_at_the_sliders_last_value(readers: Callable[..., Reader], server: Server, section: str) -> None:
    with Relay(server.port, delay=0.2) as relay:
        reader = readers(relay.address)
        traffic = Traffic(reader)
        reader.open(section)
        reader.open_twins()
        name = SLIDER[section]
        moves = 40
        reader.drag(name, [0.2 + 0.6 * k / moves for k in range(moves)], release=False)
        slider = reader.control(name)
        value = float(slider.input_value())
        entry = reader.locate(f'[data-entry="{name}"]').input_value()
        assert float(entry) == value, "the field beside the slider does not wait for the server"
        reader.page.mouse.up()
        reader.shows(section, **{name: int(value) if section == "position" else value})
        reader.live()
        assert traffic.most == 1
        assert traffic.asked == traffic.answered
        assert 2 < traffic.asked < moves


def test_one_step_is_one_message_even_on_a_fast_line(reader: Reader) -> None:
    traffic = Traffic(reader)
    reader.open("three_tokens")
    first = traffic.asked
    for _ in range(5):
        value = reader.press("q00", "ArrowRight")
        reader.shows("three_tokens", q00=value)
    assert (first, traffic.asked - first) == (1, 5)
