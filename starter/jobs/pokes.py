"""Pokes a job: it continues in a new run, on the current build of the workers."""

from dataclasses import dataclass
from typing import Any

from temporalio.client import WorkflowHandle

from mnestic.memory.errors import BuildUnavailableError
from mnestic.memory.names import POKE
from mnestic.starter.deployments import Deployment, Move


@dataclass(frozen=True, kw_only=True)
class PokeResult:
    """The result of a poke.

    `moved` is the job's move from a build without workers. With `stands_still`, the current build has no worker,
    and the job continues once it has one.
    """

    moved: Move | None
    stands_still: BuildUnavailableError | None


async def poke_job(
    handle: WorkflowHandle[Any, Any], *, job_id: str, deployment: Deployment, untried: bool
) -> PokeResult:
    """Sends the signal and moves the job if it has to; see `MnesticClient.poke_job`."""
    find = deployment.find_move if untried else deployment.find_safe_move
    move = await find(job_id)
    await handle.signal(POKE)
    if move is not None:
        await deployment.move(job_id)
    return PokeResult(moved=move, stands_still=await deployment.find_standstill())
