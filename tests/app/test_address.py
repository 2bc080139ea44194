"""The query string: what it asks for, what of it is ignored, and that one state has one address."""

from urllib.parse import parse_qs, parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tornado.escape import parse_qs_bytes

from app import address
from app.address import LOOKS, MOST_SETTINGS, RESERVED, Address, plain, read, write
from content import toc
from content.strings import LANGUAGES, STRINGS
from tests.content.drawn import WRITTEN, values_of


def ask(query):
    """The address of a query string, parsed as the server does it."""
    return read(parse_qs_bytes(query, keep_blank_values=True))


def notice(language, kind, **parts):
    return STRINGS[language]["problem"][kind].format(**parts)


def test_nothing_asked_for_is_the_contents_in_english():
    assert ask("") == Address(None, "en", None, None, (), {}, ())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("id", WRITTEN)
def test_a_page_opens_at_its_textbook_setting_in_each_language(id, language):
    asked = ask(f"page={id}&lang={language}")
    assert asked == Address(id, language, None, None, (), toc.load(id).defaults(), ())


def test_everything_at_once_is_read():
    asked = ask("page=three_tokens&lang=uk&look=dark&view=lab&hide=q00,q01&q20=3&scaled=0")
    assert (asked.page, asked.language, asked.look, asked.view, asked.hide) == (
        "three_tokens",
        "uk",
        "dark",
        "lab",
        ("q00", "q01"),
    )
    assert asked.values == {**toc.load("three_tokens").defaults(), "q20": 3.0, "scaled": 0}
    assert asked.notices == ()


def test_no_control_has_the_name_of_a_reserved_key():
    for id in WRITTEN:
        assert not set(RESERVED) & set(toc.load(id).defaults())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("query", "kind", "parts"),
    [
        ("page=nothing", "page", {"given": "nothing"}),
        ("page=misconceptions", "planned_page", {"given": "misconceptions"}),
        ("page=masks&look=neon", "look", {"given": "neon", "allowed": ", ".join(LOOKS)}),
        ("page=masks&view=all", "view", {"given": "all", "allowed": "lab"}),
        ("page=masks&hide=q99", "hide", {"given": "q99"}),
        ("page=masks&q99=1", "unknown", {"name": "q99"}),
        ("page=masks&s0=x", "type", {"name": "s0", "given": "x", "allowed": "-5 … 5"}),
        ("page=masks&s0=6", "range", {"name": "s0", "given": "6", "allowed": "-5 … 5"}),
        ("page=masks&s0=nan", "range", {"name": "s0", "given": "nan", "allowed": "-5 … 5"}),
        ("page=masks&s0=-inf", "range", {"name": "s0", "given": "-inf", "allowed": "-5 … 5"}),
        ("page=masks&s0=1e308", "range", {"name": "s0", "given": "1e308", "allowed": "-5 … 5"}),
        ("page=masks&query=1.5", "type", {"name": "query", "given": "1.5", "allowed": "0 … 7"}),
        ("page=masks&kind=all", "choice", {"name": "kind", "given": "all", "allowed": "none, causal, padding, custom"}),
        ("page=masks&s0=1&s0=2", "twice", {"name": "s0"}),
        ("page=masks&" + "&".join(f"x{k}=1" for k in range(MOST_SETTINGS + 1)), "long", {}),
    ],
)  # fmt: skip
def test_what_is_ignored_is_said_in_the_readers_language(language, query, kind, parts):
    asked = ask(f"{query}&lang={language}")
    assert asked.notices == (notice(language, kind, **parts),)
    assert asked.language == language
    if asked.page:
        expected = {**toc.load("masks").defaults(), **({"s0": 1.0} if kind == "twice" else {})}
        assert asked.values == expected


def test_a_language_that_is_not_here_is_said_in_english():
    asked = ask("page=masks&lang=tlh")
    assert asked.language == "en"
    assert asked.notices == (notice("en", "language", given="tlh", allowed="en, ru, uk"),)


def test_the_first_of_several_is_taken():
    assert ask("page=masks&s0=1&s0=2&lang=uk&lang=ru").values["s0"] == 1.0
    assert ask("page=masks&lang=uk&lang=ru").language == "uk"


def test_a_legal_part_is_taken_beside_an_illegal_one():
    asked = ask("page=masks&s0=6&s1=1.5&hide=s0,nothing")
    assert asked.values == {**toc.load("masks").defaults(), "s1": 1.5}
    assert asked.hide == ("s0",)
    assert len(asked.notices) == 2


