"""Whole pages as they are sent: the page contract, links that lead somewhere, and nothing a safe policy forbids."""

import gzip
import json
import math
import re
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tornado.escape import parse_qs_bytes

from app import address, assets, labs, prose
from app.section_page import open_page
from content import toc
from content.numbers import write_number
from content.section import Undefined, arrays
from content.strings import LANGUAGES, STRINGS
from tests.content.drawn import WRITTEN, other_settings, values_of
from tests.widgets.markup import parse

SECTIONS = [(id, language) for id in WRITTEN for language in LANGUAGES]
TOKEN = "t0k.en"


def opened(query):
    """The HTML of the page at a query string, made as a session makes it."""
    request = SimpleNamespace(arguments=parse_qs_bytes(query, keep_blank_values=True))
    document = SimpleNamespace(
        session_context=SimpleNamespace(request=request), template=None, template_variables={}, on_message=lambda *_: None
    )
    open_page(document)
    return document.template.render(**document.template_variables, token=TOKEN, docs=[SimpleNamespace(token=TOKEN)])


@lru_cache(maxsize=200)
def page(query):
    """The page at a query string as a tree, which no test changes."""
    return parse(opened(query))


def config_of(root):
    script = root.one("script", id="config")
    return json.loads(script.text, parse_constant=lambda name: pytest.fail(f"{name} in the configuration"))


# The page contract


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_a_page_is_a_document_in_its_language(id, language):
    html = opened(f"page={id}&lang={language}")
    assert html.startswith("<!doctype html>")
    root, text = parse(html), prose.load(id, language)
    assert root.one("html")["lang"] == language
    assert root.one("title").text == f"{text.title} · {STRINGS[language]['book']}"
    assert [heading.text for heading in root.all("h1")] == [text.title]
    assert root.one("meta", name="description")["content"] == text.summary
    assert root.one("meta", charset="utf-8")
    assert len(root.all("main")) == 1 and len(root.all("article")) == 1
    assert root.one("aside", id="lab")
    assert root.one("p", class_="undefined").text == "" and "hidden" in root.one("p", class_="undefined")
    assert not root.all("p", class_="notice", role="status")


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_every_table_holds_the_full_numbers_of_the_state(id, language):
    section = toc.load(id)
    trace = arrays(section.trace(section.defaults()))
    tables = page(f"page={id}&lang={language}").all("table", data_array=True)
    assert tables
    for table in tables:
        cells = table.all("td", data_value=True)
        array = trace[table["data-array"]].astype(float)
        assert cells and table.all("th", scope="row")
        if "data-unfilled" in table:
            array = array.reshape(-1)[:1]
        assert [float(cell["data-value"]) for cell in cells] == array.reshape(-1).tolist()
        for cell in cells:
            assert cell.text.strip() or cell.one("input")["value"]
        if not table.get("data-edit") and not table.get("data-form"):
            assert [cell.text for cell in cells] == [write_number(number, "2", language) for number in array.reshape(-1)]
        rows = table.one("tbody").all("tr")
        if array.ndim == 2:
            assert len(rows) == len(array)
            assert [th.text != "" for th in table.one("thead").all("th")] == [True] * array.shape[1]


@pytest.mark.parametrize("id", WRITTEN)
def test_every_control_is_a_native_input_with_a_name(id):
    root = page(f"page={id}")
    ids = [element["id"] for element in root.walk() if "id" in element]
    assert len(set(ids)) == len(ids), "an id stands twice"
    for label in root.all("label", for_=True):
        assert label["for"] in ids
    named = {label["for"] for label in root.all("label", for_=True)}
    for element in [*root.all("input"), *root.all("select"), *root.all("button")]:
        said = element.text.strip() or element.get("aria-label") or element.inside("label") or element.get("id") in named
        assert said, f"nameless: {element.attributes}"
    for element in root.all("input", data_control=True):
        assert element["type"] in ("range", "radio", "checkbox", "text")
    for fieldset in root.all("fieldset"):
        radios = fieldset.all("input", type="radio")
        assert not radios or fieldset.one("legend").text.strip()


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_what_the_module_needs_stands_beside_the_page(id, language):
    root = page(f"page={id}&lang={language}")
    config, section = config_of(root), toc.load(id)
    assert (config["page"], config["language"]) == (id, language)
    assert {name: control["value"] for name, control in config["controls"].items()} == section.defaults()
    assert {name: control["default"] for name, control in config["controls"].items()} == section.defaults()
    assert config["words"] == {key: word for key, word in STRINGS[language].items() if isinstance(word, str)}
    assert config["labels"] == prose.load(id, language).labels
    assert config["code"] == prose.load(id, "en").code
    numbers = [int(figure["data-figure"]) for figure in root.all("figure", data_figure=True)]
    assert numbers == list(range(len(config["pictures"])))
    assert bool(config["pictures"]) == bool(root.all("link", rel="preload", as_="script"))
    assert json.loads(root.one("script", id="session").text) == {"token": TOKEN}


