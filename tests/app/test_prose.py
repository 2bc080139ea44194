"""Markdown to HTML: each form of the format, each mistake named, and the three languages of every section side by side."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import labs, prose
from app.prose import Compiler, Number, ProseError, judge, mend_mathml
from content import toc
from content.numbers import write_number
from content.prose_hash import prose_hash
from content.section import arrays, control_parameters
from content.strings import LANGUAGES, STRINGS
from tests.app.test_labs import parts
from tests.content.drawn import WRITTEN, other_settings
from tests.widgets.markup import parse

FRONT = "---\ntitle: Sample\nsummary: One line.\ndo: Move one slider.\nlabels:\n  controls:\n    q00: q\n---\n\n"
SECTION = toc.load("three_tokens")


@pytest.fixture
def compiled(tmp_path):
    """Compiles Markdown as the text of a section; three_tokens in English when nothing else is said."""

    def compile(text, id="three_tokens", language="en", front=FRONT):
        compiler = Compiler(id, language)
        compiler.path = tmp_path / "sample" / f"{language}.md"
        compiler.path.parent.mkdir(exist_ok=True)
        compiler.path.write_text(front + text, encoding="utf-8")
        return compiler.prose()

    return compile


@pytest.fixture
def page(compiled):
    """The HTML of such a text at the defaults, as a tree; tags must match."""

    def make(text, id="three_tokens", language="en"):
        section = toc.load(id)
        return parse(compiled(text, id, language).html(section, section.trace(section.defaults()), language))

    return make


# Numbers


@pytest.mark.parametrize(
    ("written", "name", "form", "text"),
    [
        ("{{weights[0,2]}}", "weights[0,2]", None, "0.40"), ("{{max_entropy}}", "max_entropy", None, "1.58"),
        ("{{ weights[0, 2] | 3 }}", "weights[0, 2]", "3", "0.401"),
        ("{{entropy[0]|4g}}", "entropy[0]", "4g", "1.520"), ("{{output[0,0] | e}}", "output[0,0]", "e", "1.6·10⁰"),
        ("{{weights[0,2] | full}}", "weights[0,2]", "full", "0.4011120926797859"),
    ],
)  # fmt: skip
def test_a_number_follows_the_controls(page, written, name, form, text):
    output = page(written).one("output")
    assert (output["data-fact"], output.get("data-format"), output.text) == (name, form, text)


@pytest.mark.parametrize("language", ["ru", "uk"])
def test_a_number_is_written_in_the_language_of_the_page(page, language):
    assert page("{{max_entropy}}, {{weights[2,2] @ q20=3}}", language=language).text.strip() == "1,58, 0,99"


@pytest.mark.parametrize(
    ("written", "text"),
    [("{{weights[2,2] @ q20=3}}", "0.99"), ("{{weights[2,2] @ q20=3 | 4}}", "0.9913"),
     ("{{weights[0,0] @ scaled=0}}", "0.42"), ("{{weights[0,0] @ }}", "0.40"), ("{{weights[0,0] @ | 1}}", "0.4")],
)  # fmt: skip
def test_a_number_at_another_setting_is_fixed(compiled, written, text):
    made = compiled(written)
    assert not [part for part in made.parts if isinstance(part, Number)]
    root = parse(made.html(SECTION, None, "en"))
    assert root.one("span", class_="at").text == text


def test_live_numbers_are_written_anew_for_each_state(compiled):
    made = compiled("{{weights[2,2]}} and {{weights[2,2] @ }}")
    for values in (SECTION.defaults(), {**SECTION.defaults(), "q20": 3.0}):
        trace = SECTION.trace(values)
        root = parse(made.html(SECTION, trace, "en"))
        assert root.one("output").text == write_number(trace.weights[2, 2])
        assert root.one("span", class_="at").text == "0.50"


def test_where_there_are_no_numbers_stands_a_dash(compiled):
    assert parse(compiled("{{max_entropy}}").html(SECTION, None, "en")).one("output").text == "–"


def test_an_element_that_this_state_does_not_have_is_a_dash(compiled):
    section = toc.load("masks")
    made = compiled("{{weights_full[7]}}", id="masks")
    for example, text in (("three", "–"), ("eight", "0.35")):
        trace = section.trace({**section.defaults(), "example": example})
        assert parse(made.html(section, trace, "en")).one("output").text == text


@pytest.mark.parametrize(
    "written",
    [
        "{{nothing}}", "{{weights}}", "{{q00}}", "{{weights[0,2] @ q20=9}}", "{{weights[0,2] @ q99=1}}",
        "{{weights[0,2] @ q20}}", "{{weights[9,9] @ }}", "{{max_entropy | 2.5}}",
        "{{max_entropy | x}}", "{{max_entropy @ q20=3 | -1}}", "{{weights[0] @ }}", "{{nothing[0] @ }}",
    ],
)  # fmt: skip
def test_a_number_that_does_not_exist_is_named_with_its_file(compiled, written):
    with pytest.raises(ProseError, match=r"^sample/en\.md: \{\{"):
        compiled(written)


def test_braces_in_code_and_equations_are_left_alone(page):
    root = page("`{{x}}` and\n\n```\n{{max_entropy}}\n```\n\n$a_{{b}}$")
    assert not root.all("output")
    assert root.one("pre").text == "{{max_entropy}}\n"


def test_quoting_an_array_needs_an_element():
    known = prose.quotable(SECTION, SECTION.trace(SECTION.defaults()))
    assert prose.quote(known, "weights[2, 2]") == known["weights"][2, 2]
    for name, error in (("weights", TypeError), ("weights[3,0]", IndexError), ("nothing", KeyError), ("nothing[0]", KeyError)):
        with pytest.raises(error):
            prose.quote(known, name)


# Links


def test_a_link_sets_controls_and_is_an_address_of_its_own(page):
    link = page("[Raise milk](set:q20=3&scaled=0)").one("a")
    assert (link["class"], link["data-set"], link["href"], link.text) == (
        "set",
        "q20=3&scaled=0",
        "?page=three_tokens&lang=en&q20=3&scaled=0",
        "Raise milk",
    )


def test_a_link_back_to_the_textbook_setting_sets_nothing(page):
    assert page("[Back](set:)", language="uk").one("a")["href"] == "?page=three_tokens&lang=uk"


def test_a_link_to_a_section_keeps_the_language(page):
    root = page("[masks](section:masks) [journey](section:masks?example=journey)", language="ru")
    assert [(link["href"], link["data-page"]) for link in root.all("a")] == [
        ("?page=masks&lang=ru", "masks"),
        ("?page=masks&lang=ru&example=journey", "masks"),
    ]


def test_a_link_to_a_planned_section_is_plain_text(page, monkeypatch):
    planned = next(id for id in toc.ORDER if id not in WRITTEN)
    root = page(f"[later](section:{planned}) and [masks](section:masks)")
    assert root.one("span", class_="planned").text == "later"
    assert root.one("a").text == "masks"


def test_a_link_elsewhere_is_https_and_tells_nobody_where_it_stands(page):
    link = page("[paper](https://example.org/?a=1&b=2)").one("a")
    assert (link["href"], link["rel"]) == ("https://example.org/?a=1&b=2", "noreferrer")


def test_a_link_may_set_a_state_that_has_no_numbers(page):
    assert page("[nothing](set:kind=custom&visible=000)", id="masks").one("a")["data-set"] == "kind=custom&visible=000"


@pytest.mark.parametrize(
    "written",
    [
        "[x](set:q20=9)", "[x](set:q99=1)", "[x](set:q20)", "[x](section:nothing)", "[x](section:masks?example=nine)",
        "[x](section:masks?colour=red)", "[x](http://example.org)",
        "[x](ftp://example.org)", "[x](masks.html)", "[x](?page=masks)", "[x](#top)", "[x](mailto:a@example.org)",
    ],
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_named_with_its_file(compiled, written):
    with pytest.raises(ProseError, match=r"^sample/en\.md: .*(link|section)"):
        compiled(written)


def test_a_script_is_no_link_and_html_is_text(page):
    root = page("[x](javascript:alert(1)) <b onclick='alert(1)'>bold</b> <script>1</script> &amp; &lt;")
    assert not root.all("a") and not root.all("b") and not root.all("script")
    assert "<b onclick='alert(1)'>bold</b>" in root.text


# Questions


PREDICT = """:::: predict
Which one?

