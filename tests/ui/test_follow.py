"""The lab follows the text that is read, and never moves what the reader is using."""

from __future__ import annotations

from typing import Callable

import pytest

from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, Reader, eventually

# Whether the heading of a group of views can be seen in the lab.
IN_SIGHT = """(name) => {
  const lab = document.getElementById("lab"), box = lab.querySelector(`[data-group="${name}"] h2`).getBoundingClientRect();
  const top = document.elementFromPoint(box.left + 5, box.top + box.height / 2);
  return box.top >= 0 && box.bottom <= innerHeight && Boolean(top?.closest(`[data-group="${name}"]`));
}"""
READ = """(name) => {
  const mark = document.querySelector(`.prose [data-shows="${name}"]`);
  scrollBy(0, mark.getBoundingClientRect().top - 0.2 * innerHeight);
}"""


def read_to(reader: Reader, view: str) -> None:
    reader.page.mouse.move(5, 150)
    reader.page.evaluate(READ, view)


def shows(reader: Reader, group: str) -> None:
    def there() -> None:
        assert reader.page.evaluate(IN_SIGHT, group), group

    eventually(there, 4)


def rests(reader: Reader) -> int:
    reader.page.wait_for_timeout(400)
    return reader.page.evaluate("document.getElementById('lab').scrollTop")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("section", "views"), [("one_head", ("asking", "mixing", "roles")), ("heads", ("way_back", "every_head"))])
def test_what_is_read_of_comes_into_sight(readers: Callable[..., Reader], section: str, views: tuple[str, ...], lang: str) -> None:
    reader = readers(viewport={"width": 1440, "height": 900}, reduced_motion="reduce").open(section, lang)
    for view in views:
        read_to(reader, view)
        shows(reader, view)


def test_on_a_phone_the_half_raised_lab_follows(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 380, "height": 700}, reduced_motion="reduce").open("one_head")
    reader.locate(".raise").click()
    reader.page.evaluate("document.activeElement.blur()")
    for view in ("mixing", "asking"):
        read_to(reader, view)
        shows(reader, view)


def test_it_never_moves_under_pointer_or_focus_and_can_be_turned_off(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 1440, "height": 900}, reduced_motion="reduce").open("one_head")
    box = reader.locate("#lab").bounding_box()
    reader.page.mouse.move(box["x"] + 60, box["y"] + 200)
    before = rests(reader)
    reader.page.evaluate(READ, "mixing")
    assert rests(reader) == before, "under the pointer"
    reader.page.mouse.move(5, 150)
    reader.control("row").focus()
    before = rests(reader)
    read_to(reader, "asking")
    assert rests(reader) == before, "under the focus"
    reader.page.evaluate("document.activeElement.blur()")
    read_to(reader, "mixing")
    shows(reader, "mixing")
    switch = reader.page.get_by_label(STRINGS["en"]["follow"])
    switch.uncheck()
    reader.page.evaluate("document.activeElement.blur()")
    before = rests(reader)
    read_to(reader, "roles")
    assert rests(reader) == before, "turned off"
    reader.open("heads")
    assert not reader.page.get_by_label(STRINGS["en"]["follow"]).is_checked(), "and stays so on the next page"


def test_reading_changes_no_value(readers: Callable[..., Reader]) -> None:
    reader = readers(viewport={"width": 1440, "height": 900}, reduced_motion="reduce").open("one_head")
    values = "[...document.querySelectorAll('#lab [data-control]')].map((e) => e.type === 'radio' ? e.checked : e.value)"
    before = reader.page.evaluate(values)
    for view in ("asking", "mixing", "roles"):
        read_to(reader, view)
        shows(reader, view)
    assert reader.page.evaluate(values) == before
