"""What stands under and around the lab: digits, copies, files, twins of pictures, textbook marks and resets."""

from __future__ import annotations

import csv
import io
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Callable
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Download

from content import toc
from content.strings import STRINGS
from tests.ui.reader import LANGUAGES, Reader, eventually, trace_at

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?")


def tool(reader: Reader, word: str, lang: str = "en") -> None:
    reader.locate(".tools button").filter(has_text=STRINGS[lang][word]).first.click()


def pasted(reader: Reader) -> str:
    return reader.page.evaluate("navigator.clipboard.readText()")


def save(reader: Reader, view: str, kind: str) -> Path:
    return fetched(reader, view, kind, 1)[0]


def fetched(reader: Reader, view: str, kind: str, count: int) -> list[Path]:
    """Files that a view's save menu gives, named as the browser would name them."""
    downloads: list[Download] = []
    reader.page.on("download", lambda download: downloads.append(download))
    menu = reader.locate(f'[data-save="{view}"] details.save')
    menu.locator("summary").click()
    menu.get_by_text(kind, exact=True).click()

    def all_here() -> None:
        reader.page.evaluate("0")  # lets events in
        assert len(downloads) == count

    eventually(all_here)
    return [Path(d.path()).rename(Path(d.path()).with_name(d.suggested_filename)) for d in downloads]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_reader_chooses_how_many_digits_are_shown_and_keeps_the_choice(reader: Reader, lang: str) -> None:
    reader.open("three_tokens", lang, q20=1.55)
    choice = reader.locate(".precision select")
    assert choice.evaluate("(e) => e.selectedOptions[0].text") == STRINGS[lang]["decimals"].format(n=2)
    for form in ("3", "4", "full"):
        choice.select_option(form)
        reader.shows("three_tokens", lang, form=form, q20=1.55)
    choice.select_option("4")
    reader.page.reload()
    reader.live().shows("three_tokens", lang, form="4", q20=1.55)
    reader.open("masks", lang).shows("masks", lang, form="4")


@pytest.mark.parametrize(("section", "settings"), [
    ("three_tokens", {"q20": 1.5, "v01": -0.35, "scaled": 0}),
    ("masks", {"example": "journey", "kind": "causal", "query": 3}),
    ("tanh_chain", {"activation": "sigmoid", "t": 9}),
])  # fmt: skip
def test_the_state_copied_as_numpy_prints_the_numbers_on_show(reader: Reader, section: str, settings: dict) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.open(section, "uk", **settings)
    reader.open_twins()
    tool(reader, "copy_numpy", "uk")
    eventually(lambda: _true("import numpy" in pasted(reader)))
    code = pasted(reader)
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    numbers = list(map(float, NUMBER.findall(printed)))
    on_show, trace = reader.tables(), trace_at(section, **settings)._asdict()
    checked = 0
    for name in (n.split(".")[0].strip() for n in ",".join(re.findall(r"^print\((.*), sep=", code, re.M)).split(",")):
        size = np.size(trace[name])
        part, numbers = numbers[:size], numbers[size:]
        expected = [float(cell[0]) for cell in on_show[name]] if name in on_show else np.ravel(trace[name])
        np.testing.assert_allclose(part, expected, rtol=1e-6, atol=2e-8, err_msg=name)
        checked += name in on_show
    assert numbers == []
    assert checked >= 3


def test_pytorch_and_the_link_are_copied_as_well(reader: Reader) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.open("three_tokens", "ru")
    reader.press("q00", "End")
    tool(reader, "copy_torch", "ru")
    eventually(lambda: _true("[[3.0, 0.0], [0.0, 1.0]" in pasted(reader)))
    assert "import torch" in pasted(reader)
    assert "{{" not in pasted(reader)
    tool(reader, "copy_link", "ru")
    eventually(lambda: _true(pasted(reader) == reader.page.url))
    assert reader.locate(".tools button").filter(has_text=STRINGS["ru"]["copied"]).count() >= 1
    other = reader.turn_page()
    other.goto(pasted(reader))
    reader.page = other
    reader.live().shows("three_tokens", "ru", q00=3.0)


def test_a_table_is_saved_as_csv_svg_and_png(reader: Reader) -> None:
    reader.open("three_tokens", "uk")
    path = save(reader, "weights", "CSV")
    assert path.name == "three_tokens-weights.csv"
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    words = rows[0][1:]
    assert words == [row[0] for row in rows[1:]] == reader.locate('table[data-array="weights"] thead th').all_inner_texts()
    np.testing.assert_array_equal([[float(x) for x in row[1:]] for row in rows[1:]], trace_at("three_tokens").weights)

    picture = ElementTree.parse(save(reader, "weights", "SVG"))
    assert picture.getroot().tag == f"{SVG}svg"
    assert [text.text for text in picture.iter(f"{SVG}text")][-1] == "0,50"
    assert len(list(picture.iter(f"{SVG}rect"))) == 9
    assert _png_size(save(reader, "weights", "PNG")) > (200, 100)


