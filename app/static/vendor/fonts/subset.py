"""Rebuild the WOFF2 files, the licences and `fonts.css` of this folder from the unpacked npm packages.

    python subset.py PACKAGES [OUT]

PACKAGES is a folder that holds the packages of `SOURCES` under their npm names (a `node_modules` folder);
OUT is where the files go, by default the folder of this script. Needs fonttools and brotli. The same
packages and the same fonttools give the same bytes.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

SOURCES = {  # package: (version, its licence file, the name that the licence gets here)
    "@fontsource-variable/literata": ("5.3.0", "LICENSE", "LICENSE-literata.txt"),
    "inter-ui": ("4.1.1", "LICENSE.txt", "LICENSE-inter.txt"),
    "@fontsource/stix-two-math": ("5.3.0", "LICENSE", "LICENSE-stix-two-math.txt"),
}
LITERATA = "@fontsource-variable/literata/files/literata-{script}-wght-{style}.woff2"
INTER = "inter-ui/variable/InterVariable.woff2"
STIX = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"


def codes(text: str) -> set[int]:
    """The code points named by `text`: hexadecimal numbers and ranges, parted by spaces.

    >>> sorted(codes("41-43 7A"))
    [65, 66, 67, 122]
    """
    found = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found |= set(range(int(first, 16), int(last or first, 16) + 1))
    return found


def chars(text: str) -> set[int]:
    """The code points of the characters of `text`, spaces left out."""
    return {ord(character) for character in text if not character.isspace()}


# Basic Latin, Latin-1, Œ œ and the dotless i, the apostrophe letter, and the punctuation of English, Russian and Ukrainian.
LATIN = codes("20-7E A0-FF 131 152-153 2BC") | chars("‘’‚“”„•…‹›′″–—−€™")
SPACES_AND_HYPHENS = codes("2009 2010 2011 202F")
CYRILLIC = codes("401 404 406 407 410-44F 451 454 456 457 490 491") | chars("№") | {0x301}  # U+0301: the stress mark
UI_SIGNS = chars(
    "√∞≤≥≠≈∂∑∏∆→←↑↓↔↗↘⇒"
    "αβγδεηθλμνπρστφψωΔΣΩ"
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₜₖₙ"
    "✓✗▲▼▶◀●○■□⌘"
)
MATH = (
    codes("20-7E A0 A8 AC AF B0 B1 B4 B7 D7 F7")
    | codes("391-3A1 3A3-3A9 3B1-3C9 3D1 3D5 3D6 3F0 3F1 3F5")  # Greek and its variant letters
    | codes("131 237 210E 1D6A4 1D6A5")  # dotless i and j, italic h
    | codes("1D400-1D454 1D456-1D49B")  # bold, italic, bold italic Latin
    | codes("1D6A8-1D755 1D7CE-1D7D7")  # bold, italic, bold italic Greek; bold digits
    | chars("ℝℕℤℚℂℙ𝔼𝟙ℒℋℱ𝒟𝒩𝒪𝒰𝒱𝒳𝒴ℓ")
    | chars("∑∏∫√∞∂∇−±∓×÷⋅·∘∗⊙⊗⊕⊤⊥∈∉∋⊂⊆∪∩∖∅∀∃∧∨")
    | chars("≤≥≠≈≡∼≃∝≪≫≜≔⩽⩾←→↑↓↔↦⇐⇒⇔⟶⟵⟹↗↘")
    | chars("⁰⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ₀₁₂₃₄₅₆₇₈₉₊₋✓")  # for prose: Literata has none of these
    | chars("‖∥∣⟨⟩⌊⌋⌈⌉…⋯⋮⋱⋰′″‴∎□†⋆⏞⏟")
    | codes("2C6 2C7 2C9 2CB 2D8 2D9 2DA 2DC")  # spacing accents
    | codes("300-304 305 306 307 308 30C 20D7 332 338")  # combining accents: hat, tilde, bar, dot, vec, slash
    | codes("2009 200A 2002 2003 2004 2005 2010 2013 2014 2015 203E")
)


@dataclass(frozen=True)
class Face:
    """One file: its source, the code points it keeps, the OpenType features it keeps, and its weight axis."""

    name: str
    source: str
    codepoints: set[int]
    features: tuple[str, ...]
    axes: dict | None = None
    hinting: bool = True  # the text fonts carry only a few bytes of it
    aliases: tuple[tuple[int, int], ...] = ()  # (code point, the one whose glyph it borrows)


WEIGHTS = {"wght": (400, 650)}
TEXT_FEATURES = ("kern", "mark", "mkmk", "ccmp", "locl", "liga", "tnum", "rvrn", "rlig")
HYPHENS = ((0x2010, 0x2D), (0x2011, 0x2D), (0x202F, 0x2009))  # U+2010, U+2011 and U+202F are not in Literata

FACES = [
    *(
        Face(
            f"literata-{script}-{file_style}.woff2",
            LITERATA.format(script=script, style=style),
            LATIN | SPACES_AND_HYPHENS if script == "latin" else CYRILLIC,
            TEXT_FEATURES,
            WEIGHTS,
            aliases=HYPHENS if script == "latin" else (),
        )
        for script in ("latin", "cyrillic")
        for style, file_style in (("normal", "roman"), ("italic", "italic"))
    ),
    Face("inter-latin.woff2", INTER, LATIN | SPACES_AND_HYPHENS | UI_SIGNS, TEXT_FEATURES, WEIGHTS | {"opsz": 14}),
    Face("inter-cyrillic.woff2", INTER, CYRILLIC, TEXT_FEATURES, WEIGHTS | {"opsz": 14}),
    Face("stix-two-math.woff2", STIX, MATH, ("kern", "ccmp"), hinting=False),
]


MATH_FILE = FACES[-1].name
SCRIPTS = ("latin", "cyrillic")
LIGHT, HEAVY = "400 549", "550 650"
# (family, style, weights, local names, size-adjust in per cent): the mean advance of a page of English prose in our
# font over that in the local one, at weight 400 or 600. Georgia was measured through Gelasio and Arial through
# Liberation Sans, which have the same advances.
FALLBACKS = [
    ("Literata", "normal", LIGHT, ("DejaVu Serif", "DejaVuSerif"), 92.6),
    ("Literata", "normal", HEAVY, ("DejaVu Serif Bold", "DejaVuSerif-Bold"), 87.4),
    ("Literata", "italic", "400 650", ("DejaVu Serif Italic", "DejaVuSerif-Italic"), 87.5),
    ("Literata", "normal", LIGHT, ("Noto Serif", "Noto Serif Regular", "NotoSerif-Regular"), 100),
    ("Literata", "normal", HEAVY, ("Noto Serif Bold", "NotoSerif-Bold"), 97.8),
    ("Literata", "italic", "400 650", ("Noto Serif Italic", "NotoSerif-Italic"), 97),
    ("Literata", "normal", LIGHT, ("Georgia", "Gelasio"), 107.7),
    ("Literata", "normal", HEAVY, ("Georgia Bold", "Georgia-Bold", "Gelasio Bold"), 96.2),
    ("Literata", "italic", "400 650", ("Georgia Italic", "Georgia-Italic", "Gelasio Italic"), 99.7),
    ("Inter", "normal", LIGHT, ("Noto Sans", "Noto Sans Regular", "NotoSans-Regular"), 101.4),
    ("Inter", "normal", HEAVY, ("Noto Sans Bold", "NotoSans-Bold"), 97.2),
    ("Inter", "normal", LIGHT, ("Roboto", "Roboto-Regular"), 107.7),
    ("Inter", "normal", HEAVY, ("Roboto Bold", "Roboto-Bold"), 108.2),
    ("Inter", "normal", LIGHT, ("Arial", "ArialMT", "Helvetica", "Liberation Sans"), 107.2),
    ("Inter", "normal", HEAVY, ("Arial Bold", "Arial-BoldMT", "Helvetica Bold", "Liberation Sans Bold"), 101.7),
]


def build(face: Face, packages: Path) -> TTFont:
    """The subset font of `face`; code points that the source lacks are named on standard error."""
    font = TTFont(packages / face.source, recalcTimestamp=False)
    if face.axes:
        narrowed = BytesIO()  # through bytes, since the subsetter needs the tables as a file has them
        instancer.instantiateVariableFont(font, face.axes).save(narrowed)
        font = TTFont(narrowed, recalcTimestamp=False)
    for table in font["cmap"].tables:
        for code, lender in face.aliases:
            if table.isUnicode() and lender in table.cmap:
                table.cmap.setdefault(code, table.cmap[lender])
    missing = face.codepoints - set(font.getBestCmap())
    if missing:
        print(face.name, "lacks", " ".join(f"{chr(code)} U+{code:04X}" for code in sorted(missing)), file=sys.stderr)

    options = subset.Options()
    options.layout_features = list(face.features)
    options.hinting = face.hinting
    options.glyph_names = False
    options.notdef_outline = True
    options.name_IDs = [0, 1, 2, 4, 5, 6, 13, 14]  # names, version, copyright and licence
    options.name_languages = [0x409]
    options.drop_tables += ["vhea", "vmtx", "VVAR", "DSIG", "meta"]
    options.flavor = "woff2"
    worker = subset.Subsetter(options)
    worker.populate(unicodes=face.codepoints - missing)
    worker.subset(font)
    font.flavor = "woff2"
    return font


def unicode_range(codepoints: set[int]) -> str:
    """`codepoints` as the value of a CSS `unicode-range`.

    >>> unicode_range({0x41, 0x42, 0x43, 0x7A})
    'U+41-43, U+7A'
    """
    ranges: list[list[int]] = []
    for code in sorted(codepoints):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ", ".join(f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in ranges)


def rule(**descriptors: str) -> str:
    """One `@font-face` rule; underscores in the names stand for hyphens."""
    lines = [f"  {name.replace('_', '-')}: {value};" for name, value in descriptors.items()]
    return "\n".join(["@font-face {", *lines, "}"])


def metrics(font: TTFont, size_adjust: float) -> dict[str, str]:
    """Descriptors that give a face scaled by `size_adjust` (in per cent) the line box of `font`."""
    em = font["head"].unitsPerEm * size_adjust / 100
    return {
        "size_adjust": f"{size_adjust:g}%",
        "ascent_override": f"{100 * font['hhea'].ascent / em:.1f}%",
        "descent_override": f"{-100 * font['hhea'].descent / em:.1f}%",
        "line_gap_override": "0%",
    }


def stylesheet(fonts: dict[str, TTFont]) -> str:
    """The text of `fonts.css` for the subset `fonts`, by file name."""
    cover = {name: set(font.getBestCmap()) for name, font in fonts.items()}
    literata, inter, stix = fonts["literata-latin-roman.woff2"], fonts["inter-latin.woff2"], fonts[MATH_FILE]
    families = {
        "Literata": (literata, [("normal", "roman"), ("italic", "italic")]),
        "Inter": (inter, [("normal", None)]),
    }
    rules = ["/* Written by subset.py: change that, not this. */"]
    for family, (primary, styles) in families.items():
        for style, file_style in styles:
            files = ["-".join(filter(None, (family.lower(), script, file_style))) + ".woff2" for script in SCRIPTS]
            own = set().union(*(cover[name] for name in files))
            borrowed = {code for code in cover[MATH_FILE] - own if code > 0x36F and not 0x2000 <= code <= 0x200A}
            borrowed -= codes("20D0-20FF")  # combining marks go with their letters
            scale = 100 * x_height(primary) / x_height(stix)
            faces = [(MATH_FILE, borrowed, metrics(primary, round(scale)))] + [(name, cover[name], {}) for name in files]
            for name, codepoints, more in faces:
                rules.append(
                    rule(
                        font_family=f'"{family}"',
                        font_style=style,
                        font_weight="400 650",
                        font_display="swap",
                        src=f'url("{name}") format("woff2")',
                        unicode_range=unicode_range(codepoints),
                        **more,
                    )
                )
    rules.append(
        rule(
            font_family='"STIX Two Math"',
            font_style="normal",
            font_weight="400",
            font_display="swap",
            src=f'url("{MATH_FILE}") format("woff2")',
            unicode_range=unicode_range(cover[MATH_FILE]),
        )
    )
    rules.append(
        "/* Fonts of the reader's machine, scaled to the mean width and the line box of the family that is on its way.\n"
        "   Of two faces that fit, the browser tries the later first: Georgia before Noto Serif before DejaVu Serif. */"
    )
    for family, style, weight, names, size_adjust in FALLBACKS:
        rules.append(
            rule(
                font_family=f'"{family} Fallback"',
                font_style=style,
                font_weight=weight,
                src=", ".join(f'local("{name}")' for name in names),
                **metrics(families[family][0], size_adjust),
            )
        )
    return "\n\n".join(rules) + "\n"


def x_height(font: TTFont) -> float:
    """The height of x, in em."""
    return font["OS/2"].sxHeight / font["head"].unitsPerEm


def check_versions(packages: Path) -> None:
    """Raise `SystemExit` when a package is missing or not of the version in `SOURCES`."""
    for package, (wanted, _, _) in SOURCES.items():
        manifest = packages / package / "package.json"
        found = json.loads(manifest.read_text())["version"] if manifest.exists() else "nothing"
        if found != wanted:
            raise SystemExit(f"{package}: found {found}, need {wanted}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path, help="folder with the unpacked packages, such as node_modules")
    parser.add_argument("out", type=Path, nargs="?", default=Path(__file__).parent)
    arguments = parser.parse_args()
    check_versions(arguments.packages)
    arguments.out.mkdir(parents=True, exist_ok=True)
    fonts = {face.name: build(face, arguments.packages) for face in FACES}
    for name, font in fonts.items():
        font.save(arguments.out / name)
        print(f"{name}: {(arguments.out / name).stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")
    (arguments.out / "fonts.css").write_text(stylesheet(fonts))
    for package, (_, licence, name) in SOURCES.items():
        text = (arguments.packages / package / licence).read_text()
        (arguments.out / name).write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


if __name__ == "__main__":
    main()
