"""Vaults that answer late, badly or not at all."""

import asyncio

from mnestic.memory.errors import NotesUnavailableError
from mnestic.memory.retrieval.notes import Note, NoteResults, NoteSelection, SkippedNote


class SlowVault:
    """A vault that answers when it is let go, if ever."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    async def read(self, select: NoteSelection) -> NoteResults:
        await self.released.wait()
        return NoteResults(notes=(Note(path=f"{select.tag}.md", content="Slow."),))


class BrokenVault:
    """A vault that cannot be read."""

    async def read(self, select: NoteSelection) -> NoteResults:
        raise NotesUnavailableError(where="the vault", why=f"{select.tag} is gone")


class OddVault:
    """A vault whose server says what is no text."""

    async def read(self, select: NoteSelection) -> NoteResults:
        assert select.tag
        return NoteResults(skipped=(SkippedNote(path="a\0.md", why="answers \0"),))
