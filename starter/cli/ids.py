"""Resolves ids on the command line: a whole id, or an unambiguous prefix of one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnestic.memory.errors import InvalidInputError

if TYPE_CHECKING:
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.mnestic_client import MnesticClient

_MAX_LISTED = 5


async def resolve_entry_id(memory: "MemoryClient", text: str) -> str:
    """The id of the entry with this id or prefix.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
    """
    return resolve_id("entry", text, await memory.entries.find_ids(text))


async def resolve_archived_id(memory: "MemoryClient", text: str) -> str:
    """The id of the archived entry with this id or prefix.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
    """
    return resolve_id("archived entry", text, await memory.entries.find_archived_ids(text))


async def resolve_fact_id(memory: "MemoryClient", text: str) -> str:
    """The id of the fact with this id or prefix.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
    """
    return resolve_id("fact", text, await memory.facts.find_ids(text))


async def resolve_job_id(client: "MnesticClient", text: str) -> str:
    """The id of the job with this id or prefix.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
    """
    return resolve_id("job", text, await client.find_job_ids(text))


async def resolve_wait_id(client: "MnesticClient", job_id: str, text: str | None) -> str | None:
    """The id of a wait of a job, which is given by its id, by what follows the job's id in it, or by its number.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
        NotFoundError: there is no such job.
    """
    if text is None or text == "":
        return text
    waits = [wait.wait_id for wait in (await client.describe_job(job_id)).waits]
    for full_id in (text, f"{job_id}/{text}", f"{job_id}/w{text}"):
        if full_id in waits:
            return full_id
    return resolve_id("wait", text, _waits_with_prefix(job_id, text, waits))


def _waits_with_prefix(job_id: str, text: str, waits: Sequence[str]) -> list[str]:
    """The waits with a prefix after the job's id, with which each begins; a number is never a prefix."""
    prefix = text.removeprefix(f"{job_id}/")
    if prefix.isdecimal():
        return []
    return [wait_id for wait_id in waits if wait_id.removeprefix(f"{job_id}/").startswith(prefix)]


def resolve_id(what: str, text: str, candidates: Sequence[str]) -> str:
    """The only candidate with this prefix. A whole id, or one without candidates, is returned unchanged and looked up later.

    Raises:
        InvalidInputError: several ids have this prefix; names them.
    """
    if text in candidates or not candidates:
        return text
    if len(candidates) == 1:
        return candidates[0]
    more = " and more" if len(candidates) > _MAX_LISTED else ""
    why = f"is the beginning of several ids: {', '.join(candidates[:_MAX_LISTED])}{more}; give more characters"
    raise InvalidInputError(what=f"{what} {text}", why=why)
