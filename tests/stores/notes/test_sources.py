"""What every source of notes does: a vault on disk, and one behind the plugin's server."""

from pathlib import Path

import pytest

from mnestic.memory.retrieval.notes import LONGEST_NOTE, NoteSelection
from mnestic.memory.retrieval.ports import NoteSource
from tests.stores.notes.conftest import NOTES, Plugin


async def test_notes_are_told_by_path_and_then_by_tag(source: NoteSource) -> None:
    found = await source.read(NoteSelection(paths=("Profile.md",), tag="mnestic"))

    told = {note.path: note.content for note in found.notes}
    assert next(iter(told)) == "Profile.md"
    assert told == {
        "Profile.md": "I am Mara. I live in Ghent.",
        "People/Jonas.md": "Jonas plays chess.",
        "Work.md": "Tidal Atlas is where I work. #mnestic/work",
        "Loud.md": "A tag in capitals. #Mnestic",
    }
    assert found.skipped == ()


async def test_a_note_is_told_once_and_found_without_its_ending(source: NoteSource) -> None:
    found = await source.read(NoteSelection(paths=("People/Jonas",), tag="friends"))

    assert [note.path for note in found.notes] == ["People/Jonas.md"]


async def test_a_path_is_the_same_however_it_is_written(source: NoteSource) -> None:
    names = ("Profile.md", "./Profile", "People//Jonas.md", "People/./Jonas")

    found = await source.read(NoteSelection(paths=names))

    assert [note.path for note in found.notes] == ["Profile.md", "People/Jonas.md"]


@pytest.mark.parametrize("path", [".obsidian/app", "People/.draft.md", ".trash/Old.md"])
async def test_what_is_hidden_is_no_note_even_by_its_name(
    source: NoteSource, plugin: Plugin, folder: Path, path: str
) -> None:
    hidden = path if path.endswith(".md") else f"{path}.md"
    plugin.notes[hidden] = ("secret", [])
    (folder / hidden).parent.mkdir(exist_ok=True)
    (folder / hidden).write_text("secret", encoding="utf-8")

    found = await source.read(NoteSelection(paths=(path,)))

    assert (found.notes, [one.path for one in found.skipped]) == ((), [hidden])
    assert "hidden" in found.skipped[0].why


async def test_a_path_may_hold_any_characters(source: NoteSource) -> None:
    found = await source.read(NoteSelection(paths=("Döner & Co?.md",)))

    assert [note.content for note in found.notes] == ["Sauce without garlic. #food"]


@pytest.mark.parametrize(
    "path", ["Gone.md", "People", "../Profile.md", "/etc/passwd", "People/../../x"]
)
async def test_a_note_that_is_not_in_the_vault_is_named(source: NoteSource, path: str) -> None:
    found = await source.read(NoteSelection(paths=(path, "Profile.md")))

    assert [note.path for note in found.notes] == ["Profile.md"]
    assert [skipped.path.removesuffix(".md") for skipped in found.skipped] == [
        path.removesuffix(".md")
    ]
    assert "vault" in found.skipped[0].why


async def test_nothing_is_told_where_nothing_is_asked_for(source: NoteSource) -> None:
    assert not (await source.read(NoteSelection())).notes
    assert not (await source.read(NoteSelection(tag="nobody-has-this"))).notes


async def test_a_tag_is_no_pattern(source: NoteSource) -> None:
    assert not (await source.read(NoteSelection(tag="m.*"))).notes


def test_the_samples_are_shorter_than_what_is_told_of_a_note() -> None:
    assert all(len(text) < LONGEST_NOTE for text, _ in NOTES.values())
