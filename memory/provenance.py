"""Provenance of an entry: where it comes from, what follows from it, and what became of it.

It is read from every store that names them, for a person who looks at one.
"""

from pydantic import ConfigDict, Field

from mnestic.memory.access.audit import AuditEntry
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.knowledge.entries import ArchiveMark, Entry, Supersession
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.ingestion import IngestState
from mnestic.memory.retrieval.retrieval_log import StoredLogEntry


class MessageState(DeferredModel):
    """How far the message of an entry is, by which extractor, and by which job it came; `reason` says why it is parked."""

    model_config = ConfigDict(frozen=True)

    state: IngestState
    extractor: str | None = None
    reason: str | None = None
    job_id: str | None = None
    workflow_run: str | None = None


class EntryProvenance(DeferredModel):
    """An entry with what is known about it.

    `facts` follow from its message, whatever their status; `children` are entries of which it is the parent; `sources` are
    archived entries that were merged, or compressed, into it. `retrievals` are the latest automatic retrievals that
    returned it, `changes` those of it that somebody made, both the latest first. `named` has the beginnings of the texts of
    the entries that are named here, by id.
    """

    model_config = ConfigDict(frozen=True)

    entry: Entry
    archived: ArchiveMark | None = None
    supersession: Supersession | None = None
    message: MessageState | None = None
    facts: tuple[Fact, ...] = ()
    children: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    retrievals: tuple[StoredLogEntry, ...] = ()
    changes: tuple[AuditEntry, ...] = ()
    named: dict[str, str] = Field(default_factory=dict)
