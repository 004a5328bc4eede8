"""Wires extraction: the models that extract claims, and the limits of their calls.

One of the composition roots, which name concrete stores and models. Only who extracts imports clients of models.
"""

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from mnestic.activities.clients.english.extractor import EnglishExtractor, is_installed
from mnestic.activities.clients.no_extractor import NoExtractor
from mnestic.activities.models.calls import ModelCallLimits
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.knowledge.ingestion import NO_EXTRACTOR
from mnestic.memory.ports import Extractor
from mnestic.starter.memory_wiring import (
    LOCAL,
    daily_budget,
    embedder_of,
    model_timeout,
    no_server,
    open_openai,
)
from mnestic.starter.settings import Settings

EXTRA = "mnestic[english]"
NO_FACTS = (
    f"no facts are extracted from messages: install {EXTRA}, or set OPENAI_API_KEY; "
    f"MNESTIC_EXTRACTION_MODEL must not be `{NO_EXTRACTOR}`"
)
_SETTING = "MNESTIC_EXTRACTION_MODEL"
log = logging.getLogger("mnestic.extraction")

if TYPE_CHECKING:  # half a second of imports, which only calls of a model should cost
    from openai import AsyncOpenAI


def extractor_of(settings: Settings, client: "AsyncOpenAI | None") -> Extractor:
    """The extractor that the settings choose: a model where there is one, or else the local one.

    Raises:
        ConfigurationError: a model is named, and no server; or the local one, and it is not installed.
    """
    model = settings.extraction_model or (settings.chat_model if client else None)
    if model is None:
        return local_extractor()
    if model == NO_EXTRACTOR:
        return NoExtractor()
    if model == LOCAL:
        if not is_installed():
            why = f"is `{LOCAL}`, and the parser of English is not installed; install {EXTRA}"
            raise ConfigurationError(setting=_SETTING, why=why)
        return EnglishExtractor()
    if client is None:
        raise no_server(_SETTING)
    from mnestic.activities.clients.openai_extractor import (  # noqa: PLC0415 - half a second
        OpenAIExtractor,
    )

    return OpenAIExtractor(client, model=model, timeout=model_timeout(settings))


def local_extractor() -> Extractor:
    """The parser of English where it is installed; without it no facts are extracted."""
    return EnglishExtractor() if is_installed() else NoExtractor()


def log_missing_extractor(extractor: Extractor) -> None:
    """Says in the log of a worker if it extracts no facts."""
    if isinstance(extractor, NoExtractor):
        log.warning("no facts are extracted", extra={"why": NO_FACTS})


async def find_models(settings: Settings, *, limit: timedelta) -> tuple[str, ...]:
    """Models that the settings name and their server knows; none for the local provider.

    Raises:
        ConfigurationError: a model has no server, or no price where one is needed.
        ModelMisconfiguredError: the key or the address is wrong, or the server does not know one.
        ModelUnavailableError: the server does not answer.
    """
    async with open_openai(settings) as client:
        chosen = extractor_of(settings, client).model, embedder_of(settings, client).model
        extraction_limits(settings, *chosen)
        if client is None:
            return ()
        from mnestic.activities.clients.openai_compatible import (  # noqa: PLC0415 - half a second
            check_models,
        )

        models = tuple(dict.fromkeys(name for name in (settings.chat_model, *chosen) if name))
        await check_models(client, models, limit=limit)
        return models


def extraction_limits(settings: Settings, *models: str | None) -> ModelCallLimits:
    """The limits of these models' calls for extraction.

    Raises:
        ConfigurationError: the limit is in USD, and a model has no price.
    """
    usd = settings.extraction_usd_per_day
    for model in models:
        if usd is not None and model is not None and settings.model_prices.find(model) is None:
            why = f"has no price for {model}, and MNESTIC_EXTRACTION_USD_PER_DAY is set"
            raise ConfigurationError(setting="MNESTIC_MODEL_PRICES", why=why)
    return ModelCallLimits(
        concurrency=settings.extraction_concurrency, daily=daily_budget(settings)
    )
