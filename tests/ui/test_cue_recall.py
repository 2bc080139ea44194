"""Training as a reader meets it: curves grow, a run is cancelled, a reload finds it going, the answer follows the cue."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator

from tests.ui.reader import Reader, eventually, trace_at
from tests.ui.serving import Server

PATIENCE = 90.0  # seconds; the worker processes start with the first run, on a machine that others use
SHORT = {"model": "gru", "delay": 2, "epochs": 8}
LONG = {"model": "rnn", "delay": 12, "epochs": 120}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A book of our own that keeps its runs in a folder of its own."""
    folder = tmp_path_factory.mktemp("hall")
    before = os.environ.get("BOOK_DATA")
    os.environ["BOOK_DATA"] = str(folder / "data")
    server = Server(folder / "log.txt").start()
    yield server
    server.kill()
    if before is None:
        del os.environ["BOOK_DATA"]
    else:
        os.environ["BOOK_DATA"] = before
    assert "Traceback" not in server.said(), server.said()


@pytest.fixture
def student(readers: Callable[..., Reader], hall: Server) -> Reader:
    return readers(hall.address)


def press(reader: Reader, act: str) -> None:
    reader.locate(f'[data-act="{act}"]').click()


def job(reader: Reader, number: int = 0) -> Locator:
    return reader.locate(".job").nth(number)


def state(reader: Reader, number: int = 0) -> str | None:
    return job(reader, number).get_attribute("data-state")


def epoch(reader: Reader, number: int = 0) -> int:
    return int(job(reader, number).get_attribute("data-epoch") or 0)


def wait_for(reader: Reader, wanted: str, number: int = 0) -> None:
    def reached() -> None:
        assert state(reader, number) == wanted, job(reader, number).inner_text()

    eventually(reached, PATIENCE)


def grown(reader: Reader, beyond: int, number: int = 0) -> int:
    def further() -> int:
        assert epoch(reader, number) > beyond, job(reader, number).inner_text()
        return epoch(reader, number)

    return eventually(further, PATIENCE)


def accuracies(reader: Reader) -> list[float]:
    """The first run's recall accuracy after each epoch, from the table beside the curves."""
    details = reader.locate("details.live")
    if details.get_attribute("open") is None:
        details.locator("summary").click()

    def numbers() -> list[float]:
        cells = reader.page.evaluate("[...document.querySelectorAll('details.live tbody tr')].map((row) => row.cells[1].textContent)")
        assert cells
        return [float(cell) for cell in cells]

    return eventually(numbers)


def leave_alone(reader: Reader, number: int = 0) -> None:
    """Cancels a run so that the next test has the server for itself."""
    button = job(reader, number).locator("button.cancel")
    if button.is_visible():
        button.click()


def test_a_reader_trains_and_sees_the_accuracy_rise_then_the_page_reads_this_run(student: Reader) -> None:
    student.open("cue_recall", **SHORT)
    assert student.locate(".not-own").is_visible(), "nobody has trained this run"
    assert student.tables()["answers"] is not None
    press(student, "train")
    wait_for(student, "finished")
    values = accuracies(student)
    assert len(values) == SHORT["epochs"]
    assert max(values[-2:]) > values[0] + 0.2
    assert values[-1] > 0.9
    assert student.locate(".chart svg .letter").first.text_content() == "A"
    assert "A" in (student.locate(".chart svg").first.get_attribute("aria-label") or "")

    def own() -> None:
        assert not student.locate(".not-own").is_visible()
        assert student.numbers("answers").reshape(4, 7)[:, :4].argmax(axis=1).tolist() == [0, 1, 2, 3]

    eventually(own)
    # The very same run once more comes from the store, at once.
    job(student).locator("button.again").click()
    wait_for(student, "finished")
    assert accuracies(student) == values


def test_a_reload_in_the_middle_of_a_run_finds_it_still_going(student: Reader) -> None:
    student.open("cue_recall", **LONG)
    press(student, "train")
    before = grown(student, 1)
    student.page.reload()
    student.live()
    assert job(student).is_visible()
    assert state(student) in ("queued", "running")
    after = grown(student, before)
    assert after > before
    assert after < LONG["epochs"]
    leave_alone(student)