- [ ] the *first*
- [x] the second, {{max_entropy}}
- [ ] the [third](set:q20=3)

::: reveal
Because {{weights[0,2]}}.
:::
::::
"""
EXERCISE = """:::: exercise milk | answer=weights[2,2] @ scaled=0 | tolerance=0.005
How much?
::: solution
So much.
:::
::::
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_answered_before_it_is_revealed(page, language):
    ask = page(f"{PREDICT}\n{PREDICT}", language=language).all("div", class_="ask predict")
    assert [one["data-question"] for one in ask] == ["1", "2"]
    words = STRINGS[language]
    assert ask[0].one("p", class_="asked").text == words["predict"]
    options = ask[0].all("input", type="radio")
    assert [option["value"] for option in options] == ["wrong", "right", "wrong"]
    assert {option["name"] for option in options} == {"predict1"}
    assert all(option.inside("label") and option.inside("li").classes == {"option"} for option in options)
    assert [item.text.strip()[:9] for item in ask[0].all("li")] == ["the first", "the secon", "the third"]
    details = ask[0].one("details")
    assert "open" not in details and details.one("summary").text == words["reveal"]
    assert details.one("output")["data-fact"] == "weights[0,2]"


def test_questions_are_numbered_in_order_and_an_address_leads_to_each(page, compiled):
    text = f"{PREDICT}\n{EXERCISE}\n{PREDICT}"
    assert [(ask["id"], ask.get("data-question") or ask.get("data-exercise")) for ask in page(text).walk() if "ask" in ask.classes] == [
        ("q1", "1"), ("q2", "milk"), ("q3", "2"),
    ]  # fmt: skip
    assert compiled(text).questions == ("predict1", "milk", "predict2")


