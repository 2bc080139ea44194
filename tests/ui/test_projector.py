"""On a projector nothing has to be scrolled: the lab fits the screen, view by view where it is large, in letters that the last row reads."""

from __future__ import annotations

from typing import Any, Callable

import pytest

from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, WRITTEN, Reader, eventually

SIZES = [(1280, 720), (1024, 768), (1920, 1080)]
# Parts on show that the screen or their own box cuts off, and how small the smallest letters are. Tables may scroll within themselves
# where they have more than fits any screen.
SEEN = """() => {
  const lab = document.getElementById("lab"), [views, controls] = [".views", ".controls"].map((kind) => lab.querySelector(`:scope > ${kind}`));
  const parts = [...lab.querySelectorAll(".readout, .control, .strip, .view, .pager button, .more-controls")].filter((e) => e.checkVisibility());
  const cut = parts.filter((e) => {
    const box = e.getBoundingClientRect(), within = (views.contains(e) ? views : controls.contains(e) ? controls : lab).getBoundingClientRect();
    return box.top < within.top - 1 || box.bottom > within.bottom + 1 || box.left < within.left - 1 || box.right > within.right + 1;
  });
  const walk = document.createTreeWalker(lab, NodeFilter.SHOW_TEXT), sizes = [];
  for (let text; (text = walk.nextNode()); ) {
    const e = text.parentElement;
    if (text.data.trim() && e.checkVisibility({visibilityProperty: true}) && !e.closest("sub, sup, .aside, caption")) sizes.push([parseFloat(getComputedStyle(e).fontSize), text.data]);
  }
  return {
    cut: cut.map((e) => `${e.className} ${e.dataset.for ?? e.dataset.save ?? ""} ${JSON.stringify(e.getBoundingClientRect())}`), smallest: sizes.sort((a, b) => a[0] - b[0])[0],
    wide: document.scrollingElement.scrollWidth - innerWidth, high: document.scrollingElement.scrollHeight - innerHeight,
    readout: lab.querySelector(".readout").getBoundingClientRect().bottom <= innerHeight, views: [...views.querySelectorAll(".view")].filter((e) => e.checkVisibility()).length,
  };
}"""


def stage(reader: Reader, section: str, lang: str = "en", **settings: Any) -> Reader:
    reader.open(section, lang, view="lab", look="projector", **settings)
    return reader


def where(reader: Reader) -> tuple[int, int]:
    """The view on show and how many there are."""
    at, count = (reader.locate(".pager output").text_content() or "1/1").split(" ")[0].split("/")
    return int(at), int(count)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("section", WRITTEN)
def test_a_room_sees_controls_view_and_readout_without_scrolling(readers: Callable[..., Reader], section: str, size: tuple[int, int]) -> None:
    lang = LANGUAGES[WRITTEN.index(section) % 3]
    reader = stage(readers(viewport={"width": size[0], "height": size[1]}), section, lang)
    reader.page.wait_for_timeout(700)  # pictures come after the page
    seen_views, at = 0, 0
    while at < where(reader)[1]:
        at += 1

        def fits() -> dict[str, Any]:
            seen = reader.page.evaluate(SEEN)
            assert seen["cut"] == [], (section, at)  # noqa: B023
            return seen

        seen = eventually(fits, 4)
        assert seen["wide"] <= 0 and seen["high"] <= 0 and seen["readout"], (section, at)
        assert seen["smallest"][0] >= (24 if size == (1280, 720) else 19), (section, at, seen["smallest"])
        seen_views += seen["views"]
        assert where(reader)[0] == at
        reader.page.keyboard.press("PageDown")
    hidden = "[...document.querySelectorAll('#lab > .views .view')].filter((e) => !e.closest('[hidden], .twin')).length"
    assert seen_views >= reader.page.evaluate(hidden), "every view has its page"


def test_a_clicker_number_keys_and_buttons_turn_the_views(readers: Callable[..., Reader]) -> None:
    reader = stage(readers(viewport={"width": 1280, "height": 720}), "one_head", "ru")
    last = where(reader)[1]
    assert last > 2
    for key, expected in (("PageDown", 2), ("PageDown", 3), ("PageUp", 2), ("PageUp", 1), ("PageUp", 1), ("3", 3)):
        reader.page.keyboard.press(key)
        assert where(reader)[0] == expected, key
    reader.locate(".turn-back").click()
    assert where(reader)[0] == 2
    for _ in range(last):
        reader.page.keyboard.press("PageDown")
    assert where(reader)[0] == last
    assert reader.locate(".turn-on").is_disabled()
    for kind in (".turn-back", ".turn-on"):
        box = reader.locate(kind).bounding_box()
        assert box["width"] >= 44 and box["height"] >= 44
    reader.page.keyboard.press("?")
    assert STRINGS["ru"]["key_views"] in reader.locate("dialog.help").inner_text()


def test_a_clicker_does_not_move_the_slider_that_has_the_focus(readers: Callable[..., Reader]) -> None:
    reader = stage(readers(viewport={"width": 1280, "height": 720}), "tanh_chain")
    value = reader.press("w_h", "ArrowRight")
    reader.page.keyboard.press("PageDown")
    assert where(reader)[0] == 2
    assert float(reader.control("w_h").input_value()) == value


def test_a_long_list_of_controls_turns_its_pages(readers: Callable[..., Reader]) -> None:
    reader = stage(readers(viewport={"width": 1280, "height": 720}), "masks")
    more = reader.locate(".more-controls")
    seen = set()
    for _ in range(int((more.text_content() or "").split("/")[1].split(" ")[0])):
        seen |= set(reader.page.evaluate("[...document.querySelectorAll('#lab > .controls .control')].filter((e) => e.checkVisibility()).map((e) => e.dataset.for)"))
        more.click()
    assert {"example", "kind", "s0", "s1", "s2", "x0", "x1", "x2", "query"} <= seen


def test_what_undo_moves_is_turned_to_and_the_page_comes_back_as_it_was(readers: Callable[..., Reader]) -> None:
    reader = stage(readers(viewport={"width": 1280, "height": 720}), "masks")
    before = reader.page.evaluate("document.querySelectorAll('details.group[open]').length")
    reader.press("s0", "ArrowRight")
    while not reader.control("x2").is_visible():
        reader.locate(".more-controls").click()
    reader.locate(".undo-last").click()
    reader.shows("masks")
    assert reader.control("s0").is_visible()
    reader.page.keyboard.press("p")
    assert reader.locate("[data-off-stage]").count() == 0
    assert reader.locate(".pager").is_hidden()
    assert reader.locate("#lab .tools").is_visible()
    assert reader.page.evaluate("document.querySelectorAll('details.group[open]').length") <= before
    reader.page.keyboard.press("p")
    assert reader.locate(".readout").bounding_box()["y"] < 720


def test_another_choice_brings_other_views(readers: Callable[..., Reader]) -> None:
    reader = stage(readers(viewport={"width": 1280, "height": 720}), "cue_recall")
    reader.locate('input[data-control="model"][value="gru"]').check(force=True)
    reader.live()
    names = set()
    for _ in range(where(reader)[1]):
        names |= set(reader.page.evaluate("[...document.querySelectorAll('#lab .views .view')].filter((e) => e.checkVisibility()).map((e) => e.dataset.save)"))
        assert reader.page.evaluate(SEEN)["high"] <= 0
        reader.page.keyboard.press("PageDown")
    assert "hidden" in names and "attention_0" not in names
