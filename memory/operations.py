"""Operations: one memory write with its idempotency key, and who asked for it."""

from typing import Any

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.deferred_model import DeferredModel


class Operation(DeferredModel):
    """One memory write.

    The same key with the same request is the same write: it is done once, and its first result is
    returned from then on. `job_id` is the job that asked, if one did, and `chain` the first run of its
    workflow: a job that is started again under its id is another, and never gets this one's results.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    name: str
    job_id: str | None = None
    chain: str | None = None

    def request_hash(self, request: Any) -> str:
        """SHA-256 of what was asked for, in canonical form, under this operation's name."""
        caller = [] if self.chain is None else [self.chain]
        return sha256_hex(canonical_json([self.name, request, *caller]))


class LedgerEntry(DeferredModel):
    """An operation that was done, as the ledger keeps it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    name: str
    created_at: AwareDatetime