def test_options_may_stand_apart(page):
    ask = page(":::: predict\nWhich?\n\n- [ ] one\n\n- [x] two\n\n::: reveal\nTwo.\n:::\n::::\n")
    assert [item.text for item in ask.all("li", class_="option")] == ["one", "two"]


def test_plain_lists_stay_plain(page):
    root = page("- one\n- [two](set:q20=3)\n- a [ ] b\n\n1. three\n")
    assert not root.all("input") and len(root.all("li")) == 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_exercise_has_a_field_a_button_and_a_solution(page, compiled, language):
    ask = page(EXERCISE, language=language).one("div", class_="ask exercise")
    words = STRINGS[language]
    assert ask["data-exercise"] == "milk"
    assert ask.one("p", class_="asked").text == words["exercise"]
    field = ask.one("form").one("input")
    assert (field["type"], field["inputmode"]) == ("text", "decimal") and field.inside("label")
    assert ask.one("button").text == words["check"]
    assert ask.one("form").one("output")["role"] == "status"
    assert ask.one("details").one("summary").text == words["solution"]
    assert compiled(EXERCISE).exercises == {"milk": prose.Exercise("weights[2,2]", "scaled=0", 0.005)}


@pytest.mark.parametrize(
    "head",
    [
        "", "milk", "milk | answer=weights[2,2]", "milk | tolerance=0.1", "two words | answer=weights[2,2] | tolerance=0.1",
        "milk | answer=nothing | tolerance=0.1",
        "milk | answer=weights[9,9] | tolerance=0.1", "milk | answer=weights | tolerance=0.1",
        "milk | answer=weights[2,2] | tolerance=small", "milk | answer=weights[2,2] @ q20=9 | tolerance=0.1",
        "milk | answer=weights[2,2] | tolerance=0.1 | hint=none",
    ],
)  # fmt: skip
def test_an_exercise_that_cannot_be_checked_is_named_with_its_file(compiled, head):
    with pytest.raises(ProseError, match=r"^sample/en\.md: exercise"):
        compiled(f":::: exercise {head}\nHow much?\n::: solution\nSo.\n:::\n::::\n")


def test_a_misreading_has_its_title(page):
    box = page("::: misreading Weights are *not* parameters, $x$\nThey are computed.\n:::\n").one("div", class_="misreading")
    assert box.one("p", class_="asked").text.startswith("Weights are not parameters")
    assert box.one("em").text == "not" and box.all("math")


def test_an_answer_is_judged_by_the_compute_module():
    name, exercise = next(iter(prose.load("masks", "en").exercises.items()))
    right = prose.quote(prose.quotable_at("masks", exercise.setting), exercise.name)
    assert judge("masks", name, f"{right:.6f}") == (True, exercise.tolerance)
    assert judge("masks", name, f"{right + 1:.6f}".replace(".", ",")) == (False, exercise.tolerance)
    with pytest.raises(ValueError):
        judge("masks", name, "a third")
    with pytest.raises(KeyError):
        judge("masks", "nothing", "1")


