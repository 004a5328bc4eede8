"""What a tag is in a note, and what is not."""

import time

import pytest

from mnestic.stores.notes.markdown import is_tagged, tags_of, text_of


@pytest.mark.parametrize(
    ("note", "tags"),
    [
        ("Call Jonas. #mnestic", {"mnestic"}),
        (
            "#mnestic at the beginning, #Über/Form_1-a, twice #MNESTIC.",
            {"mnestic", "über/form_1-a"},
        ),
        ("# Heading\n## Another\nhttps://example.org/#anchor a#b #1984 #y1984", {"y1984"}),
        ("In code `#no` and\n```\n#no\n```\nafter it #yes\n~~~\n#no, never closed", {"yes"}),
        ("---\ntags: [a, '#b']\n---\n#c", {"a", "b", "c"}),
        ("---\ntags:\n  - a\n  - b/c\n---\n", {"a", "b/c"}),
        ("---\ntags: a, b c\ntag: d\n---\n", {"a", "b", "c", "d"}),
        ("\ufeff---\r\ntags: a\r\n---\r\n#b", {"a", "b"}),
        ("---\ntags: [2026, true, null, [a]]\n---\n", set()),
        ("---\nTags: a\nTAG: b\n---\n", {"a", "b"}),
        ("---\ntags: [on, no]\nborn: 2026-13-45\nkind: !mine x\n---\n", {"on", "no"}),
        ("---\ntags: [a\n---\n#b", {"b"}),
        ("---\n- a\n- b\n---\n", set()),
        ("---\ntags: a\nnever closed", set()),
        ("Text first.\n---\ntags: a\n---\n", set()),
        ("", set()),
    ],
)
def test_tags_are_those_that_obsidian_finds(note: str, tags: set[str]) -> None:
    assert tags_of(note) == tags


def test_a_tag_is_found_by_its_name_and_by_the_one_above_it() -> None:
    assert is_tagged({"mnestic/work"}, "mnestic")
    assert is_tagged({"mnestic"}, "#Mnestic")
    assert not is_tagged({"mnesticism"}, "mnestic")
    assert not is_tagged({"mnestic"}, "mnestic/work")


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("---\na: b\n---\n\n# Mara\nLives in Ghent.\n", "# Mara\nLives in Ghent."),
        ("---\n---\nText.", "Text."),
        ("--- no properties\n---\n", "--- no properties\n---"),
    ],
)
def test_the_text_of_a_note_is_without_its_properties(note: str, text: str) -> None:
    assert text_of(note) == text


def test_properties_that_unfold_without_end_are_read_at_once() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]

    assert tags_of("\n".join(("---", *lines, "tags: *a59", "---", "#b"))) == {"b"}


def test_properties_that_merge_without_end_are_read_at_once() -> None:
    nine = [f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 7)]
    began = time.process_time()

    assert tags_of("\n".join(("---", "a0: &a0 {x: 1}", *nine, "tags: a", "---"))) == {"a"}
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize("mark", ["`", "~"])
def test_a_long_row_of_code_marks_is_looked_at_once(mark: str) -> None:
    began = time.process_time()

    assert tags_of(mark * 20_000 + " #a") <= {"a"}
    assert time.process_time() - began < 0.2
