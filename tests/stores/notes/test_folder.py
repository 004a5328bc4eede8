"""A vault on disk: nothing outside of it is read, and nothing in it holds anybody up."""

import os
from pathlib import Path

import pytest

from mnestic.memory.errors import NotesUnavailableError
from mnestic.memory.retrieval.notes import LONGEST_NOTE, MOST_TAGGED, NoteSelection
from mnestic.stores.notes.folder import FolderVault

BY_TAG = NoteSelection(tag="mnestic")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


def write(path: Path, text: str | bytes = "Told. #mnestic", *, changed: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    if changed is not None:
        os.utime(path, (changed, changed))


async def paths(source: FolderVault, select: NoteSelection = BY_TAG) -> list[str]:
    return [note.path for note in (await source.read(select)).notes]


async def test_links_are_not_followed_wherever_they_lead(vault: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.md", "The password is hunter2. #mnestic")
    write(vault / "inside" / "real.md")
    (vault / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "near.md").symlink_to(vault / "inside" / "real.md")
    named = NoteSelection(paths=("file.md", "folder/secret.md", "near.md"), tag="mnestic")

    found = await FolderVault(vault).read(named)

    assert [note.path for note in found.notes] == ["inside/real.md"]
    assert [one.path for one in found.skipped] == ["file.md", "folder/secret.md", "near.md"]
    assert all("links are not followed" in one.why for one in found.skipped)


async def test_a_vault_may_itself_be_named_by_a_link(vault: Path, tmp_path: Path) -> None:
    write(vault / "a.md")
    (tmp_path / "link").symlink_to(vault)

    assert await paths(FolderVault(tmp_path / "link")) == ["a.md"]


async def test_what_is_no_note_is_left_out(vault: Path) -> None:
    write(vault / "a.md")
    write(vault / ".obsidian" / "b.md")
    write(vault / ".hidden.md")
    write(vault / "image.png.md", b"\x89PNG\r\n\x1a\n #mnestic")
    write(vault / "nul.md", b"a\0b #mnestic")
    write(vault / "large.md", "#mnestic " + "x" * 1_048_576)
    write(vault / "picture.png", "#mnestic")
    (vault / "folder.md").mkdir()
    os.mkfifo(vault / "pipe.md")
    named = NoteSelection(paths=("nul.md", "large.md", "pipe.md", "folder.md"), tag="mnestic")

    found = await FolderVault(vault).read(named)

    assert [note.path for note in found.notes] == ["a.md"]
    why = {one.path: one.why for one in found.skipped}
    assert list(why) == ["nul.md", "large.md", "pipe.md", "folder.md"]
    assert "no text" in why["nul.md"]
    assert "1048576 bytes" in why["large.md"]


async def test_a_vault_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotesUnavailableError, match="No such file"):
        await FolderVault(tmp_path / "gone").read(BY_TAG)


async def test_a_vault_that_is_a_file_is_told(tmp_path: Path) -> None:
    write(tmp_path / "file")

    with pytest.raises(NotesUnavailableError, match="Not a directory"):
        await FolderVault(tmp_path / "file").read(BY_TAG)


async def test_a_change_of_a_note_is_seen(vault: Path) -> None:
    source = FolderVault(vault)
    write(vault / "a.md", "Told. #mnestic", changed=1)
    before = await paths(source)

    write(vault / "a.md", "Told. #private", changed=2)
    write(vault / "b.md", "New. #mnestic", changed=3)
    changed = await paths(source)
    (vault / "b.md").unlink()
    removed = await paths(source)

    assert (before, changed, removed) == (["a.md"], ["b.md"], [])


async def test_of_many_tagged_notes_those_that_changed_last_are_told(vault: Path) -> None:
    for number in range(MOST_TAGGED + 3):
        write(vault / f"{number:02}.md", changed=number)

    found = await FolderVault(vault).read(BY_TAG)

    assert [note.path for note in found.notes][:2] == ["22.md", "21.md"]
    assert len(found.notes) == MOST_TAGGED
    assert [(one.path, one.why) for one in found.skipped] == [
        ("3 notes", f"have the tag too; the {MOST_TAGGED} that changed last are told")
    ]


async def test_a_long_note_is_cut_at_the_end_of_a_sentence(vault: Path) -> None:
    sentence = "Mara walks along the river each morning. "
    write(vault / "a.md", f"---\ntags: mnestic\n---\n{sentence * 40}")

    (note,) = (await FolderVault(vault).read(BY_TAG)).notes

    assert LONGEST_NOTE - len(sentence) < len(note.content) <= LONGEST_NOTE
    assert note.content.endswith("each morning.")


async def test_of_a_note_with_long_sentences_more_is_told_than_its_heading(vault: Path) -> None:
    write(vault / "a.md", f"# Mara\n{'walks along the river ' * 40} #mnestic")

    (note,) = (await FolderVault(vault).read(BY_TAG)).notes

    assert LONGEST_NOTE - len("walks") <= len(note.content) <= LONGEST_NOTE


async def test_a_note_whose_name_is_no_text_is_named_escaped_and_the_others_are_told(
    vault: Path,
) -> None:
    write(vault / "bad\udcffname.md")
    write(vault / "line\nend\x07.md")

    found = await FolderVault(vault).read(BY_TAG)

    assert [note.path for note in found.notes] == ["line\nend\x07.md"]
    assert [one.path for one in found.skipped] == ["bad\\udcffname.md"]
    assert "has a name that holds half of a surrogate pair" in found.skipped[0].why
