"""Recall by scope: the records and episodes that a query names."""

from collections.abc import Awaitable, Callable
from functools import partial

from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.recalls import EpisodeSelection, Recalled, RecallQuery, RecordSelection
from mnestic.memory.jobs.snapshots import EPISODIC_TAIL
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import Scope
from mnestic.stores.postgres.cursors import encode_cursor

_Page = Callable[..., Awaitable[tuple[tuple[Episode, ...], str | None]]]


class ScopeRetriever:
    """Implements `mnestic.memory.ports.Retriever` by namespace, key and scope."""

    async def recall(
        self,
        transaction: Transaction,
        query: RecallQuery,
        *,
        scope: Scope,
        job_id: str | None,
        sealed_tail: PinnedEpisodes | None = None,
    ) -> Recalled:
        """See the port."""
        reads = await _reads(transaction, query, job_id)
        records: list[ReadRecord] = []
        missing: list[ReadRecord] = []
        namespaces: list[ReadRecord] = []
        for selection in query.records:
            seen = {read.key: read for read in reads if read.namespace == selection.namespace}
            if selection.keys is None:
                found, until = await _whole(transaction, selection, seen)
                records.extend(found)
                namespaces.append(_as_namespace(selection, seen, until=until))
            else:
                found, absent = await _by_key(transaction, selection, seen)
                records.extend(found)
                missing.extend(absent)
        episodes = await _episodes(
            transaction, query.episodes, scope=scope, job_id=job_id, sealed_tail=sealed_tail
        )
        return Recalled(
            records=tuple(records),
            missing=tuple(missing),
            namespaces=tuple(namespaces),
            episodes=episodes,
        )


async def _reads(
    transaction: Transaction, query: RecallQuery, job_id: str | None
) -> tuple[ReadRecord, ...]:
    """The job's read set, of which the query needs what is pinned, or all of it for a namespace."""
    if job_id is None or not query.records:
        return ()
    needs_all = any(selection.keys is None for selection in query.records)
    return await transaction.records.list_reads(job_id, pinned=not needs_all)


async def _whole(
    transaction: Transaction, selection: RecordSelection, seen: dict[str, ReadRecord]
) -> tuple[tuple[ReadRecord, ...], str | None]:
    """The records of a namespace; of one that is pinned those that the job saw, or wrote.

    If there are more than the limit, it returns the key of the last one too.
    """
    more: str | None = None
    pinned = {key: read for key, read in seen.items() if read.pinned and key}
    if "" in seen and seen[""].pinned:
        own = [(selection.namespace, key) for key in seen if key and key not in pinned]
        live, _ = await transaction.records.select(own)
        page = tuple(live.values())
    else:
        page, more = await transaction.records.list_by_namespace(
            selection.namespace, limit=selection.limit
        )
    read = {record.key: record.read for record in page} | pinned
    there = [read[key] for key in sorted(read) if read[key].value is not None]
    if more is None and len(there) <= selection.limit:
        return tuple(there), None
    shown = tuple(there[: selection.limit])
    return shown, (shown or page)[-1].key


def _as_namespace(
    selection: RecordSelection, seen: dict[str, ReadRecord], *, until: str | None
) -> ReadRecord:
    """The namespace in the read set: what was pinned stays."""
    before = seen.get("")
    if before is not None and before.pinned:
        return before
    return ReadRecord.of_namespace(selection.namespace, limit=selection.limit, until=until)


async def _by_key(
    transaction: Transaction, selection: RecordSelection, seen: dict[str, ReadRecord]
) -> tuple[tuple[ReadRecord, ...], tuple[ReadRecord, ...]]:
    """The records of these keys as they are, or were pinned, and the keys that are not there."""
    assert selection.keys is not None
    namespace = selection.namespace
    names = [(namespace, key) for key in selection.keys]
    live, versions = await transaction.records.select(names)
    read = {
        key: ReadRecord(namespace=namespace, key=key, version=versions.get((namespace, key), 0))
        for key in selection.keys
    }
    read |= {key: record.read for (_, key), record in live.items()}
    read |= {key: pin for key, pin in seen.items() if pin.pinned and key in read}
    found = tuple(read[key] for key in selection.keys if read[key].value is not None)
    return found, tuple(each for each in read.values() if each.value is None)


async def _episodes(
    transaction: Transaction,
    selection: EpisodeSelection | None,
    *,
    scope: Scope,
    job_id: str | None,
    sealed_tail: PinnedEpisodes | None,
) -> tuple[Episode, ...]:
    if selection is None:
        return ()
    if selection.of == "job" and job_id is not None:  # its own, whatever others have written
        page, _ = await transaction.episodes.list_by_job(job_id, limit=selection.limit)
        return page
    list_page: _Page = transaction.episodes.list_by_agent
    if selection.of == "session":
        list_page = partial(transaction.episodes.list_by_session, scope.session_id)
    if sealed_tail is None:
        page, _ = await list_page(limit=selection.limit)
        return page
    sealed = await transaction.snapshots.get(sealed_tail.snapshot_id, sha256=sealed_tail.sha256)
    own: tuple[Episode, ...] = ()
    if job_id is not None:
        own, _ = await transaction.episodes.list_by_job(job_id, limit=selection.limit)
    seen = {each.id: each for each in (*own, *sealed.tail())}
    if selection.of == "session":
        seen = {name: each for name, each in seen.items() if each.session_id == scope.session_id}
    found = sorted(seen.values(), key=lambda each: (each.created_at, each.id), reverse=True)
    older = await _older_episodes(list_page, sealed.tail(), limit=selection.limit)
    return (*found, *(each for each in older if each.id not in seen))[: selection.limit]


async def _older_episodes(
    list_page: _Page, tail: tuple[Episode, ...], *, limit: int
) -> tuple[Episode, ...]:
    """Those from before a full tail; before one that is not full there are none."""
    if len(tail) < EPISODIC_TAIL:
        return ()
    cursor = encode_cursor(tail[-1].created_at.isoformat(), tail[-1].id)
    page, _ = await list_page(limit=limit, cursor=cursor)
    return page