def test_a_picture_is_saved_as_csv_svg_and_png(reader: Reader) -> None:
    reader.open("position", "uk")
    eventually(lambda: _true(reader.locate('[data-figure="0"] .plot canvas').count()))
    path = save(reader, "encoding", "CSV")  # its table is closed and filled for the file
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    np.testing.assert_array_equal([[float(x) for x in row[1:]] for row in rows[1:]], trace_at("position").encoding)
    assert ElementTree.parse(save(reader, "encoding", "SVG")).getroot().tag == f"{SVG}svg"
    assert _png_size(save(reader, "encoding", "PNG")) > (200, 100)


def test_a_picture_of_several_arrays_gives_a_file_for_each(reader: Reader) -> None:
    reader.open("tanh_chain")
    paths = fetched(reader, "state", "CSV", 3)
    assert {path.name for path in paths} == {f"tanh_chain-{name}.csv" for name in ("state", "slope", "transition")}
    for path in paths:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
        expected = getattr(trace_at("tanh_chain"), path.stem.partition("-")[2])
        np.testing.assert_array_equal([float(row[-1]) for row in rows[-len(expected) :]], expected)


def test_the_table_beside_a_picture_fills_when_it_is_opened_and_follows(reader: Reader) -> None:
    reader.open("position")
    twin = reader.locate('[data-figure="0"] details.twin')
    assert twin.locator("td[data-value]").count() == 1
    twin.locator("summary").click()
    reader.shows("position")
    assert twin.locator("td[data-value]").count() == 40 * 64
    value = reader.press("d", "ArrowLeft")
    reader.shows("position", d=int(value))
    assert twin.locator("td[data-value]").count() == 40 * 63
    assert twin.locator("thead th").count() == 63


@pytest.mark.parametrize("section", ["position", "tanh_chain"])
def test_pictures_are_drawn_and_follow_the_controls_and_the_look(reader: Reader, section: str) -> None:
    reader.open(section)
    plots = reader.locate("[data-figure] .plot:visible")
    eventually(lambda: _true(all(plot.locator("canvas").count() for plot in plots.all())))
    pictures = _snapshots(reader)
    reader.press({"position": "position", "tanh_chain": "w_h"}[section], "ArrowLeft")
    eventually(lambda: _true(_snapshots(reader)[0] != pictures[0]))
    pictures = _snapshots(reader)
    reader.locate('input[name="look"][value="dark"]').check(force=True)
    eventually(lambda: _true(all(new != old for new, old in zip(_snapshots(reader), pictures))))


def test_a_click_brings_one_control_back_to_its_textbook_value(reader: Reader) -> None:
    reader.open("tanh_chain")
    back = reader.locate('.control[data-for="w_h"] .reset-one')
    assert not back.is_visible()
    reader.press("w_h", "End")
    reader.press("x", "End")
    back.click()
    assert float(reader.control("w_h").input_value()) == toc.load("tanh_chain").defaults()["w_h"]
    assert "w_h" not in reader.query()
    assert float(reader.query()["x"]) == 3.0, "the others stay where they are"


def test_reset_brings_every_control_back_and_keeps_language_and_look(reader: Reader) -> None:
    reader.open("masks", "uk", look="dark", example="eight", kind="custom", visible="01010101", query=4)
    tool(reader, "reset", "uk")
    reader.shows("masks", "uk")
    assert reader.query() == {"page": "masks", "lang": "uk", "look": "dark"}
    reader.page.go_back()
    reader.shows("masks", "uk", example="eight", kind="custom", visible="01010101", query=4)


def test_where_copying_is_forbidden_the_text_is_offered_to_be_copied_by_hand(reader: Reader) -> None:
    reader.open("three_tokens")
    reader.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('forbidden')); }")
    offered: list[str] = []
    reader.page.on("dialog", lambda dialog: (offered.append(dialog.default_value), dialog.dismiss()))
    tool(reader, "copy_link")
    eventually(lambda: _true(reader.page.evaluate("1") and offered == [reader.page.url]))


def test_a_forbidden_storage_costs_the_memory_and_nothing_else(readers: Callable[..., Reader]) -> None:
    reader = readers()
    reader.marked = True
    reader.page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }})")
    reader.open("three_tokens")
    reader.press("q00", "ArrowRight")
    reader.shows("three_tokens", q00=1.05)
    reader.locate('input[name="look"][value="dark"]').check(force=True)
    reader.locate(".precision select").select_option("3")
    reader.shows("three_tokens", form="3", q00=1.05)
    reader.locate(".predict input").first.check()
    reader.locate(".exercise input").first.fill("1")
    reader.locate(".exercise button").first.click()
    eventually(lambda: _true(reader.locate(".exercise output").first.inner_text()))


def _snapshots(reader: Reader) -> list[bytes]:
    return [plot.screenshot() for plot in reader.locate("[data-figure] .plot:visible").all()[:2]]


def _png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def _true(value: object) -> None:
    assert value
