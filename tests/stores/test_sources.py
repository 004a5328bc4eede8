"""What brings entries for a question: each source brings the same out of what a process keeps as out of Postgres."""

import random
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.claims import Claim, ClaimSource
from mnestic.memory.dates import Period
from mnestic.memory.entries import Entry
from mnestic.memory.learning import entry_id_at
from mnestic.memory.ports import Transaction
from mnestic.memory.predicates import NAMING
from mnestic.memory.retrieval_ports import SearchStore
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from tests.stores.entry_samples import NOON, entry
from tests.stores.kept_samples import read_ahead
from tests.stores.search_samples import search

WORDS = ("ferry", "harbours", "boat", "tea", "moved", "rowing", "river", "cold", "ferries", "row")
ASKED = (*WORDS, "boats", "rowed", "ferrt", "zzz")
NAMES = ("Mara", "Tom Hale", "Bo", "Weiß", "Ana")
KEYS = ("mara", "tom hale", "bo", "weiss", "ana", "cap", "nobody", "ghent")
PREDICATES = ("lives_in", "likes", "works_at")


class Memories:
    """Entries of one agent, some of one time, archived or about to end, and what some of them claim."""

    def __init__(self, chance: random.Random, owner: tuple[str, str]) -> None:
        self.chance, self.held, self._owner = chance, list[str](), "/".join(owner)

    async def write(self, transaction: Transaction, *, added: int, removed: int) -> None:
        """Adds some, and takes others out."""
        first = len(self.held)
        said = [self._entry(number) for number in range(first, first + added)]
        await transaction.entries.add(said)
        await transaction.facts.claim(
            [self._claim(one) for one in said if self.chance.random() < 0.6]
        )
        await transaction.entries.remove(self.chance.sample(self.held, removed))
        self.held += [one.id for one in said]

    def _entry(self, number: int) -> Entry:
        chance, who = self.chance, self.chance.choice(NAMES)
        place = f"s{number // 6}", f"m{number}"
        return entry(
            entry_id_at(place, owner=self._owner),
            " ".join(chance.choices(WORDS, k=chance.randrange(1, 9))),
            session_id=place[0],
            source_id=place[1],
            speaker=who,
            subjects=(who,),
            aliases=("Cap",) if chance.random() < 0.1 else (),
            tags=tuple(chance.sample(("trip", "food"), chance.choice((0, 0, 1)))),
            at=NOON + timedelta(minutes=chance.randrange(300)),
            status=chance.choice(("active",) * 9 + ("archived",)),
            expires_at=chance.choice((None, None, NOON, datetime.now(UTC) + timedelta(1))),
        )

    def _claim(self, said: Entry) -> Claim:
        """What a message claims, which in a few cases became no entry."""
        chance = self.chance
        message = said.source_id if chance.random() < 0.9 else "gone"
        before = NOON - timedelta(minutes=chance.randrange(300))
        told = {
            "subject": chance.choice((*NAMES, "Nobody")),
            "predicate": chance.choice((*PREDICATES, *NAMING)),
            "object": chance.choice(("Ghent", "tea", "Acme", "Bo")),
            "kind": chance.choice(("affirmed", "affirmed", "corrected", "ended")),
            "valid_from": chance.choice((None, None, before)),
            "valid_to": chance.choice((None, None, NOON + timedelta(days=9))),
        }
        source = ClaimSource(extractor="test", session_id=said.session_id, source_id=message)
        return Claim(id=f"c{said.id}", **told, said_at=said.at, source=source)


def question(chance: random.Random) -> dict[str, Any]:
    """Of a search, what a question may ask."""
    start = NOON + timedelta(minutes=chance.randrange(300))
    hour, day = timedelta(hours=1), NOON.replace(hour=0)
    periods = (None, Period(start, start + hour, "day"), Period(day, start, "day"))
    believed = frozenset(chance.sample(KEYS, chance.choice((0, 1, 2))))
    return {
        "names": believed,
        "believed": believed,
        "tags": frozenset(chance.sample(("trip", "food", "cap"), chance.choice((0, 0, 1)))),
        "predicates": dict.fromkeys(chance.sample(PREDICATES, chance.choice((0, 2))), 0.5),
        "respects": frozenset(chance.sample(PREDICATES, chance.choice((0, 1)))),
        "period": chance.choice(periods),
        "pool": chance.choice((5, 20, 300)),
    }


def moments(chance: random.Random) -> list[Period]:
    """Some minutes, of which the first may have no entry."""
    starts = (NOON + timedelta(minutes=chance.randrange(330)) for _ in range(3))
    return [Period(start, start + timedelta(minutes=1), "day") for start in starts]