# Equations, code, tables, front matter


def test_equations_are_mathml_inline_and_displayed(page):
    root = page("Let $d_k=2$.\n\n$$\\frac{q k^\\top}{\\sqrt{d_k}}$$\n")
    inline, block = root.all("math")
    assert (inline["display"], block["display"]) == ("inline", "block")
    assert block.inside("div").classes == {"equation"} and block.inside("div")["tabindex"] == "0"
    assert inline.inside("p") and not block.inside("p")


def test_words_in_an_equation_stand_upright_in_one_piece():
    s, o, f, d = (f'<mi mathvariant="normal">{letter}</mi>' for letter in "sofd")
    assert mend_mathml(f"{s}{o}{f}<mi>x</mi>{d}") == f"<mi>sof</mi><mi>x</mi>{d}"


def test_infinity_is_a_number_and_no_operator():
    assert mend_mathml("<mo>&#x0221E;</mo><mo>&#x0002B;</mo>") == "<mi>&#x0221E;</mi><mo>&#x0002B;</mo>"


@pytest.mark.parametrize(
    ("latex", "accent"), [(r"\hat{y}", "ˆ"), (r"\bar{x}", "ˉ"), (r"\tilde{c}", "˜"), (r"\overline{ab}", "‾")]
)
def test_accents_sit_on_their_letter_and_do_not_stretch(page, latex, accent):
    (over,) = page(f"${latex}$").all("mover")
    assert over["accent"] == "true"
    assert over.all("mo")[-1].text == accent and over.all("mo")[-1]["stretchy"] == "false"


def test_mending_leaves_an_ordinary_equation_as_it_is():
    plain = '<math display="inline"><mrow><mi>a</mi><mo>=</mo><mn>1</mn></mrow></math>'
    assert mend_mathml(plain) == plain


def test_an_equation_that_is_none_is_named_with_its_file(compiled):
    for latex in (r"\frac", r"\left(", r"x^", r"x_1_2", r"\nothing", r"\begin{cases}"):
        with pytest.raises(ProseError, match=r"^sample/en\.md: equation"):
            compiled(f"${latex}$")


def test_code_of_the_state_is_kept_apart_and_other_code_is_shown(compiled):
    made = compiled("```numpy\nx = {{q00}}\n```\n\n```torch\ny\n```\n\n```\na < b\n```\n")
    assert made.code == {"numpy": "x = {{q00}}\n", "torch": "y\n"}
    root = parse(made.html(SECTION, None, "en"))
    assert root.one("pre").text == "a < b\n"


def test_a_table_can_be_scrolled_by_keyboard(page):
    table = page("| a | b |\n|---|---|\n| {{max_entropy}} | 2 |\n").one("table")
    assert table.inside("div")["tabindex"] == "0" and table.one("output").text == "1.58"


@pytest.mark.parametrize(
    "front",
    [
        "",
        "---\ntitle: [\n---\n",
        "---\ntitle: A\nsummary: B\ndo: C\n---\n",
        "---\ntitle: A\nsummary: B\nlabels: {a: 1}\n---\n",
        "---\ntitle: A\ndo: C\nlabels: {a: 1}\n---\n",
        "---\nsummary: A\ndo: C\nlabels: {a: 1}\n---\n",
        "---\ntitle: ''\nsummary: B\ndo: C\nlabels: {a: 1}\n---\n",
    ],
)
def test_front_matter_that_lacks_something_is_named_with_its_file(compiled, front):
    with pytest.raises(ProseError, match=r"^sample/en\.md: (has no front matter|front matter)"):
        compiled("Text.", front=front)


