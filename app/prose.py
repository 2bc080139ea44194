"""A section's Markdown as HTML, with numbers, links that set controls, questions and equations in place.

The format is described in CONTRIBUTING.md. Text is compiled once for a section and language; only the live
numbers are written anew for each page.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Mapping, NamedTuple
from urllib.parse import parse_qsl

import latex2mathml.converter
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.attrs import attrs_block_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from app import labs
from content import toc
from content.controls import check
from content.numbers import DEFAULT, check_format, read_number, write_number
from content.section import Section, Undefined, control_parameters
from content.strings import STRINGS
from widgets.text import ELEMENT, quote

NUMBER = re.compile(r"\{\{\s*([^@|}]+?)\s*(?:(@)\s*([^|}]*?)\s*)?(?:\|\s*([^}]+?)\s*)?\}\}")
CONTAINERS = ("predict", "reveal", "exercise", "solution", "misreading")


class ProseError(ValueError):
    """A mistake in a section's Markdown; the message names the file and what is wrong."""


class Number(NamedTuple):
    """A number in the prose that follows the controls."""

    name: str
    form: str | None  # None: two decimals, or what the reader chose


class Exercise(NamedTuple):
    """A numeric question: the number asked for, at which setting, and how near is near enough."""

    name: str
    setting: str
    tolerance: float


class Prose(NamedTuple):
    """One section's text in one language."""

    title: str
    summary: str
    do: str  # what the reader will do here, one line for the contents
    labels: Mapping[str, Any]
    source: str | None  # hash of the English text that a translation was made from
    parts: tuple[str | Number, ...]  # HTML with the live numbers in between
    exercises: Mapping[str, Exercise]
    code: Mapping[str, str]  # "numpy", "torch" -> text with {{control}} in it
    questions: tuple[str, ...]  # names of predictions and exercises in order; the third stands at #q3
    outline: tuple[str, ...]  # placeholders, links, headings and equations in order: the same in every language

    def html(self, section: Section, trace: Any, language: str) -> str:
        """The text with its live numbers at `trace`; `None` leaves a dash where there is no number."""
        known = None if trace is None else quotable(section, trace)
        return "".join(p if isinstance(p, str) else live_number(p, known, language) for p in self.parts)


def quotable(section: Section, trace: Any) -> dict[str, Any]:
    """What prose can quote at this trace: facts by name, arrays by name for their elements."""
    return {**trace._asdict(), **section.facts(trace)}


def live_number(number: Number, known: Mapping[str, Any] | None, language: str) -> str:
    """A number that the page's module keeps up to date, as it stands at this state; a dash where it has none."""
    try:
        text = "–" if known is None else write_number(quote(known, number.name), number.form or DEFAULT, language)
    except (KeyError, IndexError):
        text = "–"  # an element outside the array at this setting
    form = f' data-format="{number.form}"' if number.form else ""
    return f'<output data-fact="{escape(number.name)}"{form}>{text}</output>'


@cache
def load(id: str, language: str) -> Prose:
    """A section's prose. Raises `ProseError` when the Markdown does not keep to the format."""
    return Compiler(id, language).prose()


@cache
def quotable_at(id: str, setting: str) -> Mapping[str, Any]:
    """What can be quoted of a section at a setting written as in an address, `q20=3&scaled=0`."""
    section = toc.load(id)
    values, problems = check(section, dict(parse_qsl(setting, keep_blank_values=True, strict_parsing=bool(setting))))
    if problems:
        raise ValueError(str(problems[0]))
    return quotable(section, section.trace(values))


def judge(id: str, name: str, answer: str) -> tuple[bool, float]:
    """Whether a reader's answer to an exercise is near enough, and how near it has to be.

    Raises KeyError for an unknown exercise and ValueError for an answer that is not a number.
    """
    exercise = load(id, "en").exercises[name]
    right = quote(quotable_at(id, exercise.setting), exercise.name)
    return abs(read_number(answer) - right) <= exercise.tolerance + 1e-12, exercise.tolerance