async def brought(
    store: SearchStore, words: list[str], asked: dict[str, Any], periods: Sequence[Period] = ()
) -> dict[str, Any]:
    """What is known of a question, what each source brings for it, and what of that is wrong."""
    known = await store.recognise(KEYS, words, tags=("trip", "cap"), model="")
    looked = search(
        **asked,
        vocabulary=await store.look_up(words, known, slips=words),
        called=await store.look_up(words[:1], known),
        now=known.now,
        knowledge=known.knowledge,
    )
    hits = await store.find(looked)
    judged = await store.judge(sorted(hits.words), looked, sound=frozenset(), apart=(), told=3)
    # What was learned may be told by number as well; of some there is no entry any more, or it does not hold.
    found = await store.describe(hits.numbers, hits.learned, looked)
    ids = {text.entry_id for text in found.texts}
    learned = {name: value for name, value in hits.learned.items() if name in ids}
    return {
        "known": replace(known, now=NOON),
        "period": await store.find_period(periods, known),
        "hits": replace(hits, learned=learned, others=frozenset()),
        "found": set(found.rows["number"].tolist()),
        "wrong": judged.wrong,
    }


@pytest.mark.parametrize("seed", range(4))
async def test_every_source_brings_the_same_whatever_a_process_keeps(
    memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings, seed: int
) -> None:
    chance, owner = random.Random(seed), (settings.tenant_id, "ada")
    found = learned = foreseen = 0
    memories = Memories(chance, owner)

    def begin(
        by: PostgresMemory, *, write: bool = False
    ) -> AbstractAsyncContextManager[Transaction]:
        return by.transaction(tenant_id=owner[0], agent_id="ada", actor="test", write=write)

    async with begin(forgetful, write=True) as transaction:
        await memories.write(transaction, added=400, removed=0)
    async with begin(memory) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)
    for step in range(90):
        if step % 30 == 29:  # which is asked for before it is heard of
            async with begin(forgetful, write=True) as transaction:
                await memories.write(transaction, added=5, removed=2)
        elif not memory._kept.knows_all(owner):
            async with begin(memory) as transaction:
                await transaction.search.recognise((), (), model="")
            await read_ahead(memory._ahead, owner)
        words, asked = chance.sample(ASKED, chance.randrange(5)), question(chance)
        periods = moments(chance)
        async with begin(memory) as here, begin(forgetful) as there:
            first, second = [
                await brought(one.search, words, asked, periods) for one in (here, there)
            ]
            at_hand = here.search.recall_names(frozenset(KEYS))
        assert first == second
        assert (at_hand or frozenset()) <= first["known"].names.keys()
        foreseen += at_hand == first["known"].names.keys()
        if memory._kept.knows_all(owner):
            found += len(first["hits"].words)
            learned += len(first["hits"].learned)
            assert memory.cache_counts().words.held > len(WORDS) / 2

    assert found > 500
    assert learned > 20
    assert foreseen > 60
    counts = memory.cache_counts().words
    assert counts.hits > 60 > counts.misses > 0


async def test_facts_that_no_message_told_leave_as_few_others_whatever_a_process_keeps(
    memory: PostgresMemory, forgetful: PostgresMemory, settings: Settings
) -> None:
    owner, told = (settings.tenant_id, "ada"), list[Claim]()
    place = {"session_id": "s", "source_id": "m"}
    said = entry(entry_id_at(("s", "m"), owner="/".join(owner)), **place, speaker="Mara")
    for number in range(60):
        source = ClaimSource(extractor="test", **(place if number < 5 else {}))
        likes = {"subject": "Mara", "predicate": "likes", "object": f"tea {number}"}
        at = NOON + timedelta(minutes=number)
        told.append(Claim(id=f"c{number}", **likes, said_at=at, source=source))
    asked = {"believed": frozenset({"mara"}), "predicates": {"likes": 1.0}}
    async with forgetful.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=True
    ) as transaction:
        await transaction.entries.add([said])
        await transaction.facts.claim(told)
    async with memory.transaction(
        tenant_id=owner[0], agent_id="ada", actor="test", write=False
    ) as transaction:
        await transaction.search.recognise((), (), model="")
    await read_ahead(memory._ahead, owner)

    found = []
    for one in (memory, forgetful):
        async with one.transaction(
            tenant_id=owner[0], agent_id="ada", actor="test", write=False
        ) as transaction:
            found.append(await brought(transaction.search, [], asked))

    assert memory._kept.knows_all(owner)
    assert found[0] == found[1]
