"""Which views show what: every name in a lab is that of a control, an array, a fact or a word that exists."""

import math
from pathlib import Path
from urllib.parse import parse_qsl

import param
import pytest

from app import labs, prose
from content import toc
from content.controls import check
from content.numbers import write_number
from content.section import control_parameters
from content.strings import LANGUAGES, STRINGS
from tests.content.drawn import WRITTEN, other_settings
from tests.widgets.markup import parse
from widgets.control import Buttons, When
from widgets.lab import Fact, Tab
from widgets.matrix import Matrix
from widgets.miniature import Miniature
from widgets.text import Text

SECTIONS = [(id, language) for id in WRITTEN for language in LANGUAGES]


class Strict(Text):
    """A text that has no word to fall back to."""

    def label(self, kind, name):
        if not (kind == "words" and not name):
            assert name in (self.labels.get(kind) or {}), f"no label: {kind} {name}"
        return super().label(kind, name)

    def headers(self, axis, length, trace=None):
        axes = self.labels.get("axes") or {}
        words = (axis or "").rpartition(":")[2]
        known = {
            *axes,
            *(self.labels.get("options") or {}),
            *(self.labels.get("arrays") or {}),
        }  # an array that others run over is numbered
        assert axis is None or words in known, f"no axis {axis}"
        return super().headers(axis, length, trace)


def strict_text(id, language):
    return Strict(prose.load(id, language).labels, STRINGS[language], lambda value, form: write_number(value, form, language))


def parts(thing):
    """Every NamedTuple of a lab, from the outside in."""
    if isinstance(thing, tuple):
        if hasattr(thing, "_fields"):
            yield thing
        for inner in thing:
            yield from parts(inner)


def written(id, language="en", values=None, trace=...):
    section, lab = toc.load(id), labs.load(id)
    values = values or section.defaults()
    trace = section.trace(values) if trace is ... else trace
    return parse(lab.html(trace, {} if trace is None else section.facts(trace), control_parameters(section.controls), values, strict_text(id, language), ()))


def test_every_section_has_a_lab_and_every_lab_a_section():
    modules = {path.stem for path in Path(labs.__file__).parent.glob("*.py")} - {"__init__"}
    assert modules == set(WRITTEN)


@pytest.mark.parametrize("id", WRITTEN)
def test_every_array_on_show_is_in_the_trace(id):
    section = toc.load(id)
    shown = labs.load(id).shown_arrays()
    assert shown
    assert shown <= set(section.trace(section.defaults())._fields)


@pytest.mark.parametrize("id", WRITTEN)
def test_every_array_on_show_has_a_table(id):
    tables = {table["data-array"] for table in written(id).all("table", data_array=True)}
    assert tables == labs.load(id).shown_arrays()


@pytest.mark.parametrize("id", WRITTEN)
def test_every_control_can_be_moved_in_the_lab(id):
    lab, section = labs.load(id), toc.load(id)
    names = lab.control_names()
    assert len(set(names)) == len(names), "a control stands twice"
    assert set(names) <= set(section.defaults())
    choices = [
        {name: choice}
        for name, p in control_parameters(section.controls).items()
        if isinstance(p, param.Selector)
        for choice in p.objects
    ]
    states = [written(id, values={**section.defaults(), **chosen}) for chosen in ({}, *choices)]
    inputs = {element["data-control"] for state in states for element in state.all("input", data_control=True)}
    assert inputs == set(section.defaults()), f"no input: {set(section.defaults()) - inputs}"


@pytest.mark.parametrize("id", WRITTEN)
def test_entries_of_a_table_are_controls_at_their_values_in_every_state(id):
    section = toc.load(id)
    for values in (section.defaults(), *other_settings(section, 2)):
        trace = section.trace(values)
        for table in written(id, values=values).all("table", data_edit=True):
            for cell in table.all("td", data_value=True):
                name = cell.one("input")["data-control"]
                assert float(cell["data-value"]) == values[name], f"{table['data-array']}: {name}"
            assert table["data-array"] in trace._fields


@pytest.mark.parametrize("id", WRITTEN)
def test_conditions_and_buttons_name_controls_and_legal_values(id):
    section, parameters = toc.load(id), control_parameters(toc.load(id).controls)
    for part in parts(labs.load(id)):
        if isinstance(part, (When, Tab)):
            parameter = parameters[part.control]
            assert isinstance(parameter, param.Selector), f"{part.control} has no choices"
            values = part.values() if isinstance(part, When) else part.values
            assert values and set(values) <= set(parameter.objects)
        if isinstance(part, Buttons):
            for word, setting in part.items:
                _, problems = check(section, dict(parse_qsl(setting, keep_blank_values=True, strict_parsing=True)))
                assert problems == [], f"{word}: {problems}"


