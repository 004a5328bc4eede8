"""The checks of `mnestic doctor`: each part, its state, and the remedy if it is not healthy."""

import asyncio

from mnestic.memory.errors import ConfigurationError, UnavailableError
from mnestic.starter.embedded.state import read_last_state
from mnestic.starter.health.disk import check_disk
from mnestic.starter.health.findings import Finding, check_alone, failed_finding
from mnestic.starter.health.models import check_models, check_notes
from mnestic.starter.health.postgres import REMEDY_POSTGRES, check_postgres
from mnestic.starter.health.temporal import REMEDY_TEMPORAL, check_temporal
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import find_endpoints

_REMEDY_MODELS = "correct OPENAI_API_KEY, OPENAI_BASE_URL or the model's setting"
_REMEDY_NOTES = "correct the settings MNESTIC_OBSIDIAN_…, or start what serves the vault"
_REMEDY_DATA = "make it readable, or choose another place by MNESTIC_DATA_DIR"


async def check_all(settings: Settings) -> tuple[Finding, ...]:
    """Checks every part; one that is down, or whose check fails, does not hide the others."""
    return (
        *await check_alone("runtime", _check_servers(settings), remedy=_REMEDY_DATA),
        *await check_alone("models", check_models(settings), remedy=_REMEDY_MODELS),
        *await check_alone("notes", check_notes(settings), remedy=_REMEDY_NOTES),
        *await check_alone("disk", asyncio.to_thread(check_disk, settings), remedy=_REMEDY_DATA),
    )


async def _check_servers(settings: Settings) -> tuple[Finding, ...]:
    try:
        endpoints = find_endpoints(settings)
    except ConfigurationError as error:
        return (failed_finding("runtime", error, remedy="correct that setting"),)
    except UnavailableError as error:
        last = read_last_state(settings.data_dir)
        is_up = last is not None and last.alive
        remedy = "try again once `mnestic up` says that it is ready" if is_up else "mnestic up"
        return (failed_finding("runtime", error, remedy=remedy),)
    postgres = asyncio.to_thread(check_postgres, endpoints)
    return (
        *await check_alone("Postgres", postgres, remedy=REMEDY_POSTGRES),
        *await check_alone("Temporal", check_temporal(settings, endpoints), remedy=REMEDY_TEMPORAL),
    )
