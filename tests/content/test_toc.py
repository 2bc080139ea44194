"""The registry of the book: every folder stands in it, once, and the order of what is written follows it."""

import pytest

from content import toc
from content.section import Section
from tests.content.drawn import WRITTEN


def test_an_id_stands_in_the_book_once():
    assert len(set(toc.ORDER)) == len(toc.ORDER)
    assert all(id.isidentifier() and id.islower() for id in toc.ORDER)


def test_every_folder_of_a_section_is_an_id_of_the_book():
    assert {path.parent.name for path in toc.FOLDER.glob("*/*.*")} <= set(toc.ORDER)
    assert {path.parent.name for path in toc.FOLDER.glob("*/en.md")} == set(WRITTEN)


def test_written_sections_come_in_the_order_of_the_book():
    assert list(WRITTEN) == [id for id in toc.ORDER if id in WRITTEN]
    assert len(WRITTEN) >= 4


def test_the_first_four_sections_and_their_parts_are_there():
    assert {"three_tokens", "position", "tanh_chain", "masks"} <= set(WRITTEN)
    assert [toc.part_of(id) for id in ("tanh_chain", "three_tokens", "masks", "position", "cue_recall")] == [
        "recurrence", "attention", "attention", "encoder", "practice",
    ]  # fmt: skip


@pytest.mark.parametrize("id", WRITTEN)
def test_a_section_is_loaded_by_its_id_and_only_once(id):
    section = toc.load(id)
    assert isinstance(section, Section) and section.id == id
    assert toc.load(id) is section


@pytest.mark.parametrize("id", ["", "nothing", "../masks", "masks.compute", "bag_of_words.", "Masks", "__init__"])
def test_what_is_not_written_is_not_loaded(id):
    with pytest.raises(KeyError):
        toc.load(id)


def test_a_planned_section_is_not_loaded():
    planned = [id for id in toc.ORDER if id not in WRITTEN]
    for id in planned:
        with pytest.raises(KeyError):
            toc.load(id)
        assert toc.part_of(id) in toc.PARTS


def test_neighbours_lead_through_all_written_sections_and_back():
    forwards, id = [WRITTEN[0]], WRITTEN[0]
    assert toc.neighbours(id)[0] is None
    while (id := toc.neighbours(id)[1]) is not None:
        assert toc.neighbours(id)[0] == forwards[-1]
        forwards.append(id)
    assert tuple(forwards) == WRITTEN
