"""Ids as a person gives them: the whole, or as much of the beginning as means one thing.

It stands alone because every command that takes an id reads it so.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnestic.memory.errors import InvalidInputError

if TYPE_CHECKING:
    from mnestic.starter.client.memory_client import MemoryClient
    from mnestic.starter.client.mnestic_client import MnesticClient

_MOST_NAMED = 5


async def entry_named(memory: "MemoryClient", given: str) -> str:
    """The id of the entry that is meant.

    Raises:
        InvalidInputError: several begin so; names them.
    """
    return the_one("entry", given, await memory.entries.find_ids(given))


async def fact_named(memory: "MemoryClient", given: str) -> str:
    """The id of the fact that is meant.

    Raises:
        InvalidInputError: several begin so; names them.
    """
    return the_one("fact", given, await memory.facts.find_ids(given))


async def job_named(client: "MnesticClient", given: str) -> str:
    """The id of the job that is meant.

    Raises:
        InvalidInputError: several begin so; names them.
    """
    return the_one("job", given, await client.find_job_ids(given))


async def wait_named(client: "MnesticClient", job_id: str, given: str | None) -> str | None:
    """The id of the wait of a job that is meant: by its id, by what follows the job's id in it, or by its number.

    Raises:
        InvalidInputError: several begin so; names them.
        NotFoundError: there is no such job.
    """
    if given is None or given == "":
        return given
    waits = [wait.wait_id for wait in (await client.describe_job(job_id)).waits]
    for whole in (given, f"{job_id}/{given}", f"{job_id}/w{given}"):
        if whole in waits:
            return whole
    return the_one("wait", given, _waits_that_begin(job_id, given, waits))


def _waits_that_begin(job_id: str, given: str, waits: Sequence[str]) -> list[str]:
    """The waits that begin so after the job's id; every wait begins with that, and a number is never a beginning."""
    start = given.removeprefix(f"{job_id}/")
    if start.isdecimal():
        return []
    return [one for one in waits if one.removeprefix(f"{job_id}/").startswith(start)]


def the_one(what: str, given: str, found: Sequence[str]) -> str:
    """The one that begins so; what is given where it is a whole id, or none begins so, which is said later.

    Raises:
        InvalidInputError: several begin so; names them.
    """
    if given in found or not found:
        return given
    if len(found) == 1:
        return found[0]
    more = " and more" if len(found) > _MOST_NAMED else ""
    why = f"is how several ids begin: {', '.join(found[:_MOST_NAMED])}{more}; give more of it"
    raise InvalidInputError(what=f"{what} {given}", why=why)
