"""Imports run one way: `app` uses everything, `widgets` nothing of the book, `content` no screen, a section only earlier ones."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from content import toc
from tests.book.files import OURS, ROOT, modules, text_of, tracked, tree_of

MAY = {"content": {"numpy", "param"}, "widgets": {"bokeh", "panel", "param", "numpy"}}
EXPERIMENTS = {"torch", "tqdm"}


def imported(path):
    """Full names of all modules that a file imports, at the top or inside a function."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def foreign(path):
    """First names of what a file imports that is neither Python's own nor ours."""
    return {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names)


def short(path):
    return str(Path(path).relative_to(ROOT))


@pytest.mark.parametrize("path", [path for path in modules("content") if "experiments" not in path.parts], ids=short)
def test_the_book_imports_numpy_param_and_itself(path):
    assert foreign(path) <= MAY["content"] | {"content"}


@pytest.mark.parametrize("path", [path for path in modules("content") if "experiments" in path.parts], ids=short)
def test_an_experiment_may_use_torch_as_well_and_no_screen(path):
    assert foreign(path) <= MAY["content"] | {"content"} | EXPERIMENTS


@pytest.mark.parametrize("path", modules("widgets"), ids=short)
def test_a_widget_knows_nothing_of_the_book(path):
    assert foreign(path) <= MAY["widgets"] | {"widgets"}


@pytest.mark.parametrize("path", modules("app", "content", "widgets"), ids=short)
def test_nothing_that_is_served_imports_a_test(path):
    assert "tests" not in foreign(path)


@pytest.mark.parametrize("path", modules("app", "widgets"), ids=short)
def test_torch_stands_in_the_experiments_only(path):
    assert "torch" not in foreign(path)


@pytest.mark.parametrize("id", toc.written())
def test_a_section_imports_only_earlier_ones(id):
    others = {
        name.split(".")[2]
        for path in (toc.FOLDER / id).glob("*.py")
        for name in imported(path)
        if name.startswith("content.sections.")
    } - {id}
    assert others <= set(toc.ORDER)
    later = [other for other in others if toc.ORDER.index(other) > toc.ORDER.index(id)]
    assert not later, f"{id} imports {later}, which come later"


@pytest.mark.parametrize("path", sorted((ROOT / "app" / "labs").glob("*.py")), ids=short)
def test_a_lab_says_which_view_shows_which_array_and_nothing_else(path):
    if path.stem == "__init__":
        return
    assert {name.split(".")[0] for name in imported(path)} <= {"widgets", "content", "math", "__future__"}
    tree = tree_of(path)
    assert not [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def test_reading_the_whole_book_loads_no_screen_and_no_torch():
    code = (
        "import sys; from content import toc, explain, strings, __main__\n"
        "sections = [toc.load(id) for id in toc.written()]\n"
        "traces = [section.trace(section.defaults()) for section in sections]\n"
        "print(sorted({'torch', 'panel', 'bokeh', 'tornado', 'distributed'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def front_end_imports(path):
    """Modules of the front end that another one imports, at once or when they are needed."""
    for name in re.findall(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']""", text_of(path)):
        yield (path.parent / name).resolve()


def test_no_module_imports_one_that_imports_it():
    """Over the whole house; a widget is one room, its Python and its front end together."""
    rooms = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in modules(*OURS)}
    arrows = {name.removesuffix(".__init__"): set() for name in rooms}
    for name, path in rooms.items():
        # `from app import steps` takes a module, `from app.steps import answer` a name of it.
        found = {full if full in arrows else full.rpartition(".")[0] for full in imported(path)}
        arrows[name.removesuffix(".__init__")] |= found & set(arrows)
    scripts = [path for path in tracked() if path.suffix == ".js" and path.relative_to(ROOT).parts[0] in OURS and "vendor" not in path.parts]
    assert scripts
    for path in scripts:
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        targets = {".".join(target.relative_to(ROOT).with_suffix("").parts) for target in front_end_imports(path)}
        arrows.setdefault(own, set()).update(targets)
    try:
        tuple(TopologicalSorter({name: found - {name} for name, found in arrows.items()}).static_order())
    except CycleError as circle:
        raise AssertionError(f"these import each other: {' → '.join(circle.args[1])}") from None
