"""Whom a caller means who gives a name: the one way from a name to the subjects of facts."""

from collections.abc import Sequence
from datetime import timedelta

from mnestic.memory.knowledge.claims import (
    PERSON,
    Claim,
    ClaimSource,
    check_name,
    make_id,
    name_key,
)
from mnestic.memory.knowledge.facts import Fact, FactChange
from mnestic.memory.knowledge.predicates import NAMING
from mnestic.memory.knowledge.subjects import choose_subjects
from mnestic.memory.ports import Transaction

_TICK = timedelta(microseconds=1)
_MOST = 1000  # facts by hand about one name


async def find_subjects(
    transaction: Transaction, name: str, *, is_strict: bool = True
) -> tuple[str, ...]:
    """The subjects of facts about the one whom a name means, however it is written.

    The name may be preferred, an alias, a nickname, a full name, or a first name that one subject alone has.
    The names that only this one has are subjects too, since facts may be about any of them.

    Args:
        transaction: It reads.
        name: As the caller gives it.
        is_strict: Whether a name of several is refused; else it means the subject of just that name.

    Returns:
        Keys of subjects; that of the name itself where nobody is known by it.

    Raises:
        InvalidInputError: it names nothing, or several; then it says whom.
    """
    check_name(name, what="subject")
    chosen = choose_subjects(name, await transaction.facts.list_named(name), is_strict=is_strict)
    if not chosen:
        return (name_key(name),)
    others = await transaction.facts.list_aliases(chosen)
    return tuple(dict.fromkeys((*chosen, *others)))


async def resolve_subject(transaction: Transaction, name: str) -> str:
    """The subject that a new fact about a name belongs to: whoever alone has it as another name, else the name itself.

    So a fact about Kim supersedes what the speaker said who goes by Kim.

    Raises:
        InvalidInputError: it names nothing.
    """
    check_name(name, what="subject")
    named = await transaction.facts.list_named(name)
    known_as = {one.key: one.subject for one in named if one.by == "alias"}
    known_as.pop(name_key(name), None)
    return known_as.popitem()[1] if len(known_as) == 1 else name


async def adopt_named_facts(
    transaction: Transaction, changes: Sequence[FactChange]
) -> tuple[FactChange, ...]:
    """Gives what persons have added about a name to whoever has now come to be known by it; returns what changes.

    So a fact by hand about Kim belongs to the speaker who goes by Kim, whichever of the two came first. What messages
    say of a name stays with it.

    Args:
        transaction: It writes.
        changes: What has changed; those of names count.
    """
    adopted: list[FactChange] = []
    for named in [change.fact for change in changes if _is_new_name(change)]:
        if name_key(await resolve_subject(transaction, named.object)) != name_key(named.subject):
            continue
        facts, _ = await transaction.facts.list_facts(
            subject=(name_key(named.object),), limit=_MOST
        )
        claims = [
            claim
            for fact in facts
            if fact.predicate not in NAMING
            for claim in await _moved(transaction, fact, to=named.subject)
        ]
        adopted += await transaction.facts.claim(claims)
    return tuple(adopted)


def _is_new_name(change: FactChange) -> bool:
    fact, before = change.after, change.before
    is_new = (
        fact is not None
        and fact.status == "active"
        and (before is None or before.status != "active")
    )
    return (
        is_new
        and change.fact.predicate in NAMING
        and name_key(change.fact.object) != name_key(change.fact.subject)
    )


async def _moved(transaction: Transaction, fact: Fact, *, to: str) -> list[Claim]:
    """The claims of a fact about another subject, and the one that takes the fact away; none if messages state it."""
    claims = await transaction.facts.list_claims(fact)
    if any(claim.source.extractor != PERSON for claim in claims):
        return []
    said_at = max([await transaction.clock(), *(claim.said_at + _TICK for claim in claims)])
    key = name_key(to)
    gone = Claim(
        id=make_id("adopted", fact.id, key),
        kind="deleted",
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        said_at=said_at,
        source=ClaimSource(extractor=PERSON),
    )
    copies = [
        claim.model_copy(update={"id": make_id("adopted", claim.id, key), "subject": to})
        for claim in claims
    ]
    return [gone, *copies]