@pytest.mark.parametrize("id", WRITTEN)
def test_limits_in_the_configuration_are_those_of_the_controls(id):
    for name, control in config_of(page(f"page={id}"))["controls"].items():
        if control["kind"] == "choice":
            assert control["default"] in control["choices"]
        elif control["kind"] == "text":
            assert re.fullmatch(control["pattern"], control["default"])
        else:
            assert control["low"] <= control["default"] <= control["high"] and control["step"] > 0
            assert (control["kind"] == "whole") == isinstance(control["default"], int)


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_a_page_names_only_files_of_this_server_and_no_script_in_line(id, language):
    root = page(f"page={id}&lang={language}")
    for element in root.walk():
        assert not [name for name in element.attributes if name.startswith("on")], element.attributes
        for name in ("src", "href", "data", "action", "formaction", "poster", "srcset"):
            target = element.get(name)
            if not target or element.name == "a":
                continue
            digest, _, file = target.removeprefix("assets/").partition("/")
            assert target.startswith("assets/") and digest == assets.digest()
            assert file in assets.paths()
        if element.name == "script" and "src" not in element:
            assert element["type"] == "application/json"
        assert "url(" not in (element.get("style") or "")
    assert "http-equiv" not in str([element.attributes for element in root.all("meta")])


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_every_link_of_a_page_leads_to_a_state_without_complaint(id, language):
    root = page(f"page={id}&lang={language}")
    ids = {element["id"] for element in root.walk() if "id" in element}
    for link in root.all("a"):
        href = link["href"]
        if href.startswith("#"):
            assert href[1:] in ids
        elif href.startswith("?") and "button" not in link.classes:
            asked = address.read(parse_qs_bytes(href[1:], keep_blank_values=True))
            assert asked.notices == (), href
            assert asked.language == (link.get("lang") or language)
            assert link.get("data-page") in (None, asked.page)
        elif "button" not in link.classes:
            assert href.startswith("https://") and link["rel"] == "noreferrer"
        if "data-set" in link:
            wanted = address.read(parse_qs_bytes(f"page={id}&{link['data-set']}", keep_blank_values=True))
            assert wanted.notices == ()
        assert link.text.strip() or link.get("aria-label")


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_the_frame_leads_to_the_neighbours_the_contents_and_the_other_languages(id, language):
    root = page(f"page={id}&lang={language}&look=dark")
    before, after = toc.neighbours(id)
    for rel, neighbour in (("prev", before), ("next", after)):
        links = root.all("a", rel=rel)
        assert [link["href"] for link in links] == ([f"?page={neighbour}&lang={language}&look=dark"] if neighbour else [])
    assert root.one("a", class_="book")["href"] == f"?lang={language}&look=dark"
    assert {link["data-lang"]: link["href"] for link in root.all("a", data_lang=True)} == {
        code: f"?page={id}&lang={code}&look=dark" for code in LANGUAGES
    }
    assert [link["data-lang"] for link in root.all("a", aria_current="true")] == [language]


# States


def test_the_languages_keep_the_state_and_the_prose_follows_it():
    root = page("page=three_tokens&lang=uk&q20=3&scaled=0&view=lab")
    assert root.one("html")["data-view"] == "lab"
    (english,) = root.all("a", data_lang="en")
    assert english["href"] == "?page=three_tokens&lang=en&view=lab&q20=3&scaled=0"
    section = toc.load("three_tokens")
    trace = section.trace({**section.defaults(), "q20": 3.0, "scaled": 0})
    cells = root.one("table", data_array="weights").all("td", data_value=True)
    assert [float(cell["data-value"]) for cell in cells] == trace.weights.reshape(-1).tolist()
    assert root.one("input", data_control="q20", type="range")["value"] == "3.0"
    assert "checked" not in root.one("input", data_control="scaled")