UPRIGHT = re.compile(r'(?:<mi mathvariant="normal">\w</mi>){2,}')
ACCENTS = {"^": "ˆ", "¯": "ˉ", "~": "˜", "―": "‾", "&#x0005E;": "ˆ", "&#x000AF;": "ˉ", "&#x0007E;": "˜", "&#x02015;": "‾"}


def mend_mathml(mathml: str) -> str:
    """What latex2mathml writes, as browsers' MathML Core wants it: whole words upright, accents that fit, limits of sums above."""
    mathml = mathml.replace("<mo>&#x0221E;</mo>", "<mi>&#x0221E;</mi>")  # infinity is a number here, without an operator's space
    mathml = UPRIGHT.sub(lambda run: "<mi>" + re.sub("<[^>]+>", "", run[0]) + "</mi>", mathml)
    for plain, accent in ACCENTS.items():
        found = rf"<mover(?: accent=\"true\")?>(.*?)<mo[^>]*>{re.escape(plain)}</mo></mover>"
        mathml = re.sub(found, rf'<mover accent="true">\1<mo stretchy="false">{accent}</mo></mover>', mathml)
    return mathml


class Compiler:
    """Turns one Markdown file into `Prose`."""

    def __init__(self, id: str, language: str) -> None:
        self.section, self.language, self.path = toc.load(id), language, toc.FOLDER / id / f"{language}.md"
        self.words = STRINGS[language]
        self.outline: list[str] = []
        self.numbers: list[Number] = []
        self.exercises: dict[str, Exercise] = {}
        self.code: dict[str, str] = {}
        self.predictions = 0
        self.questions: list[str] = []
        markdown = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
        front_matter_plugin(markdown)
        dollarmath_plugin(markdown, renderer=self.equation, double_inline=True)
        attrs_block_plugin(markdown, allowed=["view"])
        for name in CONTAINERS:
            container_plugin(markdown, name)
        markdown.inline.ruler.before("escape", "number", self.number_rule)
        markdown.core.ruler.push("options", self.mark_options)
        rules = markdown.renderer.rules
        for name in CONTAINERS:
            rules[f"container_{name}_open"] = rules[f"container_{name}_close"] = getattr(self, name)
        rules["number"] = lambda tokens, at, options, env: tokens[at].content
        rules["link_open"], rules["link_close"] = self.link_open, self.link_close
        rules["paragraph_open"] = lambda tokens, at, options, env: "" if tokens[at].hidden else f"<p{self.shows(tokens[at])}>"
        rules["heading_open"], rules["fence"] = self.heading_open, self.fence
        rules["list_item_open"], rules["list_item_close"] = self.item_open, self.item_close
        rules["table_open"] = lambda *_: '<div class="scroll" tabindex="0"><table class="plain">'
        rules["table_close"] = lambda *_: "</table></div>"
        self.markdown = markdown

    def fail(self, what: str) -> ProseError:
        return ProseError(f"{self.path.parent.name}/{self.path.name}: {what}")

    def prose(self) -> Prose:
        text = self.path.read_text(encoding="utf-8")
        tokens = self.markdown.parse(text)
        if not tokens or tokens[0].type != "front_matter":
            raise self.fail("has no front matter")
        try:
            front = yaml.safe_load(tokens[0].content)
        except yaml.YAMLError as error:
            raise self.fail(f"front matter: {error}") from None
        for key in ("title", "summary", "do", "labels"):
            if not front.get(key):
                raise self.fail(f"front matter lacks {key}")
        html = self.markdown.renderer.render(tokens[1:], self.markdown.options, {})
        html = re.sub(r"</math></span>(?=[.,;:?)»”’])", "</math></span>\u2060", html)  # no line begins with a full stop
        parts: list[str | Number] = []
        for k, piece in enumerate(html.split("\x00")):
            parts.append(piece if k % 2 == 0 else self.numbers[int(piece)])
        return Prose(
            front["title"], front["summary"], front["do"], front["labels"], front.get("source"), tuple(parts), self.exercises,
            self.code, tuple(self.questions), tuple(self.outline),
        )  # fmt: skip

    # Numbers

    def number_rule(self, state: Any, silent: bool) -> bool:
        match = NUMBER.match(state.src, state.pos)
        if not match:
            return False
        if not silent:
            state.push("number", "", 0).content = self.number(*match.groups())
        state.pos = match.end()
        return True

    def number(self, name: str, at: str | None, setting: str | None, form: str | None) -> str:
        self.outline.append(f"number {name} {'@' + setting if at else ''} {form or ''}".strip())
        try:
            if form:
                check_format(form)
            if at:
                text = write_number(quote(quotable_at(self.section.id, setting or ""), name), form or DEFAULT, self.language)
                return f'<span class="at">{text}</span>'
            if name in control_parameters(self.section.controls):
                raise KeyError(f"{name} is a control; quote an array or a fact")
            if not ELEMENT.fullmatch(name):
                quote(quotable_at(self.section.id, ""), name)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise self.fail(f"{{{{{name}}}}}: {error}") from None
        self.numbers.append(Number(name, form))
        return f"\x00{len(self.numbers) - 1}\x00"

    # Links and headings

    def link_open(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        href = tokens[at].attrs["href"]
        self.outline.append(f"link {href}")
        scheme, _, rest = href.partition(":")
        rest = rest.replace("&amp;", "&")
        env.setdefault("closing", []).append("</a>")
        if scheme == "set":
            self.check_setting(href, self.section.id, rest)
            address = escape(f"?page={self.section.id}&lang={self.language}&{rest}".rstrip("&"))
            return f'<a class="set" href="{address}" data-set="{escape(rest)}">'
        if scheme == "section":
            id, _, setting = rest.partition("?")
            if id not in toc.ORDER:
                raise self.fail(f"link section:{rest}: no such section")
            if id not in toc.written():
                env["closing"][-1] = "</span>"
                return '<span class="planned">'
            self.check_setting(href, id, setting)
            address = escape(f"?page={id}&lang={self.language}&{setting}".rstrip("&"))
            return f'<a href="{address}" data-page="{id}">'
        if scheme != "https":
            raise self.fail(f"link {href}: allowed are set:, section: and https:")
        return f'<a href="{escape(href)}" rel="noreferrer">'

    def check_setting(self, href: str, id: str, setting: str) -> None:
        """Raises `ProseError` where a section has no such setting; one without numbers is a legal thing to show."""
        try:
            quotable_at(id, setting)
        except Undefined:
            pass
        except ValueError as error:
            raise self.fail(f"link {href}: {error}") from None

    def link_close(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        return env["closing"].pop()

    def heading_open(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        self.outline.append(f"heading {tokens[at].tag}")
        return f'<{tokens[at].tag} id="h{sum(o.startswith("heading") for o in self.outline)}"{self.shows(tokens[at])}>'

    def shows(self, token: Any) -> str:
        """The attribute of a heading or paragraph that speaks of one part of the lab, which `{view=…}` in the line before names."""
        if "view" not in token.attrs:
            return ""
        name, places = str(token.attrs["view"]), labs.load(self.section.id).places()
        self.outline.append(f"view {name}")
        if name not in places:
            raise self.fail(f"line {token.map[0]}: {{view={name}}}: the lab has no such view; there are {', '.join(sorted(places))}")
        return f' data-shows="{name}"'

    # Equations and code

    def equation(self, latex: str, settings: Mapping[str, Any]) -> str:
        self.outline.append(f"equation {latex.strip()}")
        display = "block" if settings["display_mode"] else "inline"
        try:
            mathml = latex2mathml.converter.convert(latex.strip(), display=display)
        except Exception as error:  # the converter raises many kinds
            raise self.fail(f"equation {latex!r}: {error!r}") from None
        if "\\" in mathml:
            raise self.fail(f"equation {latex!r}: has a command that the converter does not know")
        mathml = mend_mathml(mathml)
        if self.language != "en":
            mathml = re.sub(r"<mn>(\d+)\.(\d+)</mn>", r"<mn>\1,\2</mn>", mathml)
        return f'<div class="equation" tabindex="0">{mathml}</div>' if display == "block" else mathml

    def fence(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        language = tokens[at].info.strip()
        if language in ("numpy", "torch"):
            self.code[language] = tokens[at].content
            return ""
        self.outline.append(f"code {tokens[at].content}")
        return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>'

    # Questions

    def question(self, name: str) -> str:
        """The attribute by which an address leads to the next question."""
        self.questions.append(name)
        return f'id="q{len(self.questions)}"'

    def predict(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        if tokens[at].nesting < 0:
            return "</div>"
        self.predictions += 1
        self.outline.append("predict")
        return f'<div {self.question(f"predict{self.predictions}")} class="ask predict" data-question="{self.predictions}"><p class="asked">{self.words["predict"]}</p>'

    def mark_options(self, state: Any) -> None:
        """List items that begin with `[ ]` or `[x]` become answers to choose from."""
        for item, paragraph, inline, end in zip(state.tokens, state.tokens[1:], state.tokens[2:], state.tokens[3:]):
            if item.type == "list_item_open" and inline.type == "inline" and inline.content[:4] in ("[ ] ", "[x] "):
                item.meta["right"] = inline.content[1] == "x"
                inline.content = inline.content[4:]
                paragraph.hidden = end.hidden = True
                inline.children[0].content = inline.children[0].content[4:]

    def item_open(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        right = tokens[at].meta.get("right")
        env.setdefault("items", []).append(right is not None)
        if right is None:
            return "<li>"
        self.outline.append(f"option {right}")
        value = "right" if right else "wrong"
        return f'<li class="option"><label><input type="radio" name="predict{self.predictions}" value="{value}"><span>'

    def item_close(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        return "</span></label></li>" if env["items"].pop() else "</li>"

    def reveal(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        return self.details(tokens[at], self.words["reveal"])

    def solution(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        if tokens[at].nesting < 0:
            return "</div></details>"
        form = (
            f'<form class="answer"><label>{self.words["your_answer"]} '
            '<input type="text" inputmode="decimal" autocomplete="off" maxlength="32"></label>'
            f'<button type="submit">{self.words["check"]}</button><output role="status"></output></form>'
        )
        return form + self.details(tokens[at], self.words["solution"])

    def details(self, token: Any, summary: str) -> str:
        return f"<details><summary>{summary}</summary><div>" if token.nesting > 0 else "</div></details>"

    def exercise(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        if tokens[at].nesting < 0:
            return "</div>"
        parts = [part.strip() for part in tokens[at].info.strip().removeprefix("exercise").split("|")]
        given = dict(part.partition("=")[::2] for part in parts[1:])
        if not parts[0].isidentifier() or set(given) != {"answer", "tolerance"}:
            raise self.fail(f"exercise {tokens[at].info!r}: needs a name, answer=… and tolerance=…")
        name, _, setting = (part.strip() for part in given["answer"].partition("@"))
        try:
            quote(quotable_at(self.section.id, setting), name)
            self.exercises[parts[0]] = Exercise(name, setting, float(given["tolerance"]))
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise self.fail(f"exercise {parts[0]}: {error}") from None
        self.outline.append(f"exercise {parts}")
        return f'<div {self.question(parts[0])} class="ask exercise" data-exercise="{parts[0]}"><p class="asked">{self.words["exercise"]}</p>'

    def misreading(self, tokens: Any, at: int, options: Any, env: Any) -> str:
        if tokens[at].nesting < 0:
            return "</div>"
        self.outline.append("misreading")
        title = self.markdown.renderInline(tokens[at].info.strip().removeprefix("misreading").strip())
        return f'<div class="misreading"><p class="asked">{title}</p>'
