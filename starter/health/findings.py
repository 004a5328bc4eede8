"""What a check finds: a part, whether it is healthy, and the remedy if not."""

from collections.abc import Awaitable, Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mnestic.memory.errors import MnesticError

HealthState = Literal["ok", "degraded", "down"]


class Finding(BaseModel):
    """One part, whether it is healthy, and the remedy if not. Without an essential part, memory is down."""

    model_config = ConfigDict(frozen=True)

    part: str = Field(examples=["schedules"])
    ok: bool
    found: str = Field(examples=["nightly should have run at 2026-11-27 03:00 UTC"])
    remedy: str = Field("", examples=["start a worker: mnestic worker"])
    essential: bool = False


def state_of(findings: Iterable[Finding]) -> HealthState:
    """`ok` if all parts are healthy, `down` if an essential one is not, else `degraded`."""
    broken = [finding for finding in findings if not finding.ok]
    if not broken:
        return "ok"
    return "down" if any(finding.essential for finding in broken) else "degraded"


async def check_alone(
    part: str, check: Awaitable[tuple[Finding, ...]], *, remedy: str
) -> tuple[Finding, ...]:
    """The findings of one check; an error that it raises is a finding, so that the others are made."""
    try:
        return await check
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still made
        return (failed_finding(part, error, remedy=remedy),)


def failed_finding(part: str, error: Exception, *, remedy: str) -> Finding:
    """The finding of a check that failed, with the first line of its error."""
    reason = next(iter(str(error).splitlines()), "")
    if not isinstance(error, MnesticError):
        reason = f"the check failed: {type(error).__name__}: {reason}".removesuffix(": ")
    return Finding(part=part, ok=False, found=reason, remedy=remedy)
