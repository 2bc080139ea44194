"""The house: what a section consists of, one of each function, and what no file of the project may hold."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from content import toc
from content.strings import LANGUAGES
from tests.book.files import OURS, ROOT, modules, text_of, tracked, tree_of

TAUGHT = (
    "softmax",
    "attention",
    "entropy",
    "sinusoidal",
    "tokenize",
    "look_up",
    "causal_mask",
    "causal_visibility",
    "padding_visibility",
    "multi_head",
    "project",
    "jacobian",
    "unroll",
)


def short(path):
    return str(Path(path).relative_to(ROOT))


def functions(path):
    """Functions at the top of a module."""
    return [node for node in tree_of(path).body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def makes_a_control(function):
    return function.returns is not None and ast.unparse(function.returns).startswith("param.")


# What a section consists of


@pytest.mark.parametrize("id", toc.written())
def test_a_section_is_four_files_a_lab_and_a_test(id):
    files = {path.name for path in tracked() if path.parent == toc.FOLDER / id}
    assert files - {"__init__.py"} == {"compute.py", *(f"{language}.md" for language in LANGUAGES)}
    assert (ROOT / "app" / "labs" / f"{id}.py").is_file()
    assert (ROOT / "tests" / "sections" / f"test_{id}.py").is_file()


@pytest.mark.parametrize("id", toc.written())
def test_compute_ends_in_the_section_and_computes_by_name(id):
    path = toc.FOLDER / id / "compute.py"
    last = tree_of(path).body[-1]
    assert isinstance(last, ast.Assign) and ast.unparse(last).startswith(f"SECTION = Section('{id}', Controls, compute, facts")
    (compute,) = [function for function in functions(path) if function.name == "compute"]
    assert not compute.args.args and compute.args.kwonlyargs, "compute takes its controls by name"


@pytest.mark.parametrize("id", toc.written())
def test_nothing_is_random_when_a_section_is_loaded(id):
    text = text_of(toc.FOLDER / id / "compute.py")
    assert not re.search(r"np\.random\.(?!default_rng|Generator)\w+", text), "a global generator"
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            assert "default_rng" not in ast.unparse(node)


# One of each


def test_a_function_is_taught_once_and_imported_afterwards():
    places = defaultdict(list)
    for path in modules("content"):
        if "experiments" in path.parts:
            continue
        for function in functions(path):
            if (
                not function.name.startswith("_")
                and not makes_a_control(function)
                and function.name not in ("compute", "facts", "main", "run")
            ):
                places[function.name].append(short(path))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice


@pytest.mark.parametrize("name", TAUGHT)
def test_what_the_book_teaches_stands_in_the_whole_tree_once(name):
    defined = [
        short(path)
        for path in modules(*OURS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert len(defined) == 1 and defined[0].startswith("content/sections/"), defined


def test_no_name_says_that_it_is_another_version():
    for path in modules(*OURS):
        assert path.stem not in ("utils", "helpers", "misc", "common")
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                assert not re.search(r"_v\d+$|^new_|^old_|_final$|_new$", node.name), f"{short(path)}: {node.name}"


# What a reader of the code meets


@pytest.mark.parametrize("path", [path for path in modules(*OURS) if text_of(path).strip()], ids=short)
def test_a_module_and_its_public_functions_say_what_they_are_for(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree), "the module has no docstring"
    silent = [
        function.name
        for function in functions(path)
        if not function.name.startswith("_")
        and function.name != "main"
        and len(function.body) > 1
        and not makes_a_control(function)
        and not ast.get_docstring(function)
    ]
    assert not silent
    classes = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not set(classes) - {"Trace", "Projected", "Parser"}, "classes without a docstring"


@pytest.mark.parametrize("path", [path for path in modules(*OURS) if text_of(path).strip()], ids=short)
def test_a_docstring_begins_with_one_line_that_ends(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and (said := ast.get_docstring(node)):
            first = said.splitlines()[0]
            assert first.rstrip(")`”")[-1] in ".:;?", f"{getattr(node, 'name', 'module')}: {first}"
            assert "!" not in first


# One letter of each stands in brackets, so that this file does not hold what it looks for.
LEFTOVERS = re.compile(r"\b(?:TO[D]O|FI[X]ME|XX[X]|HA[C]K)\b")
MACHINE = re.compile(r"/wor[k]/|/far[m]/|/roo[t]/|/hom[e]/|pyp[i]\.org|pythonhoste[d]|npmj[s]\.org|deb\.debia[n]\.org")
FOREIGN = re.compile(r"https?://(?:cd[n]\.|unpk[g]|es[m]\.sh|fonts\.(?:googleapi[s]|gstati[c])|cdnj[s]|jsdeliv[r])")
LOADED = re.compile(
    r"""(?:\bsrc\s*=\s*["']|url\(\s*["']?|@import\s+["']?|\bimport\s*\(?\s*["']|\bfrom\s+["']"""
    r"""|fetch\(\s*["'`]|new WebSocket\(\s*["'`])(?:https?:)?//"""
)


@pytest.mark.parametrize("path", tracked(), ids=short)
def test_no_file_holds_a_leftover_a_machines_path_or_another_host(path):
    if "fonts" in path.parts and path.suffix == ".txt":
        return  # licences, word for word
    text = text_of(path)
    if path.suffix in (".py", ".js", ".md", ".css", ".html", ".toml"):
        assert not LEFTOVERS.findall(text)
    assert not MACHINE.findall(text)
    if path.relative_to(ROOT).parts[0] in OURS:
        assert not FOREIGN.findall(text) and not LOADED.findall(text)


@pytest.mark.parametrize("path", [path for path in tracked() if path.suffix in (".py", ".js", ".css")], ids=short)
def test_lines_end_well(path):
    text = text_of(path)
    assert not text or text.endswith("\n"), "no newline at the end"
    assert "\t" not in text and "\r" not in text
    assert not [k for k, line in enumerate(text.splitlines(), 1) if line != line.rstrip()], "spaces at the end of a line"


# Files of others


def vendored():
    return [
        path
        for path in tracked()
        if "vendor" in path.parts and path.suffix in (".woff2", ".js", ".css", ".wasm") and path.name != "fonts.css"
    ]


@pytest.mark.parametrize("path", vendored(), ids=short)
def test_a_vendored_file_has_its_licence_beside_it(path):
    licences = [licence.stem.removeprefix("LICENSE-") for licence in path.parent.glob("LICENSE-*.txt")]
    assert any(path.stem.startswith(name) for name in licences), f"no licence for {path.name}"


def test_every_licence_belongs_to_a_file_and_the_readme_says_where_they_come_from():
    for licence in [path for path in tracked() if path.name.startswith("LICENSE-")]:
        name = licence.stem.removeprefix("LICENSE-")
        assert list(licence.parent.glob(f"{name}*.*")), licence.name
        assert len(text_of(licence)) > 500
        assert name.split("-")[0].lower() in text_of(licence.parent / "README.md").lower()


def test_every_font_is_named_in_the_stylesheet():
    styles = text_of(ROOT / "app" / "static" / "vendor" / "fonts" / "fonts.css")
    for path in vendored():
        assert path.name in styles
