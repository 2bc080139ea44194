"""The query string of a page: which section, language and look, and where the controls stand."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence
from urllib.parse import urlencode

from content import toc
from content.controls import check, shown
from content.section import control_parameters
from content.strings import LANGUAGES, STRINGS

RESERVED = ("page", "lang", "look", "view", "hide")
LOOKS = ("light", "dark", "projector")
MOST_SETTINGS = 200


class Address(NamedTuple):
    """What an address asks for, checked; `notices` says in the reader's language what was ignored."""

    page: str | None  # None: the contents
    language: str
    look: str | None  # None: as the reader's browser prefers
    view: str | None  # "lab" or None
    hide: tuple[str, ...]
    values: Mapping[str, Any]
    notices: tuple[str, ...]


def read(arguments: Mapping[str, Sequence[bytes]]) -> Address:
    """Checks query arguments as the server hands them over. Never raises: what is wrong is ignored and said."""
    # Without signed sessions these may come out of a token that somebody wrote.
    arguments = {
        name: values
        for name, values in arguments.items()
        if isinstance(values, list) and all(isinstance(value, bytes) for value in values)
    }
    given = {name: values[0].decode("utf-8", "replace") for name, values in arguments.items() if values}
    language = given.get("lang", "en")
    words = STRINGS.get(language, STRINGS["en"])["problem"]
    notices = [words["twice"].format(name=shown(name)) for name, values in arguments.items() if len(values) > 1][:3]
    if language not in LANGUAGES:
        notices.append(words["language"].format(given=shown(language), allowed=", ".join(LANGUAGES)))
        language = "en"
    look, view = given.get("look"), given.get("view")
    if look is not None and look not in LOOKS:
        notices.append(words["look"].format(given=shown(look), allowed=", ".join(LOOKS)))
        look = None
    if view is not None and view != "lab":
        notices.append(words["view"].format(given=shown(view), allowed="lab"))
        view = None
    page = given.get("page")
    if page is not None and page not in toc.written():
        kind = "planned_page" if page in toc.ORDER else "page"
        notices.append(words[kind].format(given=shown(page)))
        page = None
    if page is None:
        return Address(None, language, look, None, (), {}, tuple(notices))
    section = toc.load(page)
    settings = {name: value for name, value in given.items() if name not in RESERVED}
    if len(settings) > MOST_SETTINGS:
        notices.append(words["long"])
        settings = {}
    values, problems = check(section, settings)
    notices += [words[p.kind].format(name=p.name, given=p.given, allowed=p.allowed) for p in problems[:5]]
    names = control_parameters(section.controls)
    hide = [name for name in given.get("hide", "").split(",") if name]
    notices += [words["hide"].format(given=shown(name)) for name in hide if name not in names][:3]
    return Address(page, language, look, view, tuple(n for n in hide if n in names), values, tuple(notices))


def write(address: Address, **changes: Any) -> str:
    """The query string of an address, with `changes`; controls at their defaults are left out."""
    address = address._replace(**changes)
    query: dict[str, Any] = {}
    if address.page:
        query["page"] = address.page
    query["lang"] = address.language
    if address.look:
        query["look"] = address.look
    if address.view:
        query["view"] = address.view
    if address.hide:
        query["hide"] = ",".join(address.hide)
    if address.page:
        defaults = toc.load(address.page).defaults()
        query |= {name: plain(value) for name, value in address.values.items() if value != defaults[name]}
    return "?" + urlencode(query)


def plain(value: Any) -> str:
    """A control value as it stands in an address.

    >>> plain(3.0), plain(0.05), plain("causal")
    ('3', '0.05', 'causal')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
