"""Reading an export back, into whichever agent: what is there already stays as it is, so twice changes nothing.

Lines of one kind that follow each other are added together. Where one cannot be, those before it are, and nothing of it.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError

from mnestic.activities.callers import Caller
from mnestic.activities.knowledge.receiving import remove_excluded
from mnestic.activities.knowledge.settlement import settle_facts
from mnestic.memory.canonical import canonical_json, check_json, sha256_hex
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import (
    EXPORT_VERSION,
    ClaimLine,
    DocumentLine,
    EdgeLine,
    EndLine,
    EpisodeLine,
    ExportLine,
    ForgottenLine,
    HeaderLine,
    ImportCount,
    MessageLine,
    NodeLine,
    PredicateLine,
    ReadersLine,
    RecordLine,
    SessionLine,
    SettingsLine,
    entry_from,
)
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.long_term.documents import StoredParts
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.claims import make_id
from mnestic.memory.knowledge.predicates import check_predicate
from mnestic.memory.knowledge.resources import check_content, check_message, check_name
from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.agent_settings import changed_settings, check_language, settings_of
from mnestic.memory.scope import EVERY_AGENT
from mnestic.memory.sharing.readers import ReadersOrNobody
from mnestic.memory.timestamps import check_date
from mnestic.memory.validation import refused

_BATCH = 100  # lines; a message has up to 1 MiB
Numbered = tuple[int, ExportLine]
Line = TypeVar("Line", bound=ExportLine)


class ExportReader:
    """Reads one export back."""

    def __init__(self, caller: Caller, *, source: str = "export") -> None:
        """Prepares the reader.

        Args:
            caller: Into whose memory it is read.
            source: How errors name the export.
        """
        self._caller, self._source = caller, source
        self._counts = dict.fromkeys(ImportCount.model_fields, 0)
        self._batch: list[Numbered] = []
        self._ended_at: int | None = None

    async def read(self, lines: AsyncIterable[ExportLine] | Iterable[ExportLine]) -> ImportCount:
        """Adds what the lines hold; returns how much of it is new.

        Raises:
            InvalidInputError: a line cannot be, or the last is missing; what stands before it was added.
        """
        number = 0
        try:
            async for line in _each(lines):
                number += 1
                await self._take(number, line)
        except InvalidInputError:
            await self._flush()
            raise
        await self._flush()
        if self._ended_at is None:
            why = f"has no last line, so it was cut off after line {number}; what it holds was read"
            raise InvalidInputError(what=self._source, why=why if number else "is empty")
        return ImportCount(**self._counts | {"lines": number})

    async def _take(self, number: int, line: ExportLine) -> None:
        if (number == 1) != isinstance(line, HeaderLine):
            why = "is no header; an export begins with one, of kind 'export'"
            raise self._refused(number, why if number == 1 else "is a second header")
        if self._ended_at is not None:
            raise self._refused(number, f"comes after the last line, which is {self._ended_at}")
        if isinstance(line, HeaderLine):
            check_version(line, what=self._source)
            return
        if isinstance(line, EndLine):
            await self._flush()
            if line.lines != number - 1:
                why = f"says that {line.lines} lines are before it; there are {number - 1}"
                raise self._refused(number, why)
            self._ended_at = number
            return
        if self._batch and not _belong_together(self._batch[0][1], line):
            await self._flush()
        self._batch.append((number, line))
        if len(self._batch) >= _BATCH:
            await self._flush()

    async def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            await self._add(batch)

    async def _add(self, batch: Sequence[Numbered]) -> None:
        """Adds lines in one transaction; by halves where one of them cannot be."""
        try:
            await self._add_together([line for _, line in batch])
        except InvalidInputError as error:
            if len(batch) == 1:
                raise self._refused(batch[0][0], str(error)) from None
        else:
            return
        middle = len(batch) // 2
        await self._add(batch[:middle])
        await self._add(batch[middle:])

    async def _add_together(self, lines: Sequence[Any]) -> None:
        if isinstance(lines[0], PredicateLine):
            for line in lines:
                await self._add_predicate(line)
            return
        add = _ADD[_group(lines[0])]
        async with self._caller(write=True) as transaction:
            if isinstance(lines[0], MessageLine | ForgottenLine | ClaimLine):
                await transaction.keep_to(_readers(lines[0]))
            counts = await add(transaction, lines, owner=self._caller.owner)
        for name, number in counts.items():
            self._counts[name] += number

    async def _add_predicate(self, line: PredicateLine) -> None:
        """Sets a predicate for the tenant, unless it is set; facts that there are of it follow."""
        predicate = line.predicate
        check_predicate(predicate.name)
        async with self._transaction(EVERY_AGENT, write=False) as transaction:
            own = {one.name: one for one in await transaction.facts.list_predicates()}
        known = own.get(predicate.name)
        if known is None:
            async with self._transaction(EVERY_AGENT, write=True) as transaction:
                await transaction.facts.set_predicate(predicate)
            self._counts["predicates"] += 1
        elif known != predicate:
            why = (
                f"is {known.cardinality} and of {known.category} in this tenant, but {predicate.cardinality} and of "
                f"{predicate.category} in the export; facts would be others. Set it as the export has it: "
                f"mnestic memory predicates set {predicate.name} --cardinality {predicate.cardinality} "
                f"--category {predicate.category}"
            )
            raise InvalidInputError(what=f"predicate {predicate.name}", why=why)
        await settle_facts(self._transaction, predicate.name)

    def _transaction(self, agent_id: str, *, write: bool) -> Any:
        return self._caller.memory.transaction(
            tenant_id=self._caller.tenant_id,
            agent_id=agent_id,
            actor=self._caller.actor,
            write=write,
        )

    def _refused(self, number: int, why: str) -> InvalidInputError:
        return InvalidInputError(what=f"{self._source}, line {number}", why=why)


def check_version(header: HeaderLine, *, what: str) -> None:
    """Refuses an export of a newer version than this code knows.

    Raises:
        InvalidInputError: says both versions.
    """
    if header.version > EXPORT_VERSION:
        why = f"is of version {header.version}; this program reads up to {EXPORT_VERSION}: upgrade mnestic"
        raise InvalidInputError(what=what, why=why)


async def _each(
    lines: AsyncIterable[ExportLine] | Iterable[ExportLine],
) -> AsyncIterator[ExportLine]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    else:
        for line in lines:
            yield line


def _belong_together(one: ExportLine, other: ExportLine) -> bool:
    """Whether lines are added together: those of one kind, for the same readers."""
    return _group(one) == _group(other) and _readers(one) == _readers(other)


def _readers(line: ExportLine) -> ReadersOrNobody | None:
    """For whom what a line holds is."""
    if isinstance(line, ClaimLine | ForgottenLine):
        return line.readers
    return line.message.readers if isinstance(line, MessageLine) else None


def _group(line: ExportLine) -> str:
    """Which lines are added together: messages and those that were forgotten stand among each other."""
    return "message" if isinstance(line, ForgottenLine) else line.kind


async def _add_messages(
    transaction: Transaction, lines: Sequence[MessageLine | ForgottenLine], *, owner: str
) -> Mapping[str, int]:
    for line in lines:
        _check_message(line)
    lines = await _remove_excluded_messages(transaction, lines)
    new = await transaction.exports.add_messages(lines)
    messages = [line for line in lines if isinstance(line, MessageLine) and line.place in new]
    # Before the entries: who learns locks them in this order too.
    changes = await transaction.facts.claim([claim for line in messages for claim in line.claims])
    entries = [entry_from(line, owner=owner) for line in messages]
    await transaction.entries.add([entry for entry in entries if entry is not None])
    for line, entry in zip(messages, entries, strict=True):
        if entry is not None and line.archived is not None:
            await transaction.archive.add([entry.id], line.archived)
    number = len({line.place for line in messages})
    return {"messages": number, "forgotten": len(new) - number, "facts": len(changes)}


async def _remove_excluded_messages(
    transaction: Transaction, lines: Sequence[MessageLine | ForgottenLine]
) -> list[MessageLine | ForgottenLine]:
    """Lines in which a message that speaks of what is kept out is one that was forgotten: nothing but its name."""
    texts = [
        texts_of(line.model_dump(mode="json")) if isinstance(line, MessageLine) else []
        for line in lines
    ]
    are_out = await transaction.suppression_list.are_kept_out(texts)
    now = await transaction.now()
    return [
        _forgotten(line, now) if isinstance(line, MessageLine) and is_out else line
        for line, is_out in zip(lines, are_out, strict=True)
    ]


async def _allowed_lines(transaction: Transaction, lines: Sequence[Line]) -> list[Line]:
    """Lines without those that speak of what is kept out."""
    texts = [texts_of(line.model_dump(mode="json")) for line in lines]
    are_out = await transaction.suppression_list.are_kept_out(texts)
    return [line for line, is_out in zip(lines, are_out, strict=True) if not is_out]


def _forgotten(line: MessageLine, now: datetime) -> ForgottenLine:
    session_id, source_id = line.place
    return ForgottenLine(
        session_id=session_id, source_id=source_id, at=line.message.at, forgotten_at=now
    )


def _check_message(line: MessageLine | ForgottenLine) -> None:
    if isinstance(line, ForgottenLine):
        what = "message that was forgotten"
        check_name(line.session_id, what=what, field="session_id")
        check_name(line.source_id, what=what, field="source_id")
        check_date(line.at, what=what)
        return
    check_message(line.message)
    for claim in line.claims:
        if (claim.source.session_id, claim.source.source_id) != line.place:
            why = f"is not of the message that it stands with, {line.message.name}"
            raise InvalidInputError(what=f"claim {claim.id}", why=why)
    entry = line.entry
    if entry is not None:
        what = f"entry of message {line.message.name[:140]!a}"
        if entry.content is not None:
            check_content(entry.content, what=what)
        for name in (*entry.subjects, *entry.tags, *entry.aliases):
            check_name(name, what=what)


async def _add_claims(
    transaction: Transaction, lines: Sequence[ClaimLine], **_: Any
) -> Mapping[str, int]:
    claims = await remove_excluded(transaction, [line.claim for line in lines])
    changes = await transaction.facts.claim(claims)
    return {"facts": len(changes)}


async def _add_readers(
    transaction: Transaction, lines: Sequence[ReadersLine], **_: Any
) -> Mapping[str, int]:
    there = {(one.kind, one.name) for one in await transaction.reader_defaults.list_defaults()}
    for line in lines:
        if (line.default.kind, line.default.name) not in there:
            await transaction.reader_defaults.set(line.default)
    return {}


async def _add_settings(
    transaction: Transaction, lines: Sequence[SettingsLine], **_: Any
) -> Mapping[str, int]:
    stored = await transaction.settings.read()
    given = {name: value for line in lines for name, value in line.values.items()}
    missing = {name: value for name, value in given.items() if name not in stored}
    if not missing:
        return {}
    settings = changed_settings(settings_of(stored), missing)
    if "language" in missing:
        check_language(settings, await transaction.settings.list_languages())
    for name in missing:
        await transaction.settings.put(name, settings.model_dump(mode="json")[name])
    return {"settings": len(missing)}


async def _add_records(
    transaction: Transaction, lines: Sequence[RecordLine], **_: Any
) -> Mapping[str, int]:
    left = await _allowed_lines(transaction, lines)
    added = [await transaction.exports.add_record(line) for line in left]
    return {"records": sum(added)}


async def _add_documents(
    transaction: Transaction, lines: Sequence[DocumentLine], **_: Any
) -> Mapping[str, int]:
    """Documents get their vectors from `IngestMessages`."""
    added = 0
    for line in await _allowed_lines(transaction, lines):
        fields = line.model_dump(exclude={"kind"})
        added += await transaction.documents.restore(StoredParts.model_validate(fields))
    return {"documents": added}


async def _add_nodes(
    transaction: Transaction, lines: Sequence[NodeLine], **_: Any
) -> Mapping[str, int]:
    await transaction.facts.graph.lock()
    left = await _allowed_lines(transaction, lines)
    added = [await transaction.exports.add_node(line) for line in left]
    return {"nodes": sum(added)}


async def _add_edges(
    transaction: Transaction, lines: Sequence[EdgeLine], *, owner: str
) -> Mapping[str, int]:
    await transaction.facts.graph.lock()
    added = 0
    for line in await _allowed_lines(transaction, lines):
        digest = sha256_hex(canonical_json(line.model_dump(mode="json")))
        added += await transaction.exports.add_edge(make_id(owner, "edge", digest), line)
    return {"edges": added}


async def _add_episodes(
    transaction: Transaction, lines: Sequence[EpisodeLine], *, owner: str
) -> Mapping[str, int]:
    """Ids of episodes are the tenant's, so each gets one of its owner and what it says."""
    added = 0
    for line in await _allowed_lines(transaction, lines):
        check_json([line.summary, line.payload], what="episode")
        digest = sha256_hex(canonical_json(line.model_dump(mode="json", exclude={"readers"})))
        added += await transaction.exports.add_episode(make_id(owner, "episode", digest), line)
    return {"episodes": added}


async def _add_sessions(
    transaction: Transaction, lines: Sequence[SessionLine], **_: Any
) -> Mapping[str, int]:
    added = 0
    for line in lines:
        try:
            state = WorkingMemory.model_validate(line.state)
        except ValidationError as error:
            raise refused(f"session {line.session_id}", error) from None
        known = await transaction.working.load(line.session_id, lock=True)
        if known.version == 0:
            fresh = {"version": 0, "last_checkpoint": None}
            await transaction.working.save(line.session_id, state.model_copy(update=fresh))
            added += 1
    return {"sessions": added}


_ADD: Mapping[str, Any] = MappingProxyType(
    {
        "message": _add_messages,
        "claim": _add_claims,
        "readers": _add_readers,
        "settings": _add_settings,
        "record": _add_records,
        "document": _add_documents,
        "node": _add_nodes,
        "edge": _add_edges,
        "episode": _add_episodes,
        "session": _add_sessions,
    }
)
