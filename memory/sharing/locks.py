"""Locks of shared records: leases that end by themselves, and the tokens by which late writes are refused."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel

LockStrategy = Literal["pessimistic", "optimistic", "none"]
LockTimeout = Annotated[int, Field(strict=True, ge=1, le=600_000)]
"""Milliseconds until a lease ends; no lock is without."""
LOCK_TIMEOUT_MS = 5_000  # of a contract and a call that say nothing of it


class Lock(DeferredModel):
    """A lock of a key.

    A pessimistic one is a lease, whose `token` writes carry. An optimistic one has the `version` that writes follow, 0 of a
    key without a record. With the strategy `none` there is neither.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: str
    key: str
    strategy: LockStrategy
    token: int | None = None
    version: int | None = None
    acquired_at: AwareDatetime
    expires_at: AwareDatetime | None = None


def under(lock: Lock | None) -> dict[str, int | None]:
    """The arguments of a write that is done under a lock, or without one."""
    if lock is None:
        return {}
    leased = lock.token is not None
    return {"token": lock.token} if leased else {"expected_version": lock.version}
