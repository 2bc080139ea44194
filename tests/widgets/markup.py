"""HTML as a tree for the tests: parsing fails where a browser would have to guess."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Iterator

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
CLOSES_P = {
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul",
}  # fmt: skip


class Element:
    """One element: its name, attributes (None where they stand bare), children and text."""

    def __init__(self, name: str, attributes: dict[str, str | None], parent: Element | None) -> None:
        self.name, self.attributes, self.parent = name, attributes, parent
        self.children: list[Element | str] = []

    def __getitem__(self, attribute: str) -> str | None:
        return self.attributes[attribute]

    def get(self, attribute: str, default: str | None = None) -> str | None:
        return self.attributes.get(attribute, default)

    def __contains__(self, attribute: str) -> bool:
        return attribute in self.attributes

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def classes(self) -> set[str]:
        return set((self.get("class") or "").split())

    def walk(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.walk()

    def all(self, name: str | None = None, /, **wanted: str | bool) -> list[Element]:
        """Elements below of this name whose attributes are as wanted; True: just there."""

        def fits(element: Element) -> bool:
            if name and element.name != name:
                return False
            for key, value in wanted.items():
                key = key.rstrip("_").replace("_", "-")
                if value is True and key not in element or value is not True and element.get(key) != value:
                    return False
            return True

        return [element for element in self.walk() if fits(element)]

    def one(self, name: str | None = None, /, **wanted: str | bool) -> Element:
        (found,) = self.all(name, **wanted)
        return found

    def inside(self, name: str) -> Element | None:
        """The nearest element of this name around."""
        around = self.parent
        while around is not None and around.name != name:
            around = around.parent
        return around


class Parser(HTMLParser):
    """Builds the tree and fails on tags that do not match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("root", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        if tag in CLOSES_P:
            around = self.at
            while around.name in {"span", "a", "b", "i", "em", "strong", "small", "label", "output"}:
                around = around.parent
            assert around.name != "p", f"<{tag}> inside a paragraph, which a browser would close before it"
        element = Element(tag, dict(attrs), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag not in VOID, f"</{tag}>"
        assert self.at.name == tag, f"</{tag}> where <{self.at.name}> is open"
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def parse(html: str) -> Element:
    """The tree of a whole page or a piece of one. AssertionError where tags do not match."""
    parser = Parser()
    parser.feed(html)
    parser.close()
    assert parser.at is parser.root, f"<{parser.at.name}> is never closed"
    return parser.root
