"""The measurement of layers as a reader meets it: started by a button, drawn as it grows, kept for whoever comes later."""

from __future__ import annotations

import csv
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator

import numpy as np
import pytest

from content.experiments.layer_times import KINDS, LENGTHS
from tests.ui.reader import Reader, eventually
from tests.ui.serving import Server

PATIENCE = 120.0  # seconds; a worker process starts first, on a machine that others use
CELLS = len(KINDS) * len(LENGTHS)
CITED = ["37.8", "–", "7.7"]


@contextmanager
def served(folder: Path, data: Path) -> Iterator[Server]:
    """A book of our own that keeps its measurement in `data`."""
    before = os.environ.get("BOOK_DATA")
    os.environ["BOOK_DATA"] = str(data)
    try:
        server = Server(folder / "log.txt").start()
    finally:
        if before is None:
            del os.environ["BOOK_DATA"]
        else:
            os.environ["BOOK_DATA"] = before
    yield server
    server.kill()
    assert "Traceback" not in server.said(), server.said()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hall")
    with served(folder, folder / "data") as server:
        yield server


def state(reader: Reader) -> str | None:
    return reader.locate(".measurement").get_attribute("data-state")


def medians(reader: Reader) -> list[float]:
    """Medians in the table, row by row."""
    cells = "[...document.querySelectorAll('.measurement td[data-median]')]"
    return reader.page.evaluate(f"{cells}.map((cell) => +cell.dataset.median)")


def until(reader: Reader, *states: str) -> None:
    def reached() -> None:
        assert state(reader) in states, reader.locate(".measurement").inner_text()

    eventually(reached, PATIENCE)


def test_a_reader_starts_the_measurement_and_sees_picture_and_table_fill(readers: Callable[..., Reader], hall: Server) -> None:
    reader = readers(hall.address).open("connections")
    until(reader, "absent")
    assert medians(reader) == []
    reader.open_twins()
    assert reader.locate(".measurement tfoot td").all_inner_texts() == CITED
    plot = reader.locate(".measurement .plot")
    plot.scroll_into_view_if_needed()
    eventually(lambda: _true(plot.locator("canvas").count()))
    empty = plot.screenshot()
    reader.locate(".measurement .start").focus()
    reader.page.keyboard.press("Enter")
    until(reader, "running", "finished")
    other = readers(hall.address).open("connections", "ru")  # meets the same measurement, and starts none
    assert state(other) in (None, "running", "finished")
    until(reader, "finished")
    assert len(medians(reader)) == CELLS
    table = np.array(medians(reader)).reshape(len(LENGTHS), len(KINDS))
    assert (table > 0).all()
    assert (table[-1] > table[0]).all(), "64 times the length takes longer"
    assert plot.screenshot() != empty
    said = reader.locate(".measurement .outcome").inner_text()
    assert "Measured on this server" in said and "D = 64" in said
    assert not reader.locate(".measurement .start").is_visible()
    assert reader.page.evaluate("document.activeElement.tagName") == "SUMMARY", "the reader's place is not lost"
    until(other, "finished")
    assert medians(other) == medians(reader)
    _csv_holds_the_table(reader)


def test_who_comes_later_finds_it_at_once(readers: Callable[..., Reader], hall: Server) -> None:
    reader = readers(hall.address).open("connections", "uk")
    until(reader, "finished")
    assert len(medians(reader)) == CELLS
    assert "Виміряно на цьому сервері" in reader.locate(".measurement .outcome").inner_text()


def test_without_workers_the_page_says_why_and_keeps_what_is_cited(readers: Callable[..., Reader], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with served(tmp_path, tmp_path / "file") as server:  # nothing can be kept below a file
        reader = readers(server.address).open("connections")
        until(reader, "absent")
        reader.locate(".measurement .start").click()
        until(reader, "failed")
        said = reader.locate(".measurement .outcome").inner_text()
        assert said.startswith("There is no measurement:") and "data directory" in said
        assert reader.locate(".measurement .start").is_visible(), "it can be tried again"
        reader.open_twins()
        assert reader.locate(".measurement tfoot td").all_inner_texts() == CITED


def _csv_holds_the_table(reader: Reader) -> None:
    menu = reader.locate('[data-save="milliseconds"] details.save')
    menu.locator("summary").click()
    with reader.page.expect_download() as download:
        menu.get_by_text("CSV", exact=True).click()
    assert download.value.suggested_filename == "connections-milliseconds.csv"
    rows = list(csv.reader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert len(rows) == CELLS + 1
    for _, _, low, median, high in rows[1:]:
        assert float(low) <= float(median) <= float(high)
    assert sorted(float(row[3]) for row in rows[1:]) == sorted(medians(reader))


def _true(value: object) -> None:
    assert value