@settings(max_examples=100)
@given(st.lists(st.sampled_from([
    "{{max_entropy}}", "{{weights[0,2] @ q20=3 | 3}}", "[a](set:q20=3)", "[b](section:masks)",
    "$x^2$", "\n\n$$\\sum_i x_i$$\n\n", "*em*", "`code`", "\n\n", "\n- ", "- [x] ", "# ", "> ",
    "::: misreading T\n", ":::\n", ":::: predict\n",
    "::: reveal\n", "::::\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<i>", "&", "\"", "text ", "```\ncode\n```\n",
]), max_size=14).map("".join))  # fmt: skip
def test_any_mixture_of_the_forms_gives_tags_that_match(text):
    compiler = Compiler("three_tokens", "en")
    html = compiler.markdown.renderer.render(compiler.markdown.parse(text), compiler.markdown.options, {})
    known = prose.quotable(SECTION, SECTION.trace(SECTION.defaults()))
    pieces = html.split("\x00")
    parse(
        "".join(
            piece if k % 2 == 0 else prose.live_number(compiler.numbers[int(piece)], known, "en")
            for k, piece in enumerate(pieces)
        )
    )


def test_a_heading_or_paragraph_names_the_view_it_speaks_of(page, compiled):
    made = page("{view=weights}\n## Shares\n\n{view=output}\nA line with {{weights[0,2]}}.\n\nAnother.", "three_tokens")
    assert [one.get("data-shows") for one in made.all("h2")] == ["weights"]
    assert [one.get("data-shows") for one in made.all("p")] == ["output", None]
    with pytest.raises(ProseError, match=r"sample/en.md: line \d+: {view=wheights}: the lab has no such view; there are entropy, output, scores, weights"):
        compiled("{view=wheights}\n## Shares")
    with pytest.raises(ProseError, match="no such view"):
        compiled("{view=wheights}\nA line.")


# The sections


SECTIONS = [(id, language) for id in WRITTEN for language in LANGUAGES]
TRANSLATIONS = [(id, language) for id, language in SECTIONS if language != "en"]


@pytest.mark.parametrize(("id", "language"), TRANSLATIONS)
def test_a_translation_has_the_outline_of_the_english_text(id, language):
    ours, english = prose.load(id, language).outline, prose.load(id, "en").outline
    for k, (here, there) in enumerate(zip(ours, english)):
        assert here == there, f"{k} of the outline of {language}.md differs, after {english[max(0, k - 3) : k]}"
    assert len(ours) == len(english)


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_what_the_reader_will_do_is_one_short_sentence_in_the_imperative(id, language):
    said = prose.load(id, language).do
    assert re.fullmatch(r"[^.]+\.", said) and len(said) <= 110 and "!" not in said
    first = said.split()[0].strip(",")
    if language == "en":
        assert not re.search(r"(ing|ed|The|You|A|In|How|Why)$", first), first
    else:  # the polite imperative
        assert re.search(r"(те|тесь|ть|ться)$", first), first


@pytest.mark.parametrize(("id", "language"), TRANSLATIONS)
def test_a_translation_was_made_from_the_english_text_of_today(id, language):
    assert prose.load(id, language).source == prose_hash(id), (
        f"{id}/{language}.md is stale: read en.md again, then put `source: {prose_hash(id)}` into it"
    )


@pytest.mark.parametrize(("id", "language"), TRANSLATIONS)
def test_a_translation_labels_what_the_english_text_labels(id, language):
    ours, english = prose.load(id, language).labels, prose.load(id, "en").labels
    assert list(ours) == list(english)
    for kind, labels in english.items():
        assert list(ours[kind]) == list(labels), kind
        for key, label in labels.items():
            assert type(ours[kind][key]) is type(label), f"{kind} {key}"
            if isinstance(label, list):
                assert len(ours[kind][key]) == len(label), f"{kind} {key}"


