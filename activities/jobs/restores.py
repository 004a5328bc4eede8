"""Restoring a wait: verify its snapshot, compare it with today, apply the policy, end the wait.

All that a resume may do to memory is here.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from mnestic.memory.canonical import canonical_json, levels_of
from mnestic.memory.errors import (
    MemoryDriftedError,
    NotFoundError,
    ResumeRefusedError,
    SchemaVersionError,
    SnapshotCorruptedError,
    StoredValueError,
)
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import LongTermRecord, ReadRecord
from mnestic.memory.jobs.snapshots import (
    EPISODIC_TAIL,
    Drift,
    EpisodeKey,
    SealedSnapshot,
    SnapshotHead,
    SnapshotParts,
    compare,
    episode_key,
    newer_episodes,
)
from mnestic.memory.jobs.waits import (
    MetWait,
    OpenWait,
    Restored,
    ResumeReceipt,
    ResumeRequest,
    WaitPolicy,
)
from mnestic.memory.jobs.working_memory import DRIFT_VARIABLE, WorkingMemory, WorkingRef
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import Scope
from mnestic.memory.sharing.events import ChannelEvent, EventCondition

_MAX_DRIFT = 100  # the first; history and working memory stay small whatever changed
_VALUE_BYTES = 2048  # of a value in the drift; a larger one is left out
_VALUE_LEVELS = 32
_DRIFT_IN_ERROR = 3
log = logging.getLogger("mnestic.restores")
_UNREADABLE = (SnapshotCorruptedError, SchemaVersionError, StoredValueError, NotFoundError)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """A snapshot beside what is stored today.

    `sealed` is None for one that cannot be read; `head` is then memory as it is now. `newer` are the episodes
    of today's tail that were written after the snapshot.
    """

    sealed: SealedSnapshot | None
    head: SnapshotHead
    working: WorkingRef
    records: dict[tuple[str, str], LongTermRecord]
    versions: dict[tuple[str, str], int]
    drift: tuple[Drift, ...]
    newer: tuple[Episode, ...] = ()


async def restore_wait(
    transaction: Transaction,
    wait: OpenWait,
    *,
    scope: Scope,
    request: ResumeRequest | None,
    restored_at: datetime,
    set_aside_id: str,
) -> Restored:
    """Ends a wait, by a request or (None) by its timeout.

    Args:
        transaction: Rolled back as a whole if the snapshot is not verified.
        wait: The wait, with the hash of its snapshot as the workflow knows it.
        scope: Whose memory it is.
        request: Who resumes; with an override, it chooses the policy.
        restored_at: By the job's clock.
        set_aside_id: Id of the snapshot that keeps working memory which a pinned restore replaces.

    Raises:
        SnapshotCorruptedError: the bytes are not those that were sealed.
        MemoryDriftedError: the policy is strict and memory has changed.
        ResumeRefusedError: the request has resumed another wait.
    """
    job_id = wait.wait_id.rpartition("/")[0]
    request = await _checked_request(transaction, wait, request)
    policy: WaitPolicy = wait.policy
    if request is not None and request.override is not None:
        policy = request.override.policy
        reason = request.override.reason
        transaction.note(f"wait.override.{policy}", wait.wait_id, reason=reason)
    sealed: SealedSnapshot | None = None
    try:
        sealed = await transaction.snapshots.get(wait.snapshot.id, sha256=wait.snapshot.sha256)
    except _UNREADABLE as error:
        if request is None or request.override is None or policy != "rebase":
            raise
        log.warning("goes on without its snapshot", extra={"wait": wait.wait_id, "why": str(error)})
    found = await _find(transaction, wait, sealed=sealed, scope=scope)
    if policy == "strict" and found.drift:
        raise _drifted(wait, found.drift)
    set_aside = None
    if policy == "pinned":
        set_aside = set_aside_id if found.working.sha256 != found.head.working_sha256 else None
        await _pin(transaction, found, scope, job_id=job_id, set_aside_id=set_aside)
    else:
        if policy == "rebase":
            found = await _with_newer_episodes(transaction, found)
        await _rebase(transaction, found, scope, job_id=job_id)
    receipt = _receipt(wait, request, found, restored_at=restored_at) if request else None
    if receipt is not None:
        receipt = receipt.model_copy(update={"set_aside": set_aside})
    ended: Literal["timed_out", "resumed"] = "resumed" if receipt else "timed_out"
    await _close(transaction, wait, ended, receipt=receipt, is_sealed=sealed is not None)
    return Restored(
        policy=policy,
        request=request,
        drift=found.drift[:_MAX_DRIFT],
        drift_count=len(found.drift),
        receipt=receipt,
        set_aside=set_aside,
    )


async def _close(
    transaction: Transaction,
    wait: OpenWait,
    ended: Literal["timed_out", "resumed"],
    *,
    receipt: ResumeReceipt | None,
    is_sealed: bool,
) -> None:
    """Ends the wait. Its row may be missing like its snapshot, if the database was restored from a backup."""
    try:
        await transaction.waits.close(wait.wait_id, ended, receipt=receipt)
    except NotFoundError:
        if is_sealed:
            raise
        log.warning("goes on without its wait's row", extra={"wait": wait.wait_id})


async def _checked_request(
    transaction: Transaction, wait: OpenWait, request: ResumeRequest | None
) -> ResumeRequest | None:
    """Who ends the wait; None for its timeout. A request resumes one wait only, also when the job has forgotten its receipt."""
    if wait.condition is not None and (request is None or wait.is_by_condition(request.outcome)):
        request = await _request_of_condition(transaction, wait, request)
    if request is None:
        return None
    job_id = wait.wait_id.rpartition("/")[0]
    first = await transaction.waits.find_receipt(job_id, request.request_id)
    if first is not None and first.wait_id != wait.wait_id:
        raise ResumeRefusedError(
            job_id=job_id, why=f"request {request.request_id} has resumed wait {first.wait_id}"
        )
    return request


async def _request_of_condition(
    transaction: Transaction, wait: OpenWait, request: ResumeRequest | None
) -> ResumeRequest | None:
    """The request by what meets the condition, as it is stored; at a timeout if it came in time and was not sent by then."""
    assert wait.condition is not None
    job_id, outcome = wait.wait_id.rpartition("/")[0], wait.condition.outcome
    found: ChannelEvent | Fact | None
    if isinstance(wait.condition, EventCondition):
        found = await transaction.waits.find_event(wait.wait_id)
        if found is not None and request is None and found.at >= wait.deadline:
            return None
    else:
        found = await transaction.facts.find_awaited(wait.wait_id)
    if found is None and request is None:
        return None
    if found is None:
        why = f"wait {wait.wait_id} has got no {outcome}; only one that is stored ends it so"
        raise ResumeRefusedError(job_id=job_id, why=why)
    request = request or MetWait(job_id, wait.wait_id, outcome).request
    return request.model_copy(update={"payload": found.model_dump(mode="json")})


async def _find(
    transaction: Transaction, wait: OpenWait, *, sealed: SealedSnapshot | None, scope: Scope
) -> _Found:
    # Locked before the records are read: who writes both in one transaction is seen whole or not at all.
    working = await transaction.working.find_ref(scope.session_id, lock=True)
    head = sealed.head if sealed else await _head_now(transaction, wait, scope)
    reads, records, versions = await transaction.records.select_again(head.read_set)
    head = head.model_copy(update={"read_set": reads})
    return _Found(
        sealed=sealed,
        head=head,
        working=working,
        records=records,
        versions=versions,
        drift=compare(head, working=working, records=records, versions=versions),
    )


async def _head_now(transaction: Transaction, wait: OpenWait, scope: Scope) -> SnapshotHead:
    """The current memory, in place of a snapshot that cannot be read."""
    state = await transaction.working.load(scope.session_id)
    working = await transaction.working.find_ref(scope.session_id)
    episodes, _ = await transaction.episodes.list_by_agent(limit=EPISODIC_TAIL)
    return SnapshotHead(
        schema_version=wait.snapshot.schema_version,
        working_version=working.version,
        working_sha256=working.sha256,
        variables=state.variables,
        read_set=await transaction.records.list_reads(wait.wait_id.rpartition("/")[0]),
        episodic_tail=tuple(EpisodeKey(id=e.id, created_at=e.created_at) for e in episodes),
        snapshot_at=wait.snapshot.snapshot_at,
    )


async def _with_newer_episodes(transaction: Transaction, found: _Found) -> _Found:
    """Adds to the drift the episodes that are newer than the snapshot.

    They are no drift to a strict wait: an episode adds to what happened, and changes nothing of it.
    """
    now, _ = await transaction.episodes.list_by_agent(limit=EPISODIC_TAIL)
    newer = newer_episodes(found.head.episodic_tail, now)
    named = tuple(
        Drift(
            kind="created",
            namespace="",
            key=episode_key(each.id),
            snapshot_version=0,
            current_version=1,
        )
        for each in newer
    )
    return replace(found, newer=newer, drift=found.drift + named)


def _drifted(wait: OpenWait, drift: tuple[Drift, ...]) -> MemoryDriftedError:
    changes = tuple(
        f"{change.namespace}/{change.key}".lstrip("/") + f" {change.kind}"
        for change in drift[:_DRIFT_IN_ERROR]
    )
    return MemoryDriftedError(wait_id=wait.wait_id, changes=changes, count=len(drift))


async def _rebase(transaction: Transaction, found: _Found, scope: Scope, *, job_id: str) -> None:
    """Continues with the current values, and writes the changes into the variable `drift`.

    Newer working memory stays; it is restored only if it was lost.
    """
    seen = _seen_now(found)
    if seen != found.head.read_set:
        await transaction.records.add_reads(job_id, seen)
    if found.drift or DRIFT_VARIABLE in found.head.variables:
        await _write_drift(transaction, found, scope)


async def _write_drift(transaction: Transaction, found: _Found, scope: Scope) -> None:
    state = await transaction.working.load(scope.session_id)
    if found.sealed is not None and _is_lost(found):
        restored = found.sealed.read().working_memory.model_copy(update={"version": state.version})
        state = await transaction.working.save(scope.session_id, restored)
    informed = state.with_variables({DRIFT_VARIABLE: _drift_values(found) or None})
    if not informed.is_as(state):
        await transaction.working.save(scope.session_id, informed)


def _is_lost(found: _Found) -> bool:
    """Whether somebody emptied the session: versions only grow, but this one is lower."""
    nothing = WorkingMemory().document().ref.sha256
    return found.working.version < found.head.working_version and found.working.sha256 == nothing


async def _pin(
    transaction: Transaction, found: _Found, scope: Scope, *, job_id: str, set_aside_id: str | None
) -> None:
    """Continues with the snapshot: restores its working memory, and pins the read set.

    What others wrote to the session during the wait becomes a snapshot of its own.
    """
    assert found.sealed is not None, "a snapshot that cannot be read is never pinned"
    if set_aside_id is not None:
        now = await transaction.now()
        state = await transaction.working.load_document(scope.session_id)
        aside = SnapshotParts(working=state, snapshot_at=now)
        await transaction.snapshots.put(set_aside_id, aside, job_id=job_id)
        restored = found.sealed.read().working_memory.model_copy(update={"version": state.version})
        await transaction.working.save(scope.session_id, restored)
    pinned = tuple(read.model_copy(update={"pinned": True}) for read in found.head.read_set)
    if pinned != found.head.read_set:
        await transaction.records.add_reads(job_id, pinned)


def _receipt(
    wait: OpenWait, request: ResumeRequest, found: _Found, *, restored_at: datetime
) -> ResumeReceipt:
    return ResumeReceipt(
        request_id=request.request_id,
        job_id=wait.wait_id.rpartition("/")[0],
        wait_id=wait.wait_id,
        outcome=request.outcome,
        snapshot_id=wait.snapshot.id,
        snapshot_sha256=wait.snapshot.sha256,
        restored_at=restored_at,
        drift_count=len(found.drift),
        verified=found.sealed is not None and found.sealed.redacted_at is None,
        override=request.override,
        answer_sha256=request.answer_sha256,
        actor=request.actor,
    )


def _seen_now(found: _Found) -> tuple[ReadRecord, ...]:
    """The read set with the current versions, which the job knows from now on."""
    seen = []
    for read in found.head.read_set:
        if read.is_namespace:
            seen.append(read.model_copy(update={"pinned": False}))
            continue
        name = (read.namespace, read.key)
        live, version = found.records.get(name), found.versions.get(name, 0)
        absent = ReadRecord(namespace=read.namespace, key=read.key, version=version)
        seen.append(live.read if live else absent)
    return tuple(seen)


def _drift_values(found: _Found) -> list[dict[str, object]]:
    """The drift with values, for the job's working memory and so for its model.

    A value that is large or deep is not repeated; the job can recall the record.
    """
    before = {(read.namespace, read.key): read.value for read in found.head.read_set}
    now = {name: record.value for name, record in found.records.items()}
    now |= {("", episode_key(each.id)): each.summary for each in found.newer}
    changes = []
    for change in found.drift[:_MAX_DRIFT]:
        name = (change.namespace, change.key)
        values = {"before": before.get(name), "now": now.get(name)}
        brief = {which: value for which, value in values.items() if _is_brief(value)}
        changes.append(change.model_dump(mode="json") | brief)
    return changes


def _is_brief(value: Any) -> bool:
    return len(canonical_json(value)) <= _VALUE_BYTES and levels_of(value) <= _VALUE_LEVELS
