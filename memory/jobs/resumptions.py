"""`Resumption`: what a job continues with after a wait."""

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.snapshots import MemorySnapshot
from mnestic.memory.jobs.waits import JobWait


class Resumption(DeferredModel):
    """A wait with its place in the plan (`wait.context`), and the snapshot of memory that was made there.

    `redacted_at` is when something was taken out of the snapshot, because it was forgotten.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    wait: JobWait
    snapshot: MemorySnapshot
    snapshot_sha256: str
    redacted_at: AwareDatetime | None = None
