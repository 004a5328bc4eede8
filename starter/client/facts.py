"""`memory.facts`: what an agent believes, why, and what it believed before."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from mnestic.activities.knowledge.subjects import find_subjects
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import (
    PERSON,
    Claim,
    ClaimKind,
    ClaimSource,
    check_name,
    check_time,
    name_key,
)
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import Fact, FactChange, FactStatus
from mnestic.memory.knowledge.predicates import check_predicate
from mnestic.memory.knowledge.subjects import spelt
from mnestic.memory.knowledge.world.histories import FactHistory, history_of
from mnestic.memory.knowledge.world.world_model import World, world_of
from mnestic.memory.ports import Transaction
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.knowledge.decisions import decision, decision_time_now
from mnestic.starter.pagination import list_all


class FactClient(ClientPart):
    """The facts of one agent. Each call is a transaction of its own, with audit rows."""

    async def list(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        statuses: Sequence[FactStatus] | None = None,
        as_of: datetime | None = None,
        ahead: bool = False,
        believed_at: datetime | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[tuple[Fact, ...], str | None]:
        """Facts by subject, predicate and time, and the cursor of the next page.

        Args:
            subject: Only about this one, by any name that is known of them.
            predicate: Only of this predicate.
            statuses: Active ones without it; with `as_of` archived ones too.
            as_of: Only what was so at this moment of the world.
            ahead: With `as_of`, also what is to come after it.
            believed_at: As it was believed at this moment of ours: what follows from the claims that
                were recorded until then, by the predicates of today.
            limit: How many at most.
            cursor: Where an earlier page ended.

        Raises:
            InvalidInputError: the subject is a name of several, the predicate is none, or the cursor is of
                another list.
        """
        if predicate is not None:
            check_predicate(predicate)
        async with self._scope.transaction(write=False) as transaction:
            about = None if subject is None else await find_subjects(transaction, subject)
            return await transaction.facts.list_facts(
                subject=about,
                predicate=predicate,
                statuses=statuses,
                as_of=as_of,
                ahead=ahead,
                believed_at=believed_at,
                limit=limit,
                cursor=cursor,
            )

    async def find_ids(self, fact_id: str, *, limit: int = 10) -> tuple[str, ...]:
        """The ids of facts that begin so, whatever their status: as much of an id as a person gives."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.facts.list_ids(fact_id, limit=limit)

    async def now(self) -> datetime:
        """The moment, by the clock that facts added now begin by."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.now()

    async def history(self, subject: str, predicate: str) -> FactHistory:
        """What was ever believed of a subject and a predicate, why each ended, and who said so.

        Raises:
            InvalidInputError: the subject is a name of several, or the predicate is none.
        """
        check_predicate(predicate)
        async with self._scope.transaction(write=False) as transaction:
            about = await find_subjects(transaction, subject)
            facts = await list_all(
                transaction.facts.list_facts,
                subject=about,
                predicate=predicate,
                statuses=get_args(FactStatus),
            )
            claims = await transaction.facts.list_claims_about(about, predicate)
            rule = (await transaction.facts.get_predicates({predicate}))[predicate]
        told = history_of(facts, claims)
        return FactHistory(
            subject=spelt(about[0], told, otherwise=subject),
            predicate=predicate,
            cardinality=rule.cardinality,
            category=rule.category,
            facts=told,
        )

    async def world(self, subject: str) -> World:
        """What is known of a subject: what is so, how it changed, what recurs, and what to expect.

        Raises:
            InvalidInputError: the subject is a name of several; says of whom.
        """
        async with self._scope.transaction(write=False) as transaction:
            about = await find_subjects(transaction, subject)
            facts = await list_all(
                transaction.facts.list_facts, subject=about, statuses=get_args(FactStatus)
            )
            claims = await transaction.facts.list_claims_about(about)
            name = spelt(about[0], facts, otherwise=subject)
            asked = EntryQuery(entry_types=("pattern",), subject=name)
            entries, _ = await transaction.entries.list_entries(asked)
            now = await transaction.now()
        return world_of(name, facts, claims, entries=entries, now=now)

    async def add(
        self,
        subject: str,
        predicate: str,
        value: str,
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        confidence: float = 1,
    ) -> tuple[FactChange, ...]:
        """Says on a person's word that something is so; returns what is believed otherwise.

        Args:
            subject: Whom or what it is about.
            predicate: Of one with a single object, the new one takes the place of the last.
            value: The object.
            valid_from: Since when it is so; since now without it.
            valid_to: Until when; what is over by now supersedes nothing.
            confidence: How certain it is, from 0 to 1.

        Raises:
            InvalidInputError: it cannot be kept, or ends before it begins.
        """
        check_name(subject, what="subject")
        check_predicate(predicate)
        check_name(value, what="object")
        for name, moment in (("valid_from", valid_from), ("valid_to", valid_to)):
            if moment is not None:
                check_time(moment, what=name)
        if valid_from and valid_to and valid_to < valid_from:
            raise InvalidInputError(what="valid_to", why="is before valid_from")
        if not 0 <= confidence <= 1:
            raise InvalidInputError(what="confidence", why=f"is {confidence}; it is from 0 to 1")
        async with self._scope.transaction(write=True) as transaction:
            now, said_at = await decision_time_now(transaction, subject, predicate)
            said = Claim(
                id=uuid.uuid4().hex,
                subject=subject,
                predicate=predicate,
                object=value,
                confidence=confidence,
                said_at=said_at,
                valid_from=valid_from or (now if said_at > now else None),
                valid_to=valid_to,
                source=ClaimSource(extractor=PERSON),
            )
            return await transaction.facts.claim([said])

    async def delete(self, fact_id: str) -> tuple[FactChange, ...]:
        """Deletes a fact for good, with all periods of its object; who says it again has it believed again.

        Raises:
            NotFoundError: there is no such fact.
        """
        return await self._decide(fact_id, "deleted")

    async def reactivate(self, fact_id: str) -> tuple[FactChange, ...]:
        """Undoes the end of an archived fact; what took its place is archived as undone.

        Raises:
            NotFoundError: there is no such fact.
            InvalidInputError: it is not archived, or not the last period of its object.
        """
        return await self._decide(fact_id, "reactivated")

    async def why(self, fact_id: str) -> tuple[Fact, tuple[Claim, ...]]:
        """A fact, and the claims that it follows from: which message, which words, which extractor.

        Raises:
            NotFoundError: there is no such fact.
        """
        async with self._scope.transaction(write=False) as transaction:
            fact = await transaction.facts.get(fact_id)
            return fact, await transaction.facts.list_claims(fact)

    async def quotes(self, claims: Sequence[Claim]) -> dict[str, str]:
        """The words of messages that claims follow from, by claim; none of what a person said by hand."""
        words: dict[str, str] = {}
        async with self._scope.transaction(write=False) as transaction:
            for claim in claims:
                source = claim.source
                if source.session_id is None or source.source_id is None or source.span is None:
                    continue
                lesson = await transaction.ingest_states.find(source.session_id, source.source_id)
                if lesson is not None:
                    said = lesson.resource.content
                    words[claim.id] = said[source.span.start : source.span.end]
        return words

    async def _decide(self, fact_id: str, kind: ClaimKind) -> tuple[FactChange, ...]:
        """A person's decision about a fact, as a claim of its own."""
        async with self._scope.transaction(write=True) as transaction:
            fact = await transaction.facts.get(fact_id)
            if kind == "reactivated" and fact.status != "archived":
                raise InvalidInputError(
                    what=f"fact {fact_id}", why=f"is {fact.status}, not archived"
                )
            changes = await transaction.facts.claim([await decision(transaction, fact, kind)])
            if kind == "reactivated":
                await _check_reactivated(transaction, fact)
            return changes


async def _check_reactivated(transaction: Transaction, fact: Fact) -> None:
    """Refuses a decision that has reactivated another period of the same object."""
    if (await transaction.facts.get(fact.id)).status == "active":
        return
    active = await list_all(
        transaction.facts.list_facts, subject=fact.subject, predicate=fact.predicate
    )
    key = name_key(fact.object)
    (last,) = [other.id for other in active if name_key(other.object) == key]
    why = f"is an earlier period of {fact.object!r}; only the last can be reactivated, {last}"
    raise InvalidInputError(what=f"fact {fact.id}", why=why)