@pytest.mark.parametrize(
    "query",
    [
        "page=masks&" + "&".join(f"x{k}=1" for k in range(150)),
        "page=masks&hide=" + "a," * 10_000,
        "&".join(f"k{k}=1&k{k}=2" for k in range(150)),
    ],
)
def test_a_reader_is_told_a_few_things_and_not_hundreds(query):
    assert len(ask(query).notices) <= 6


@pytest.mark.parametrize("key", ["page", "lang", "look", "view", "hide", "s0", "kind", "visible", "x" * 1000])
def test_megabytes_in_a_value_give_one_short_notice(key):
    asked = read({"page": [b"masks"], key: [b"9" * 10_000_000]})
    assert len(asked.notices) == 1
    assert len(asked.notices[0]) < 400


def test_braces_and_markup_in_a_value_are_said_back_as_they_are():
    (said,) = ask("page=masks&kind={name}<script>").notices
    assert "{name}<script>" in said


addresses = st.sampled_from(WRITTEN).flatmap(
    lambda id: st.builds(
        Address,
        page=st.just(id),
        language=st.sampled_from(list(LANGUAGES)),
        look=st.none() | st.sampled_from(LOOKS),
        view=st.sampled_from([None, "lab"]),
        hide=st.lists(st.sampled_from(list(toc.load(id).defaults())), unique=True, max_size=3).map(tuple),
        values=values_of(toc.load(id)),
        notices=st.just(()),
    )
)


@given(addresses)
def test_an_address_that_was_written_is_read_back(asked):
    query = write(asked)
    assert query.startswith("?") and query.isascii() and " " not in query
    again = ask(query[1:])
    assert again == asked, query
    assert all(type(again.values[name]) is type(value) for name, value in asked.values.items())
    assert ask(write(again)[1:]) == again


@given(addresses)
def test_only_what_is_not_at_its_default_is_written(asked):
    defaults = toc.load(asked.page).defaults()
    written = dict(parse_qsl(write(asked)[1:], keep_blank_values=True))
    assert set(written) - set(RESERVED) == {name for name, value in asked.values.items() if value != defaults[name]}
    assert (written["page"], written["lang"]) == (asked.page, asked.language)


def test_numbers_stand_in_an_address_as_javascript_writes_them():
    assert [plain(value) for value in (3.0, -1.0, 0.05, 7, 0, "causal", 1e-05)] == [
        "3",
        "-1",
        "0.05",
        "7",
        "0",
        "causal",
        "1e-05",
    ]
    asked = ask("page=masks&s0=0.25&x0=3.0&query=02")
    assert parse_qs(write(asked)[1:]) == {"page": ["masks"], "lang": ["en"], "s0": ["0.25"], "x0": ["3"], "query": ["2"]}


def test_changes_are_written_over_what_was_asked():
    asked = ask("page=masks&s0=1&look=dark&lang=ru")
    assert write(asked, language="uk") == "?page=masks&lang=uk&look=dark&s0=1"
    assert write(asked, page=None) == "?lang=ru&look=dark"


@settings(max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from([*RESERVED, "s0", "kind", "query", "visible", "sentence"]) | st.text(),
        st.lists(
            st.binary()
            | st.sampled_from([id.encode() for id in WRITTEN])
            | st.sampled_from([b"en", b"uk", b"1", b"lab", b"dark", b"s0,kind"]),
            max_size=3,
        ),
    )
)
def test_nothing_that_stands_in_an_address_raises(arguments):
    asked = read(arguments)
    assert asked.page is None or asked.page in WRITTEN
    assert asked.language in LANGUAGES
    assert asked.look in (None, *LOOKS)
    assert asked.view in (None, "lab")
    if asked.page:
        section = toc.load(asked.page)
        assert set(asked.hide) <= set(asked.values) == set(section.defaults())
    for said in asked.notices:
        assert said and len(said) < 1000
    assert read(parse_qs_bytes(write(asked)[1:], keep_blank_values=True))._replace(notices=()) == asked._replace(notices=())


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_no_query_string_raises(query):
    assert isinstance(read(parse_qs_bytes(query, keep_blank_values=True)), Address)


@pytest.mark.parametrize("values", [5, None, "masks", {}, [5], [b"masks", "x"], [[b"masks"]]])
def test_what_is_no_argument_of_a_query_is_not_there(values):
    assert read({"page": values, "lang": [b"uk"]}) == Address(None, "uk", None, None, (), {}, ())


def test_the_words_of_every_notice_exist_in_every_language():
    kinds = {"unknown", "type", "range", "choice", "twice", "language", "look", "view", "page", "planned_page", "hide", "long"}
    for language in LANGUAGES:
        assert kinds <= set(STRINGS[language]["problem"])
    assert address.RESERVED == ("page", "lang", "look", "view", "hide")
