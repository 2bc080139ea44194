"""A page of the book: prose and lab of one section, or the contents, in one language."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bokeh.document import Document
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app import address as addresses
from app import assets, labs, prose
from app.address import Address
from content import toc
from content.numbers import write_number
from content.section import Undefined, control_parameters
from content.strings import LANGUAGES, STRINGS
from widgets import palette
from widgets.arrows import Arrows
from widgets.lab import describe
from widgets.matrix import SHARES, Matrix
from widgets.text import Text

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
# Fetched side by side instead of one after the other as their imports are met.
FED = ("lab", "link", "matrix", "moves", "readout", "figure", "format", "save", "slide", "stepper", "svg")
MODULES = ("static/follow.js", "static/frame.js", "static/sheet.js", "static/stage.js", *(f"widgets/{name}.js" for name in FED))


def open_page(document: Document) -> None:
    """Prepares a session's document: the page it shows. Its lab is answered by `server.PageSocket`."""
    request = document.session_context.request
    asked = addresses.read(request.arguments if request is not None else {})
    document.template = TEMPLATES.get_template("section.html" if asked.page else "contents.html")
    document.template_variables["page"] = Page(asked)


class Page:
    """What the templates ask for. Written when the HTML is sent, not when a socket comes back to a new session."""

    def __init__(self, asked: Address) -> None:
        self.address = asked
        self.language = asked.language
        self.words = STRINGS[asked.language]
        self.languages = LANGUAGES
        self.looks = addresses.LOOKS
        self.asset = assets.url
        self.modules = MODULES
        self.styles = Markup(palette.css())

    def link(self, **changes: Any) -> str:
        """The address of this page with changes."""
        return addresses.write(self.address, **changes)

    def to(self, page: str | None) -> str:
        """The address of another section in this language and look."""
        return addresses.write(self.address, page=page, values={}, hide=(), view=self.address.view if page else None)

    def body(self) -> "Body":
        """Prose and lab of the section; computed once for readers of the same state."""
        a = self.address
        return section_body(a.page, a.language, tuple(a.values.items()), a.hide)

    def front(self) -> "Front":
        """What the front page shows beside the plan."""
        return front(self.language)

    def parts(self) -> list[tuple[str, list["Entry"], list[str]]]:
        """The plan of the book: of each part the title, the sections that can be read, and the titles of those to come."""
        return [
            (
                self.words["parts"][part], [entry(id, self.language) for id in ids if id in toc.written()],
                [self.words["plan"][id] for id in ids if id not in toc.written()],
            )
            for part, ids in toc.PARTS.items()
        ]  # fmt: skip

    def title(self, id: str) -> tuple[str, str, bool]:
        """Title and summary of a section and whether it is written."""
        if id not in toc.written():
            return self.words["plan"][id], "", False
        text = prose.load(id, self.language)
        return text.title, text.summary, True

    def part(self) -> str:
        """Number and title of the part that holds this section."""
        part = toc.part_of(self.address.page)
        number = list(toc.PARTS).index(part) + 1
        return f"{self.words['part'].format(number=number)} · {self.words['parts'][part]}"

    def neighbours(self) -> tuple[str | None, str | None]:
        return toc.neighbours(self.address.page)


class Entry(NamedTuple):
    """A section as the front page lists it."""

    id: str
    title: str
    do: str  # what the reader will do there
    questions: int
    picture: Markup  # drawn from the section's own numbers


@cache
def entry(id: str, language: str) -> Entry:
    """What the front page says of a section."""
    section, text = toc.load(id), prose.load(id, language)
    picture = labs.load(id).miniature().html(section.trace(section.defaults()))
    return Entry(id, text.title, text.do, len(text.questions), Markup(picture))


class Front:
    """The taste of a lab on the front page: three tokens' vectors to drag, and the weights they make."""

    section = "three_tokens"
    arrows_of = Arrows(tuple((f"q{k}0", f"q{k}1") for k in range(3)), names="tokens", reach=3.0)
    weights_of = Matrix("weights", rows="tokens", columns="tokens", colours=SHARES, most=0.7)

    def __init__(self, language: str) -> None:
        section, text, words = toc.load(self.section), prose.load(self.section, language), STRINGS[language]
        values, spoken = section.defaults(), view_text(self.section, language)
        self.first = toc.written()[0]
        self.arrows = Markup(self.arrows_of.html(values, spoken))
        self.weights = Markup(self.weights_of.table(section.trace(values), spoken))
        kept = ("continue_section", "continue_question", "answered_of", "progress_taken", "progress_copied", "progress_copy")
        config = {"page": self.section, "language": language, "values": values, "labels": {"axes": text.labels["axes"]}, "words": {k: words[k] for k in kept}}
        self.config = Markup(json.dumps(config, ensure_ascii=False).replace("</", "<\\/"))


front = cache(Front)


class Body:
    """A section's text and lab at one state, as HTML, and what the page's module needs to drive them."""

    def __init__(self, id: str, language: str, values: dict[str, Any], hide: tuple[str, ...]) -> None:
        section, text, lab = toc.load(id), prose.load(id, language), labs.load(id)
        words = STRINGS[language]
        parameters = control_parameters(section.controls)
        try:
            trace, self.undefined = section.trace(values), ""
        except Undefined as undefined:
            trace, self.undefined = None, str((text.labels.get("undefined") or {}).get(undefined.reason, undefined))
        self.title, self.summary = text.title, text.summary
        self.prose = Markup(text.html(section, trace, language))
        facts, spoken = {} if trace is None else prose.quotable(section, trace), view_text(id, language)
        self.lab = Markup(lab.html(trace, facts, parameters, values, spoken, hide))
        self.pulse = Markup(lab.pulse_html(trace, facts, spoken))
        self.pictures = bool(lab.pictures())
        config = {
            "page": id, "language": language, "words": {k: v for k, v in words.items() if isinstance(v, str)},
            "labels": text.labels, "controls": describe(parameters, values), "code": prose.load(id, "en").code,
            "pictures": pictures(id, language),
            "palettes": {look: [palette.diverging(look), palette.sequential(look)] for look in palette.LOOKS} if lab.pictures() else {},
            "bokeh": assets.url("bokeh.min.js"),
        }  # fmt: skip
        self.config = Markup(json.dumps(config, ensure_ascii=False).replace("</", "<\\/"))


def view_text(id: str, language: str) -> Text:
    """What the views of a section need to write themselves in a language."""
    return Text(prose.load(id, language).labels, STRINGS[language], lambda value, form: write_number(value, form, language))


@cache
def pictures(id: str, language: str) -> list[dict[str, Any]]:
    """A section's pictures as BokehJS embeds them: a tenth of a second to make, and the same in every state."""
    return [picture.item(view_text(id, language)) for picture in labs.load(id).pictures()]


@lru_cache(maxsize=128)
def section_body(id: str, language: str, values: tuple[tuple[str, Any], ...], hide: tuple[str, ...]) -> Body:
    return Body(id, language, dict(values), hide)
