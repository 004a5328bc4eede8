"""Recall by scope: the records and episodes that a query names."""

from mnestic.memory.episodes import Episode
from mnestic.memory.ports import Transaction
from mnestic.memory.recalls import EpisodeSelection, Recalled, RecallQuery, RecordSelection
from mnestic.memory.records import LongTermRecord, RecordRef
from mnestic.memory.scope import Scope


class ScopeRetriever:
    """Implements `mnestic.memory.ports.Retriever` by namespace, key and scope."""

    async def recall(
        self, transaction: Transaction, query: RecallQuery, *, scope: Scope, job_id: str | None
    ) -> Recalled:
        """See the port."""
        records: list[LongTermRecord] = []
        missing: list[RecordRef] = []
        for selection in query.records:
            found, absent = await _select(transaction, selection)
            records.extend(found)
            missing.extend(absent)
        episodes = await _episodes(transaction, query.episodes, scope=scope, job_id=job_id)
        return Recalled(records=tuple(records), missing=tuple(missing), episodes=episodes)


async def _select(
    transaction: Transaction, selection: RecordSelection
) -> tuple[tuple[LongTermRecord, ...], tuple[RecordRef, ...]]:
    if selection.keys is None:
        page, _ = await transaction.records.list_by_namespace(
            selection.namespace, limit=selection.limit
        )
        return page, ()
    names = [(selection.namespace, key) for key in selection.keys]
    live, versions = await transaction.records.select(names)
    absent = tuple(
        RecordRef(namespace=namespace, key=key, version=versions.get((namespace, key), 0))
        for namespace, key in names
        if (namespace, key) not in live
    )
    return tuple(live[name] for name in names if name in live), absent


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