def test_golden_numbers_stand_in_the_html_before_any_script_runs():
    root = page("page=three_tokens&lang=uk")
    cells = root.one("table", data_array="weights").all("td", data_value=True)
    assert [cell.text for cell in cells] == ["0,40", "0,20", "0,40", "0,20", "0,40", "0,40", "0,25", "0,25", "0,50"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_ignored_is_said_above_the_page(language):
    root = page(f"page=masks&lang={language}&s0=99&colour=red&kind=%3Cscript%3Ealert(1)%3C/script%3E")
    said = [notice.text for notice in root.all("p", class_="notice", role="status")]
    words = STRINGS[language]["problem"]
    assert words["range"].format(name="s0", given="99", allowed="-5 … 5") in said
    assert words["unknown"].format(name="colour") in said
    assert words["choice"].format(name="kind", given="<script>alert(1)</script>", allowed="none, causal, padding, custom") in said
    assert not [script for script in root.all("script") if "alert" in script.text]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_state_without_numbers_is_explained_and_the_page_is_whole(language):
    root = page(f"page=masks&lang={language}&kind=custom&visible=000")
    box = root.one("p", class_="undefined")
    assert "hidden" not in box
    assert box.text == prose.load("masks", language).labels["undefined"]["all_masked"]
    assert {output.text for output in root.one("article").all("output", data_fact=True)} == {"–"}
    assert len(root.all("h1")) == 1 and root.all("input", data_control=True)


def test_hidden_controls_are_hidden_and_the_others_not():
    root = page("page=three_tokens&hide=q00,scaled")
    hidden = {element["data-for"] for element in root.all("div", data_for=True, hidden=True)}
    assert hidden == {"q00", "scaled"}


@pytest.mark.parametrize("look", address.LOOKS)
def test_a_look_in_the_address_is_there_before_the_first_paint(look):
    assert page(f"page=masks&look={look}").one("html")["data-look"] == look
    assert "data-look" not in page("page=masks").one("html")


@pytest.mark.parametrize("id", WRITTEN)
@settings(max_examples=6)
@given(st.data())
def test_any_state_is_a_whole_page(id, data):
    section, values = toc.load(id), data.draw(values_of(toc.load(id)))
    language = data.draw(st.sampled_from(list(LANGUAGES)))
    asked = address.Address(id, language, None, None, (), values, ())
    root = page(address.write(asked)[1:])
    assert config_of(root)["controls"].keys() == values.keys()
    assert {name: control["value"] for name, control in config_of(root)["controls"].items()} == values
    try:
        trace = arrays(section.trace(values))
    except Undefined:
        assert "hidden" not in root.one("p", class_="undefined")
        return
    for table in root.all("table", data_array=True):
        cells = [float(cell["data-value"]) for cell in table.all("td", data_value=True)]
        assert all(map(math.isfinite, cells))
        if "data-unfilled" not in table:
            assert cells == trace[table["data-array"]].astype(float).reshape(-1).tolist()


# The contents


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_contents_show_the_whole_plan_and_link_what_is_written(language):
    root = page(f"lang={language}")
    assert root.one("html")["lang"] == language
    assert [heading.text for heading in root.all("h1")] == [STRINGS[language]["book"]]
    assert [heading.text for heading in root.all("h2")] == [STRINGS[language]["parts"][part] for part in toc.PARTS]
    path = root.one("div", class_="path")
    links = [link["href"] for link in path.all("a")]
    assert links == [f"?page={id}&lang={language}" for id in WRITTEN]
    assert [one["data-section"] for one in path.all("li")] == list(WRITTEN)
    for one, id in zip(path.all("li"), WRITTEN):
        text = prose.load(id, language)
        assert (one.one("p").text, int(one["data-questions"])) == (text.do, len(text.questions))
        assert one.all("rect") or one.all("path"), "a picture drawn from the section's numbers"
    planned = " · ".join(one.one("p").text for one in path.all("details"))
    assert planned == " · ".join(STRINGS[language]["plan"][id] for id in toc.ORDER if id not in WRITTEN)
    first = root.one("a", class_="go first")
    assert first["href"] == f"?page={WRITTEN[0]}&lang={language}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_taste_on_the_front_page_has_the_numbers_of_its_section(language):
    root = page(f"lang={language}")
    trace = toc.load("three_tokens").trace(toc.load("three_tokens").defaults())
    assert [float(cell["data-value"]) for cell in root.all("td", data_value=True)] == trace.weights.reshape(-1).tolist()
    tips = [(float(one["x2"]), -float(one["y2"])) for one in root.all("line")]
    assert tips == [tuple(row) for row in trace.query.tolist()]
    assert [one["aria-label"] for one in root.all("g", role="slider")] == prose.load("three_tokens", language).labels["axes"]["tokens"]


@pytest.mark.parametrize(
    ("query", "kind", "given"), [("page=nothing", "page", "nothing"), ("page=misconceptions", "planned_page", "misconceptions")]
)
def test_a_page_that_is_not_there_gives_the_contents_and_a_notice(query, kind, given):
    root = page(f"{query}&lang=ru")
    assert root.all("h2")
    assert [notice.text for notice in root.all("p", class_="notice")] == [STRINGS["ru"]["problem"][kind].format(given=given)]


def test_the_front_page_opens_no_line_before_somebody_reaches_for_it():
    root = page("")
    assert not [script for script in root.all("script") if "early.js" in (script.get("src") or "")]
    assert not re.search("bokeh", opened(""), re.I)


def test_a_page_without_pictures_loads_no_bokeh():
    for id in WRITTEN:
        root = page(f"page={id}")
        named = [element for element in root.walk() if (element.get("href") or "").endswith("bokeh.min.js")]
        assert bool(named) == bool(labs.load(id).pictures())


def test_a_page_is_light_on_the_wire():
    for id in WRITTEN:
        assert len(gzip.compress(opened(f"page={id}&lang=ru").encode())) < 60_000, id


@pytest.mark.parametrize("id", WRITTEN)
def test_pages_of_other_settings_hold_their_numbers_in_the_prose(id):
    section = toc.load(id)
    for values in other_settings(section, 1):
        root = page(address.write(address.Address(id, "en", None, None, (), values, ()))[1:])
        facts = section.facts(section.trace(values))
        for output in root.one("article").all("output", data_fact=True):
            if output["data-fact"] in facts:
                assert output.text == write_number(
                    float(np.float64(facts[output["data-fact"]])), output.get("data-format") or "2"
                )
