"""An Obsidian vault as a folder of Markdown."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mnestic.memory.canonical import storable
from mnestic.memory.errors import InvalidInputError, NotesUnavailableError
from mnestic.memory.retrieval.notes import (
    Note,
    NoteResults,
    NoteSelection,
    SkippedNote,
    check_path,
    excerpt,
    select_notes,
)
from mnestic.stores.notes.markdown import is_tagged, tags_of, text_of
from mnestic.stores.notes.vault_files import iter_files, note_path, opened_vault, read_file

_MOST_FILES = 50_000
_READERS = 4  # at once


@dataclass(frozen=True, slots=True)
class _Looked:
    """A file whose tags are known; while these figures stay, so do they."""

    modified_ns: int
    size: int
    inode: int
    tags: frozenset[str]

    def is_as(self, found: os.stat_result) -> bool:
        figures = (found.st_mtime_ns, found.st_size, found.st_ino)
        return (self.modified_ns, self.size, self.inode) == figures


class FolderVault:
    """Implements `mnestic.memory.retrieval.ports.NoteSource`.

    It keeps the tags of each file, so that only what has changed is read again. When a large vault is
    not looked through in time, the next reading goes on from there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._looked: dict[str, _Looked] = {}
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="vault")

    async def read(self, select: NoteSelection) -> NoteResults:
        """See the port."""
        given_up = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._read, select, given_up)
        finally:
            given_up.set()

    def _read(self, select: NoteSelection, given_up: threading.Event) -> NoteResults:
        try:
            with opened_vault(self._folder) as root:
                tagged = self._tagged(root, select.tag, given_up) if select.tag else []
                return _read_notes(root, select, tagged)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise NotesUnavailableError(where=str(self._folder), why=why) from error

    def _tagged(self, root: int, tag: str, given_up: threading.Event) -> list[str]:
        """The paths of the notes with a tag, those that changed last first."""
        before, now = self._looked, dict[str, _Looked]()
        for path, found in iter_files(root):
            if given_up.is_set() or len(now) == _MOST_FILES:
                break
            looked = before.get(path)
            now[path] = looked if looked and looked.is_as(found) else _look(root, path, found)
        self._looked = before | now if given_up.is_set() else now
        newest = sorted(now.items(), key=lambda one: (-one[1].modified_ns, one[0]))
        return [path for path, looked in newest if is_tagged(looked.tags, tag)]


def _look(root: int, path: str, found: os.stat_result) -> _Looked:
    try:
        tags = tags_of(read_file(root, path))
    except InvalidInputError:  # no text, or gone meanwhile: it has no tag
        tags = frozenset()
    return _Looked(found.st_mtime_ns, found.st_size, found.st_ino, tags)


def _read_notes(root: int, select: NoteSelection, tagged: list[str]) -> NoteResults:
    chosen, left_out = select_notes([note_path(name) for name in select.paths], tagged)
    notes: list[Note] = []
    skipped: list[SkippedNote] = []
    for path in chosen:
        try:
            check_path(path)
            notes.append(Note(path=path, content=excerpt(text_of(read_file(root, path)))))
        except InvalidInputError as error:
            skipped.append(SkippedNote(path=storable(path), why=error.why))
    return NoteResults(notes=tuple(notes), skipped=(*skipped, *left_out))