@pytest.mark.parametrize(("id", "language"), TRANSLATIONS)
def test_a_translation_is_written_in_its_own_letters(id, language):
    text = prose.load(id, language)
    html = parse("".join(part if isinstance(part, str) else "" for part in text.parts)).text
    words = re.findall(r"[^\W\d_]{4,}", html)
    assert sum(bool(re.match("[а-яіїєґё]", word.lower())) for word in words) > 0.7 * len(words)
    assert not set("ыэёъ" if language == "uk" else "іїєґ") & set(html.lower())
    for said in (text.title, text.summary, text.do):
        assert re.search("[а-яіїєґ]", said)


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_labels_cover_every_control_choice_and_array(id, language):
    section, labels = toc.load(id), prose.load(id, language).labels
    parameters = control_parameters(section.controls)
    assert set(labels["controls"]) == set(parameters)
    for name, options in (labels.get("options") or {}).items():
        assert len(options) == len(parameters[name].objects), name
        assert all(isinstance(option, str) and option for option in options), f"{name}: {options} (quote yes and no)"
    assert set(section.trace(section.defaults())._fields) <= set(labels["arrays"])
    for kind in ("arrays", "notes"):
        extra = set(labels.get(kind) or {}) - set(section.trace(section.defaults())._fields)
        extra -= {getattr(view, "title", None) for view in parts(labs.load(id))}
        assert extra <= (set(parameters) if kind == "notes" else set()), f"{kind} label what does not exist: {extra}"
    for axis, words in (labels.get("axes") or {}).items():
        assert all(isinstance(word, str) for word in words), f"axis {axis}: {words}"


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_no_raw_format_is_left_in_the_text(id, language):
    section = toc.load(id)
    html = prose.load(id, language).html(section, section.trace(section.defaults()), language)
    root = parse(html)
    for pre in [*root.all("pre"), *root.all("code"), *root.all("math")]:
        pre.children = []
    for leftover in ("{{", "}}", ":::", "$", "](", "[ ]", "[x]", "**", "\x00"):
        assert leftover not in root.text, leftover
    assert not [output["data-fact"] for output in root.all("output", data_fact=True) if output.text == "–"], (
        "numbers that the textbook setting does not have"
    )
    assert "∞" not in "".join(output.text for output in root.all("output"))


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_questions_of_every_section_can_be_answered(id, language):
    section = toc.load(id)
    root = parse(prose.load(id, language).html(section, section.trace(section.defaults()), language))
    asked, exercises = root.all("div", class_="ask predict"), root.all("div", class_="ask exercise")
    assert len(asked) >= 2 and len(exercises) >= 2
    for ask in asked:
        values = [option["value"] for option in ask.all("input")]
        assert values.count("right") == 1 and len(values) >= 2
        assert ask.one("details").text.strip()
    for exercise in exercises:
        assert exercise.one("form") and exercise.one("details").text.strip()
    assert [exercise["data-exercise"] for exercise in exercises] == list(prose.load(id, "en").exercises)
    assert root.all("div", class_="misreading")
    assert root.all("a", class_="set")


@pytest.mark.parametrize(("id", "language"), SECTIONS)
def test_text_is_of_a_readable_length_with_headings_in_order(id, language):
    section = toc.load(id)
    root = parse(prose.load(id, language).html(section, section.trace(section.defaults()), language))
    words = len(re.findall(r"\w+", root.text))
    assert 500 <= words <= 2400, words
    assert not root.all("h1")
    levels = [int(element.name[1]) for element in root.walk() if re.fullmatch("h[2-6]", element.name)]
    assert levels and levels[0] == 2
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:]))
    assert "!" not in re.sub(r"\d!|n!", "", root.text), "a book does not shout"


CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "mover": 2, "munder": 2, "munderover": 3, "mroot": 2}


@pytest.mark.parametrize("id", WRITTEN)
def test_equations_of_every_section_have_all_their_parts(id):
    section = toc.load(id)
    root = parse(prose.load(id, "en").html(section, section.trace(section.defaults()), "en"))
    for math in root.all("math"):
        assert math.text.strip() and not set("\\$&") & set(math.text), math.text
        for element in math.walk():
            if element.name in CHILDREN:
                assert len(element.children) == CHILDREN[element.name], f"{element.name} in {math.text!r}"


@pytest.mark.parametrize("id", WRITTEN)
def test_live_numbers_of_every_section_are_those_of_the_state(id):
    section = toc.load(id)
    numbers = [part for part in prose.load(id, "en").parts if isinstance(part, Number)]
    for values in other_settings(section, 2):
        trace = section.trace(values)
        root = parse(prose.load(id, "en").html(section, trace, "en"))
        known = {**arrays(trace), **section.facts(trace)}
        shown = [output for output in root.all("output", data_fact=True)]
        assert len(shown) == len(numbers)
        for output, number in zip(shown, numbers):
            name, _, index = number.name.partition("[")
            try:
                value = float(
                    np.asarray(known[name])[tuple(int(i) for i in index.rstrip("]").split(","))] if index else known[name]
                )
            except IndexError:
                assert output.text == "–"
                continue
            assert output.text == write_number(value, number.form or "2", "en")
