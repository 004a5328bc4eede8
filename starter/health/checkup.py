"""All checks: each part, its state, and the remedy if it is not healthy."""

import asyncio

from mnestic.memory.errors import ConfigurationError, UnavailableError
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.state import read_last_state
from mnestic.starter.health.disk import check_disk
from mnestic.starter.health.findings import Finding, check_alone, failed_finding
from mnestic.starter.health.memory import check_memory
from mnestic.starter.health.models import check_models, check_notes
from mnestic.starter.health.postgres import REMEDY_POSTGRES, check_postgres
from mnestic.starter.health.temporal import REMEDY_TEMPORAL, check_temporal
from mnestic.starter.settings import Settings
from mnestic.starter.wiring import find_endpoints

_REMEDY_MODELS = "correct OPENAI_API_KEY, OPENAI_BASE_URL or the model's setting"
_REMEDY_NOTES = "correct the settings MNESTIC_OBSIDIAN_…, or start what serves the vault"
_REMEDY_DATA = "make it readable, or choose another place by MNESTIC_DATA_DIR"


async def check_all(
    settings: Settings, *, client: MnesticClient | None = None
) -> tuple[Finding, ...]:
    """Checks every part; one that is down, or whose check fails, does not hide the others.

    Memory itself is checked with the client, or else with one that is connected once Postgres and Temporal are well.
    """
    servers = await check_alone("runtime", _check_servers(settings), remedy=_REMEDY_DATA)
    return (
        *servers,
        *await check_alone(
            "memory", _check_memory(settings, servers, client), remedy="mend what is named below"
        ),
        *await check_alone("models", check_models(settings), remedy=_REMEDY_MODELS),
        *await check_alone("notes", check_notes(settings), remedy=_REMEDY_NOTES),
        *await check_alone("disk", asyncio.to_thread(check_disk, settings), remedy=_REMEDY_DATA),
    )


async def _check_memory(
    settings: Settings, servers: tuple[Finding, ...], client: MnesticClient | None
) -> tuple[Finding, ...]:
    if client is not None:
        return await check_memory(client)
    well = {finding.part for finding in servers if finding.ok}
    if not well >= {"Postgres", "role", "pgvector", "migrations", "rights", "Temporal"}:
        return ()
    # Notes have a check of their own.
    without_notes = {"obsidian_url": None, "obsidian_vault": None}
    async with await MnesticClient.connect(settings.model_copy(update=without_notes)) as connected:
        return await check_memory(connected)


async def _check_servers(settings: Settings) -> tuple[Finding, ...]:
    try:
        endpoints = find_endpoints(settings)
    except ConfigurationError as error:
        return (_down(failed_finding("runtime", error, remedy="correct that setting")),)
    except UnavailableError as error:
        last = read_last_state(settings.data_dir)
        is_up = last is not None and last.alive
        remedy = "try again once `mnestic up` says that it is ready" if is_up else "mnestic up"
        return (_down(failed_finding("runtime", error, remedy=remedy)),)
    postgres = asyncio.to_thread(check_postgres, endpoints)
    return (
        *_given_up(settings),
        *await check_alone("Postgres", postgres, remedy=REMEDY_POSTGRES),
        *await check_alone("Temporal", check_temporal(settings, endpoints), remedy=REMEDY_TEMPORAL),
    )


def _given_up(settings: Settings) -> tuple[Finding, ...]:
    """A finding for each part of the embedded runtime that was given up."""
    last = read_last_state(settings.data_dir)
    parts = last.given_up if last is not None and last.alive else ()
    remedy = "correct what its log names, then restart `mnestic up`"
    return tuple(Finding(part="runtime", ok=False, found=why, remedy=remedy) for why in parts)


def _down(finding: Finding) -> Finding:
    return finding.model_copy(update={"essential": True})
