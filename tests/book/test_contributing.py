"""What CONTRIBUTING.md promises to authors is true: every form of the prose in its table, tried."""

import re

import pytest

from app.prose import Compiler
from content import toc
from content.prose_hash import prose_hash
from tests.book.files import ROOT, text_of
from tests.widgets.markup import parse

GUIDE = text_of(ROOT / "CONTRIBUTING.md")
FRONT = "---\ntitle: Sample\nsummary: One line.\ndo: Move one slider.\nlabels:\n  controls: {q00: q}\n---\n\n"


def rows(heading):
    """The first table below a heading: cells of each row."""
    _, _, below = GUIDE.partition(f"\n{heading}\n")
    table = re.search(r"(?:^\|.*\|\n)+", below, re.M)[0].splitlines()[2:]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


FORMS = [written for written, _ in rows("### Prose")]


@pytest.fixture
def written(tmp_path):
    """The HTML of Markdown at the defaults of three_tokens, and what was compiled."""

    def write(text, language="en"):
        compiler = Compiler("three_tokens", language)
        compiler.path = tmp_path / f"{language}.md"
        compiler.path.write_text(FRONT + text, encoding="utf-8")
        prose, section = compiler.prose(), toc.load("three_tokens")
        return parse(prose.html(section, section.trace(section.defaults()), language)), prose

    return write


def codes(row):
    """What stands between backticks in a row's first cell."""
    return re.findall(r"`` ?(.+?) ?``|` (```\w+) `|`([^`]+)`", row)


def form(beginning):
    """The row of the table whose first cell begins so."""
    (found,) = [row for row in FORMS if row.startswith(beginning)]
    return found


def quoted(row):
    return ["".join(parts) for parts in codes(row)]


def test_numbers_live_and_at_another_setting(written):
    for text in quoted(form("`{{weights[0,2]}}`")):
        root, _ = written(text)
        assert root.one("output", data_fact=True).text not in ("", "–")
    for text in quoted(form("`{{weights[2,2] @ q20=3}}`")):
        if text.startswith("{{"):
            root, _ = written(text)
            assert not root.all("output") and root.one("span", class_="at").text == "0.99"
    assert written("{{weights[2,2] @ }}")[0].one("span").text == "0.50"


def test_formats_of_a_number(written):
    for text in quoted(form("`{{x | 3}}`")):
        real = text.replace("{{x", "{{max_entropy").replace("a=1", "q20=1")
        assert written(real)[0].text.strip()
    assert written("{{max_entropy}}")[0].text.strip() == "1.58"


def test_links_that_set_controls_and_lead_to_sections(written):
    (text,) = quoted(form("`[text](set:"))
    link = written(text)[0].one("a", class_="set")
    assert (link.text, link["data-set"]) == ("text", "q20=3&scaled=0")
    plain, with_setting = quoted(form("`[text](section:masks)`"))
    assert written(plain)[0].one("a")["data-page"] == "masks"
    assert written(with_setting)[0].one("a")["href"].endswith("example=journey")
    planned = next(id for id in toc.ORDER if id not in toc.written())
    assert not written(f"[text](section:{planned})")[0].all("a")


def test_questions_and_misreadings(written):
    parts = quoted(form("`:::: predict`"))
    assert parts == [":::: predict", "- [ ]", "- [x]", "::: reveal", ":::", "::::"]
    ask = written(":::: predict\nWhich?\n\n- [ ] a\n- [x] b\n\n::: reveal\nThe second.\n:::\n::::\n")[0].one(
        "div", class_="ask predict"
    )
    assert len(ask.all("input", type="radio")) == 2 and ask.one("details")
    head, solution = quoted(form("`:::: exercise"))
    root, prose = written(f"{head.replace(' id ', ' milk ')}\nHow much?\n{solution}\nSo much.\n:::\n::::\n")
    assert root.one("form") and root.one("details")
    assert prose.exercises["milk"].setting == "scaled=0" and prose.exercises["milk"].tolerance == 0.005
    (head, _) = quoted(form("`::: misreading"))
    assert written(f"{head}\nNo.\n:::\n")[0].one("div", class_="misreading").one("p", class_="asked").text == "Title"


def test_equations_and_code_of_the_state(written):
    assert quoted(form("`$…$`")) == ["$…$", "$$…$$"]
    assert len(written("$x$\n\n$$y$$\n")[0].all("math")) == 2
    assert "numpy" in form("` ```numpy `") and "torch" in form("` ```numpy `")
    assert set(written("```numpy\nx = {{q00}}\n```\n```torch\ny\n```\n")[1].code) == {"numpy", "torch"}


def test_the_view_a_heading_speaks_of(written):
    assert quoted(form("`{view=roles}`")) == ["{view=roles}"]
    page, _ = written("{view=weights}\n## Shares\n")
    assert page.one("h2")["data-shows"] == "weights"


def test_every_row_of_the_table_is_tried_here():
    tried = (
        "`{{weights[0,2]}}`",
        "`{{weights[2,2] @ q20=3}}`",
        "`{{x | 3}}`",
        "`[text](set:",
        "`[text](section:masks)`",
        "`:::: predict`",
        "`:::: exercise",
        "`::: misreading",
        "`{view=roles}`",
        "`$…$`",
        "` ```numpy `",
    )
    assert len(FORMS) == len(tried)
    for beginning in tried:
        assert form(beginning)


def test_the_command_that_prints_the_hash_is_named_as_it_is():
    assert "python -m content.prose_hash" in GUIDE
    assert all(len(prose_hash(id)) == 12 for id in toc.written())


def test_files_and_folders_it_names_exist():
    for name in set(re.findall(r"`((?:app|content|widgets|tests)/[\w/.]*)`", GUIDE)):
        assert (ROOT / name).exists(), name


def test_it_is_a_page():
    assert len(GUIDE.splitlines()) < 120
