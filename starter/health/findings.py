"""What a check finds: a part, whether it is healthy, and the remedy if not."""

from collections.abc import Awaitable

from pydantic import BaseModel, ConfigDict

from mnestic.memory.errors import MnesticError


class Finding(BaseModel):
    """One part, whether it is healthy, and the remedy if not."""

    model_config = ConfigDict(frozen=True)

    part: str
    ok: bool
    found: str
    remedy: str = ""


async def check_alone(
    part: str, check: Awaitable[tuple[Finding, ...]], *, remedy: str
) -> tuple[Finding, ...]:
    """The findings of one check; an error that it raises is a finding, so that the others are made."""
    try:
        return await check
    except Exception as error:  # noqa: BLE001 - whatever it is, the other checks are still made
        return (failed_finding(part, error, remedy=remedy),)


def failed_finding(part: str, error: Exception, *, remedy: str) -> Finding:
    reason = next(iter(str(error).splitlines()), "")
    if not isinstance(error, MnesticError):
        reason = f"the check failed: {type(error).__name__}: {reason}".removesuffix(": ")
    return Finding(part=part, ok=False, found=reason, remedy=remedy)
