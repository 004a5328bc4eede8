"""`memory.facts`: an agent's facts, their sources and their history."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import get_args

from mnestic.activities.graph.reading import read_graph
from mnestic.activities.knowledge.decisions import TICK, decision, decision_time_now
from mnestic.activities.knowledge.subjects import adopt_named_facts, find_subjects, resolve_subject
from mnestic.memory.errors import InvalidInputError, StaleRequestError
from mnestic.memory.graph.graph import Graph
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
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.predicates import NAMING, check_predicate
from mnestic.memory.knowledge.subjects import spelt
from mnestic.memory.knowledge.world.histories import FactHistory, history_of
from mnestic.memory.knowledge.world.world_model import World, world_of
from mnestic.memory.ports import Transaction
from mnestic.starter.client.client_scope import ClientPart
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
            subject: Only about this subject, by any of its known names.
            predicate: Only of this predicate.
            statuses: Active ones without it; with `as_of` archived ones too.
            as_of: Only facts that were valid at this time.
            ahead: With `as_of`, also facts that begin after it.
            believed_at: Facts as known at this time (transaction time): those that follow from the claims that
                were recorded until then, by today's predicates.
            limit: The maximum number of results.
            cursor: The cursor of the previous page.

        Raises:
            InvalidInputError: the subject is ambiguous, the predicate is malformed, or the cursor is of
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
        """The ids of facts with a prefix, whatever their status."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.facts.list_ids(fact_id, limit=limit)

    async def now(self) -> datetime:
        """The current time, by the clock that facts added now begin by."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.now()

    async def history(self, subject: str, predicate: str) -> FactHistory:
        """All facts about a subject and a predicate over time, why each ended, and who said so.

        Raises:
            InvalidInputError: the subject is ambiguous, or the predicate is malformed.
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
        versions = history_of(facts, claims)
        return FactHistory(
            subject=spelt(about[0], versions, otherwise=subject),
            predicate=predicate,
            cardinality=rule.cardinality,
            category=rule.category,
            facts=versions,
        )

    async def world(self, subject: str) -> World:
        """What is known about a subject: current facts, changes, recurring patterns and predictions.

        Raises:
            InvalidInputError: the subject is ambiguous; names the candidates.
        """
        async with self._scope.transaction(write=False) as transaction:
            about = await find_subjects(transaction, subject)
            facts = await list_all(
                transaction.facts.list_facts, subject=about, statuses=get_args(FactStatus)
            )
            claims = await transaction.facts.list_claims_about(about)
            name = spelt(about[0], facts, otherwise=subject)
            query = EntryQuery(entry_types=("pattern",), subject=name)
            entries, _ = await transaction.entries.list_entries(query)
            now = await transaction.now()
        return world_of(name, facts, claims, entries=entries, now=now)

    async def add(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the word for it everywhere
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        confidence: float = 1,
    ) -> tuple[FactChange, ...]:
        """Adds a fact that a person states; returns the facts that changed.

        Args:
            subject: The person or thing that it is about. A name that one subject alone is known by means that subject,
                unless the fact is itself a name.
            predicate: If it has a single object at a time, the new fact supersedes the last.
            object: What its subject has, is or does.
            valid_from: When it became valid; now by default.
            valid_to: When it stops being valid; a fact that has ended by now supersedes nothing.
            confidence: How certain it is, from 0 to 1.

        Raises:
            InvalidInputError: a value is invalid, or the fact ends before it begins.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        check_name(subject, what="subject")
        check_predicate(predicate)
        check_name(object, what="object")
        for name, moment in (("valid_from", valid_from), ("valid_to", valid_to)):
            if moment is not None:
                check_time(moment, what=name)
        if valid_from and valid_to and valid_to < valid_from:
            raise InvalidInputError(what="valid_to", why="is before valid_from")
        if not 0 <= confidence <= 1:
            raise InvalidInputError(what="confidence", why=f"is {confidence}; it is from 0 to 1")
        async with self._scope.transaction(write=True) as transaction:
            await transaction.keep_to(None)
            about = subject
            if predicate not in NAMING:
                about = await resolve_subject(transaction, subject)
            await transaction.suppression_list.check(subject, about, predicate, object, what="fact")
            now, said_at = await decision_time_now(transaction, about, predicate)
            claim = Claim(
                id=uuid.uuid4().hex,
                subject=about,
                predicate=predicate,
                object=object,
                confidence=confidence,
                said_at=said_at,
                valid_from=valid_from or (now if said_at > now else None),
                valid_to=valid_to,
                source=ClaimSource(extractor=PERSON),
            )
            changes = await transaction.facts.claim([claim])
            return (*changes, *await adopt_named_facts(transaction, changes))

    async def delete(self, fact_id: str) -> tuple[FactChange, ...]:
        """Deletes a fact permanently, with all periods of its object. A later message can state it again.

        Raises:
            NotFoundError: there is no such fact.
        """
        return await self._decide(fact_id, "deleted")

    async def reactivate(self, fact_id: str) -> tuple[FactChange, ...]:
        """Reactivates an archived fact; the fact that superseded it is archived.

        Raises:
            NotFoundError: there is no such fact.
            StaleRequestError: it is not archived.
            InvalidInputError: it is not the last period of its object.
        """
        return await self._decide(fact_id, "reactivated")

    async def why(self, fact_id: str) -> tuple[Fact, tuple[Claim, ...]]:
        """A fact and its claims, each with its message, quoted words and extractor.

        Raises:
            NotFoundError: there is no such fact.
        """
        async with self._scope.transaction(write=False) as transaction:
            fact = await transaction.facts.get(fact_id)
            return fact, await transaction.facts.list_claims(fact)

    async def messages(self, claims: Sequence[Claim]) -> dict[str, IncomingMessage]:
        """The message of each claim, by claim id; a claim that a person made by hand has none."""
        found: dict[str, IncomingMessage] = {}
        async with self._scope.transaction(write=False) as transaction:
            for claim in claims:
                source = claim.source
                if source.session_id is None or source.source_id is None:
                    continue
                message = await transaction.ingest_states.find(source.session_id, source.source_id)
                if message is not None:
                    found[claim.id] = message
        return found

    async def quotes(self, claims: Sequence[Claim]) -> dict[str, str]:
        """The quoted words of each claim, by claim id; a claim that a person made by hand has none."""
        contents = {
            claim_id: message.resource.content
            for claim_id, message in (await self.messages(claims)).items()
        }
        return {
            claim.id: contents[claim.id][span.start : span.end]
            for claim in claims
            if claim.id in contents and (span := claim.source.span) is not None
        }

    async def change(
        self,
        fact_id: str,
        object: str,  # noqa: A002 - the word for it everywhere
    ) -> tuple[FactChange, ...]:
        """Changes the object of an active fact, as of now; returns the facts that changed.

        If its predicate has one object at a time, the old fact is superseded; otherwise it ends.

        Raises:
            NotFoundError: there is no such fact.
            StaleRequestError: it is not active.
            InvalidInputError: the value is invalid.
        """
        check_name(object, what="object")
        async with self._scope.transaction(write=True) as transaction:
            fact = await transaction.facts.get(fact_id)
            if fact.status != "active":
                raise StaleRequestError(what=f"fact {fact_id}", why=f"is {fact.status}, not active")
            if name_key(fact.object) == name_key(object):
                return ()
            await transaction.suppression_list.check(
                fact.subject, fact.predicate, object, what="fact"
            )
            ended = await decision(transaction, fact, "ended")
            stated = ended.model_copy(
                update={
                    "id": uuid.uuid4().hex,
                    "kind": "affirmed",
                    "object": object,
                    "said_at": ended.said_at + TICK,
                }
            )
            is_single = fact.cardinality == "single"  # the new object then ends the old one
            changes = await transaction.facts.claim([stated] if is_single else [ended, stated])
            return (*changes, *await adopt_named_facts(transaction, changes))

    async def _decide(self, fact_id: str, kind: ClaimKind) -> tuple[FactChange, ...]:
        """A person's decision about a fact, as a claim of its own."""
        async with self._scope.transaction(write=True) as transaction:
            fact = await transaction.facts.get(fact_id)
            if kind == "reactivated" and fact.status != "archived":
                raise StaleRequestError(
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
    (last_id,) = [other.id for other in active if name_key(other.object) == key]
    why = f"is an earlier period of {fact.object!r}; only the last can be reactivated, {last_id}"
    raise InvalidInputError(what=f"fact {fact.id}", why=why)


class GraphClient(ClientPart):
    """The graph of one agent's facts: nodes and weighted edges."""

    async def read(
        self,
        name: str | None = None,
        *,
        depth: int = 1,
        at: datetime | None = None,
        limit: int = 100,
    ) -> Graph:
        """The edges around a name, and the nodes that they join; without a name, the heaviest edges of all.

        Args:
            name: Where to begin, however it is written; one of its aliases will do.
            depth: How many edges away from it, 1 to 5.
            at: When the edges were valid, aware; by default those of active facts that hold now.
            limit: How many edges at most, up to 1000: the nearest first, of equally near ones the heaviest.

        Raises:
            InvalidInputError: the name means several, or an argument is out of range.
        """
        async with self._scope.transaction(write=False) as transaction:
            return await read_graph(transaction, name, depth=depth, at=at, limit=limit)