def test_a_paused_run_waits_and_goes_on_from_where_it_was(student: Reader) -> None:
    student.open("cue_recall", **LONG | {"seed": 6210})
    press(student, "train")
    before = grown(student, 1)
    job(student).locator("button.pause").click()
    assert state(student) == "paused"
    student.page.wait_for_timeout(1200)
    rest = epoch(student)
    student.page.wait_for_timeout(1200)
    assert epoch(student) == rest
    job(student).locator("button.resume").click()
    assert grown(student, rest) >= before
    leave_alone(student)


def test_one_run_is_cancelled_while_another_waits_and_then_takes_its_turn(student: Reader) -> None:
    student.open("cue_recall", **LONG | {"seed": 6220})
    press(student, "train")
    student.locate('input[data-control="model"][value="gru"]').check(force=True)
    press(student, "train")
    assert student.locate(".job").count() == 2
    grown(student, 0)
    assert state(student, 1) == "waiting", "one run at a time for each reader"
    job(student).locator("button.cancel").click()
    assert state(student) == "cancelled"
    grown(student, 0, number=1)
    done = epoch(student)
    student.page.wait_for_timeout(1000)
    assert epoch(student) == done
    assert state(student, 1) == "running"
    leave_alone(student, 1)
    job(student).locator("button.forget").click()
    assert student.locate(".job").count() == 1


def test_two_readers_with_the_same_settings_watch_one_run(readers: Callable[..., Reader], hall: Server) -> None:
    one, other = readers(hall.address), readers(hall.address)
    for reader in (one, other):
        reader.open("cue_recall", **LONG | {"seed": 6230})
        press(reader, "train")
    grown(one, 1)

    def together() -> None:
        assert "2 readers" in job(one).inner_text()
        assert epoch(other) > 0

    eventually(together, PATIENCE)
    leave_alone(one)
    before = epoch(other)
    grown(other, before)
    leave_alone(other)


def test_the_answer_follows_the_cue(student: Reader) -> None:
    student.open("cue_recall")
    for cue in (2, 3, 1):
        student.locate(f'input[data-control="cue"][value="{cue}"]').check(force=True)
        student.shows("cue_recall", cue=cue)
        assert trace_at("cue_recall", cue=cue).prediction.argmax() == cue
    moves = student.control("fillers")
    moves.fill("0123")
    moves.press("Enter")
    student.shows("cue_recall", cue=1, fillers="0123")
    student.locate('input[data-control="model"][value="rnn"]').check(force=True)
    student.shows("cue_recall", cue=1, fillers="0123", model="rnn")
    assert student.locate('[data-when="model"][data-is="rnn gru"]').is_visible()


def test_stored_runs_are_there_at_once_and_the_curves_name_chance(student: Reader) -> None:
    student.open("cue_recall", "ru")
    press(student, "train_all")
    for number in range(3):
        wait_for(student, "finished", number)
    words = student.locate(".chart svg text").all_text_contents()
    assert "наугад, 1/4" in words
    assert "наугад, log 4" in words
    assert {"A", "B", "C"} <= set(words)
    assert "1,000" in job(student, 2).inner_text()


def test_without_training_the_page_says_so_and_shows_the_stored_runs(readers: Callable[..., Reader], tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "file").write_text("no folder")
    before = os.environ.get("BOOK_DATA")
    os.environ["BOOK_DATA"] = str(folder / "file")  # nothing can be kept below a file
    try:
        server = Server(folder / "log.txt").start()
    finally:
        if before is None:
            del os.environ["BOOK_DATA"]
        else:
            os.environ["BOOK_DATA"] = before
    try:
        reader = readers(server.address).open("cue_recall", **SHORT)
        press(reader, "train")

        def told() -> None:
            assert "data directory" in reader.locate(".training").inner_text()

        eventually(told, PATIENCE)
        assert state(reader) in ("failed", "refused")
        assert np.isfinite(reader.numbers("answers")).all()
        assert reader.locate(".chart svg .curve").count() >= 6
    finally:
        server.kill()
    assert "Traceback" not in server.said(), server.said()


def test_a_reader_without_a_mouse_starts_and_cancels_a_run(student: Reader) -> None:
    student.open("cue_recall", **LONG | {"seed": 6240})
    student.locate('[data-act="train"]').focus()
    student.page.keyboard.press("Enter")
    grown(student, 0)
    job(student).locator("button.cancel").focus()
    student.page.keyboard.press("Enter")
    assert state(student) == "cancelled"
    assert student.page.evaluate("document.activeElement.tagName") == "BUTTON", "the reader's place is not lost"
    assert student.locate('.said[role="status"]').text_content()
