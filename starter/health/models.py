"""Checks of models and notes: the servers that the settings name answer."""

import asyncio
from datetime import timedelta

from mnestic.memory.addresses import describe_url
from mnestic.memory.errors import NotesUnavailableError
from mnestic.memory.knowledge.ingestion import NO_EXTRACTOR
from mnestic.memory.retrieval.agent_settings import AgentSettings
from mnestic.memory.retrieval.notes import NoteSelection
from mnestic.starter.extraction_wiring import NO_FACTS, extractor_of, find_models
from mnestic.starter.health.findings import Finding
from mnestic.starter.memory_wiring import notes_of, open_openai
from mnestic.starter.settings import Settings

_MODEL_LIMIT = timedelta(seconds=5)


async def check_models(settings: Settings) -> tuple[Finding, ...]:
    """Checks that the server of models knows those that the settings name."""
    models = await find_models(settings, limit=_MODEL_LIMIT)
    found = f"the server knows {', '.join(models)}" if models else "the local provider"
    return (Finding(part="models", ok=True, found=found), await _extraction(settings))


async def _extraction(settings: Settings) -> Finding:
    """What extracts facts; without it memory works, and says so here."""
    async with open_openai(settings) as client:
        name = extractor_of(settings, client).name
    return Finding(part="extraction", ok=True, found=NO_FACTS if name == NO_EXTRACTOR else name)


async def check_notes(settings: Settings) -> tuple[Finding, ...]:
    """The vault of notes, where one is named."""
    place = (
        describe_url(settings.obsidian_url) if settings.obsidian_url else settings.obsidian_vault
    )
    if place is None:
        return ()
    source = notes_of(settings)
    assert source is not None
    try:
        async with asyncio.timeout(_MODEL_LIMIT.total_seconds()):
            notes = await source.read(NoteSelection(tag=AgentSettings().obsidian_context_tag))
    except TimeoutError:
        raise NotesUnavailableError(where=str(place), why="no answer in time") from None
    found = f"{place}, {len(notes.notes)} notes with the usual tag"
    return (Finding(part="notes", ok=True, found=found),)
