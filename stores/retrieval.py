"""Recall by scope: the records and episodes that a query names."""

from mnestic.memory.episodes import Episode
from mnestic.memory.ports import Transaction
from mnestic.memory.recalls import EpisodeSelection, Recalled, RecallQuery, RecordSelection
from mnestic.memory.records import ReadRecord
from mnestic.memory.scope import Scope


class ScopeRetriever:
    """Implements `mnestic.memory.ports.Retriever` by namespace, key and scope."""

    async def recall(
        self, transaction: Transaction, query: RecallQuery, *, scope: Scope, job_id: str | None
    ) -> Recalled:
        """See the port."""
        pins = await _pins(transaction, job_id)
        records: list[ReadRecord] = []
        missing: list[ReadRecord] = []
        for selection in query.records:
            found, absent = await _select(transaction, selection, pins)
            records.extend(found)
            missing.extend(absent)
        episodes = await _episodes(transaction, query.episodes, scope=scope, job_id=job_id)
        return Recalled(records=tuple(records), missing=tuple(missing), episodes=episodes)


async def _pins(transaction: Transaction, job_id: str | None) -> dict[tuple[str, str], ReadRecord]:
    """What the job reads as it saw it, by namespace and key."""
    if job_id is None:
        return {}
    reads = await transaction.records.list_reads(job_id, pinned=True)
    return {(read.namespace, read.key): read for read in reads}


async def _select(
    transaction: Transaction,
    selection: RecordSelection,
    pins: dict[tuple[str, str], ReadRecord],
) -> tuple[tuple[ReadRecord, ...], tuple[ReadRecord, ...]]:
    namespace = selection.namespace
    pinned = {key: pin for (of, key), pin in pins.items() if of == namespace}
    if selection.keys is None:
        limit = selection.limit
        page, _ = await transaction.records.list_by_namespace(namespace, limit=limit)
        seen = {record.key: record.read for record in page} | pinned
        there = [seen[key] for key in sorted(seen) if seen[key].value is not None]
        return tuple(there[:limit]), ()
    names = [(namespace, key) for key in selection.keys]
    live, versions = await transaction.records.select(names)
    read = {
        key: ReadRecord(namespace=namespace, key=key, version=versions.get((namespace, key), 0))
        for key in selection.keys
    }
    read |= {key: record.read for (_, key), record in live.items()}
    read |= {key: pin for key, pin in pinned.items() if key in read}
    found = tuple(read[key] for key in selection.keys if read[key].value is not None)
    return found, tuple(each for each in read.values() if each.value is None)


async def _episodes(
    transaction: Transaction,
    selection: EpisodeSelection | None,
    *,
    scope: Scope,
    job_id: str | None,
) -> tuple[Episode, ...]:
    if selection is None:
        return ()
    if selection.of == "session":
        page, _ = await transaction.episodes.list_by_session(
            scope.session_id, limit=selection.limit
        )
    elif selection.of == "job" and job_id is not None:
        page, _ = await transaction.episodes.list_by_job(job_id, limit=selection.limit)
    else:
        page, _ = await transaction.episodes.list_by_agent(limit=selection.limit)
    return page