@pytest.mark.parametrize("id", WRITTEN)
def test_places_that_a_view_looks_up_exist(id):
    section = toc.load(id)
    trace = section.trace(section.defaults())
    known = set(section.defaults()) | set(trace._fields)
    for part in parts(labs.load(id)):
        for field in ("pick", "at", "row", "seen", "x", "also", "band"):
            name = getattr(part, field, None) if not hasattr(part, "by_column") else None
            if isinstance(name, str) and hasattr(part, "arrays"):
                assert name in known, f"{type(part).__name__}.{field} = {name}"
        if isinstance(part, Matrix) and part.seen:
            assert getattr(trace, part.seen).shape == getattr(trace, part.array).shape
        if isinstance(part, Matrix) and part.also:
            assert getattr(trace, part.also).shape == getattr(trace, part.array).shape
        if isinstance(part, Matrix) and part.toggle:
            toggle = part.toggle
            assert {toggle.bits, toggle.row, toggle.sets[0], toggle.by_column[0]} <= set(section.defaults())
        if isinstance(part, Fact):
            assert math.isfinite(prose.quote(prose.quotable(section, trace), part.name))


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_every_word_of_a_lab_is_there_in_every_language(id, language):
    assert written(id, language).all("table", data_array=True)
    text = strict_text(id, language)
    for picture in labs.load(id).pictures():
        assert set(picture.item(text)) == {"item", "feed"}


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_every_lab_has_a_pulse_a_miniature_and_up_to_three_numbers(id, language):
    section, (miniature, *facts) = toc.load(id), labs.load(id).pulse
    assert isinstance(miniature, Miniature) and 1 <= len(facts) <= 3 and all(isinstance(fact, Fact) for fact in facts)
    for values in (section.defaults(), *other_settings(section, 2)):
        trace = section.trace(values)
        root = parse(labs.load(id).pulse_html(trace, prose.quotable(section, trace), strict_text(id, language)))
        svg = root.one("svg", data_miniature=True)
        assert svg["data-miniature"] in trace._fields and svg["aria-label"] and len(list(svg.walk())) >= 1
        known = prose.quotable(section, trace)
        for fact, output in zip(facts, root.all("output", data_fact=True), strict=True):
            assert output["data-fact"] == fact.name
            try:
                expected = write_number(prose.quote(known, fact.name), fact.form, language)
            except IndexError:
                expected = "–"
            assert output.text == expected
    words = root.one("div", class_="pulse").text
    assert len(words) <= 70, f"does not fit a strip of a phone: {words}"
    empty = parse(labs.load(id).pulse_html(None, {}, strict_text(id, language)))
    assert {output.text for output in empty.all("output")} == {"–"} and not list(empty.one("svg").walk())


@pytest.mark.parametrize("id", WRITTEN)
def test_a_lab_is_written_in_every_state_and_in_none(id):
    section = toc.load(id)
    for values in other_settings(section, 3):
        root = written(id, values=values)
        for name, parameter in control_parameters(section.controls).items():
            for element in root.all("input", data_control=name):
                if element["type"] in ("radio", "checkbox"):
                    on = str(values[name]) == element["value"] if element["type"] == "radio" else values[name] == 1
                    assert ("checked" in element) == on
                elif element["type"] == "range":
                    assert float(element["value"]) == values[name]
    assert written(id, trace=None).all("table", data_array=True)


@pytest.mark.parametrize("id", WRITTEN)
def test_words_that_nothing_shows_are_not_kept(id):
    labels = prose.load(id, "en").labels
    asked = set()

    class Listening(Text):
        def label(self, kind, name):
            asked.add((kind, name))
            return super().label(kind, name)

    section, lab = toc.load(id), labs.load(id)
    text = Listening(labels, STRINGS["en"], lambda value, form: write_number(value, form, "en"))
    lab.html(section.trace(section.defaults()), {}, control_parameters(section.controls), section.defaults(), text, ())
    lab.pulse_html(section.trace(section.defaults()), {}, text)
    for picture in lab.pictures():
        picture.item(text)
    # A training panel hands its words to its module, which makes some of their names.
    if not any(type(part).__name__ == "Training" for part in parts(lab)):
        kept = {name for name in labels.get("words") or {} if ("words", name) not in asked}
        assert not kept, f"no view shows: {sorted(kept)}"
