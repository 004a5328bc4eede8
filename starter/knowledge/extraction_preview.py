"""Extracts claims from one message without storing them.

It is the one call of a model outside a worker: it has the same daily budget, and is written down like all others.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from mnestic.activities.models.calls import ModelCalls, begin_model_step
from mnestic.activities.models.rate_limiter import RateLimiter
from mnestic.memory.canonical import is_blank
from mnestic.memory.errors import ConfigurationError, InvalidInputError
from mnestic.memory.knowledge.extraction import (
    Extraction,
    ExtractionInput,
    ExtractionPreview,
    preview_of,
)
from mnestic.memory.knowledge.ingestion import NO_EXTRACTOR
from mnestic.memory.knowledge.resources import check_content, check_name
from mnestic.memory.ports import Memory
from mnestic.memory.scope import Id, check_id
from mnestic.memory.timestamps import check_date
from mnestic.starter.extraction_wiring import NO_FACTS, extraction_limits, extractor_of
from mnestic.starter.memory_wiring import find_database, open_database, open_openai, prices_of
from mnestic.starter.settings import Settings


class _Caller(BaseModel):
    """The caller to whom the model's call is charged."""

    model_config = ConfigDict(frozen=True)

    tenant_id: Id
    agent_id: Id


async def preview_extraction(
    settings: Settings, content: str, *, speaker: str, at: datetime, agent_id: str
) -> ExtractionPreview:
    """What the configured model or the local extractor would extract from a message.

    Raises:
        InvalidInputError: the message says nothing or is too long, or the speaker is no name.
        ConfigurationError: there is no extractor; or a model has no server, no price where one is needed, or no database in
            which its calls are written down.
        BudgetExceededError: the tenant's day has nothing left.
        ModelUnavailableError: the model does not answer.
        ModelRefusedError: the model or its server refused, or the answer is of no use.
        DatabaseUnavailableError: the database does not answer.
    """
    check_date(at, what="at")
    check_content(content, what="text")
    if is_blank(speaker):
        raise InvalidInputError(what="speaker", why="is empty")
    check_name(speaker, what="speaker")
    turn = ExtractionInput(
        session_id="preview", source_id="preview", speaker=speaker.strip(), content=content, at=at
    )
    name, extraction = await _extract(settings, turn, agent_id=check_id(agent_id, what="agent"))
    return preview_of(extraction, turn, extractor=name)


async def _extract(
    settings: Settings, turn: ExtractionInput, *, agent_id: str
) -> tuple[str, Extraction]:
    async with open_openai(settings) as client:
        extractor = extractor_of(settings, client)
        if extractor.name == NO_EXTRACTOR:
            raise ConfigurationError(
                setting="MNESTIC_EXTRACTION_MODEL", why=f"chooses no extractor: {NO_FACTS}"
            )
        if extractor.model is None:
            return extractor.name, await extractor.extract([turn])
        caller = _Caller(tenant_id=settings.tenant_id, agent_id=agent_id)
        async with _open(settings) as memory:
            limits = extraction_limits(settings, extractor.model)
            calls = ModelCalls(
                memory,
                purpose="extract",
                model=extractor.model,
                limits=limits,
                limiter=RateLimiter(concurrency=1, daily=limits.daily),
                prices=prices_of(settings.model_prices),
            )
            extraction = await calls.answer(caller, lambda: extractor.extract([turn]))
            async with begin_model_step(memory, caller) as transaction:
                await calls.keep(transaction, extraction)
        return extractor.name, extraction


@asynccontextmanager
async def _open(settings: Settings) -> AsyncIterator[Memory]:
    memory = open_database(find_database(settings)[0])
    try:
        yield memory
    finally:
        await memory.close()
