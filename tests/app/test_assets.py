"""Front-end files: which are served, under which address, and that nothing else is."""

import gzip
import re

import pytest

from app import assets


@pytest.fixture
def fresh():
    """The caches empty before and after, for tests that change files."""
    caches = (assets.paths, assets.digest, assets.read)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch, fresh):
    """A folder of its own in place of the front end's."""
    monkeypatch.setattr(assets, "FOLDERS", {"static": tmp_path})
    (tmp_path / "page.js").write_text("let a = 1;\n" * 50, encoding="utf-8")
    return tmp_path


def renewed(name="page.js"):
    for cached in (assets.paths, assets.digest, assets.read):
        cached.cache_clear()
    return assets.url(f"static/{name}")


def test_an_address_carries_twelve_digits_and_the_name():
    assert re.fullmatch(r"assets/[0-9a-f]{12}/static/page\.js", assets.url("static/page.js"))


def test_the_address_changes_with_any_file_and_comes_back_with_it(folder):
    first = renewed()
    (folder / "book.css").write_text("a {}", encoding="utf-8")
    second = renewed()
    (folder / "book.css").write_text("b {}", encoding="utf-8")
    third = renewed()
    assert len({first, second, third}) == 3
    (folder / "book.css").unlink()
    assert renewed() == first


def test_the_address_changes_with_a_name(folder):
    before = renewed()
    (folder / "page.js").rename(folder / "other.js")
    assert renewed("other.js").split("/")[1] != before.split("/")[1]


def test_content_is_sent_as_it_is_and_gzipped_where_that_is_smaller(folder):
    (folder / "tiny.js").write_text("1", encoding="utf-8")
    (folder / "font.woff2").write_bytes(b"0" * 1000)
    renewed()
    page = assets.read("static/page.js")
    assert page.plain == (folder / "page.js").read_bytes()
    assert gzip.decompress(page.gzipped) == page.plain and len(page.gzipped) < len(page.plain)
    assert assets.read("static/tiny.js").gzipped is None
    assert assets.read("static/font.woff2").gzipped is None


def test_gzipped_content_is_the_same_in_every_process(folder):
    renewed()
    once = assets.read("static/page.js").gzipped
    assets.read.cache_clear()
    assert assets.read("static/page.js").gzipped == once
    assert once[4:8] == b"\0\0\0\0"  # no time of day in it


@pytest.mark.parametrize(
    "name",
    [
        "", "page.js", "static", "static/", "static/nothing.js", "static/../main.py", "../app/main.py",
        "static/../../content/toc.py", "/etc/passwd", "static//page.js",
        "static/./page.js", "static/page.js/", "STATIC/page.js", "static/page.js\0", "widgets/lab.py",
        "static/vendor/fonts/README.md", "static/vendor/fonts/subset.py", "templates/frame.html", "static\\page.js",
        "%2e%2e/main.py",
    ],
)  # fmt: skip
def test_any_other_name_is_refused(name):
    for ask in (assets.read, assets.url):
        with pytest.raises(KeyError):
            ask(name)


def test_no_source_of_the_server_is_among_what_is_served():
    for name, path in assets.paths().items():
        assert path.suffix in assets.SERVED and path.is_file()
        assert not name.endswith((".py", ".md", ".html", ".toml"))


def test_every_kind_of_file_has_its_type():
    assert set(assets.TYPES) == assets.SERVED
    for name in (
        "static/page.js",
        "static/book.css",
        "static/favicon.svg",
        "static/vendor/fonts/inter-latin.woff2",
        "bokeh.min.js",
    ):
        assert assets.read(name).type == assets.TYPES[name[name.rindex(".") :]]


def test_modules_import_only_what_is_served():
    for name in assets.paths():
        if not name.endswith(".js") or name == "bokeh.min.js":
            continue
        text = assets.read(name).plain.decode()
        for imported in re.findall(r"""^import .*?from ["'](.+?)["'];""", text, re.M):
            folder, up = name.split("/")[:-1], imported.split("/")
            while up[0] in (".", ".."):
                folder = folder[:-1] if up.pop(0) == ".." else folder
            assert "/".join([*folder, *up]) in assets.paths(), f"{name} imports {imported}"


def test_styles_name_only_fonts_that_are_served():
    fonts = assets.read("static/vendor/fonts/fonts.css").plain.decode()
    named = set(re.findall(r"""url\(["']?([^)"']+)""", fonts))
    assert named
    assert {f"static/vendor/fonts/{name.removeprefix('./')}" for name in named} <= set(assets.paths())


def test_bokeh_js_is_the_one_of_the_installed_bokeh():
    import bokeh

    assert assets.bokeh_js().is_file()
    assert bokeh.__version__ in assets.read("bokeh.min.js").plain[:200_000].decode("utf-8", "replace") + assets.read(
        "bokeh.min.js"
    ).plain[-200_000:].decode("utf-8", "replace")
