"""The indexes of entries: words, names and vectors hold what the entries hold, whatever changes."""

import asyncio
import random
import struct
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import yaml
from psycopg.rows import TupleRow

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.entries import Embedding, Entry
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin
from tests.stores.entry_samples import entry

Owner = psycopg.Connection[TupleRow]
WORDS = "map maps harbour tide sand water figure model Scheldt city council the a of".split()  # noqa: SIM905

TRUTHS = yaml.safe_load(Path(__file__).with_name("index_truths.yaml").read_text("utf-8"))


@pytest.fixture
def check_indexes(owner: Owner, settings: Settings) -> Callable[[], None]:
    """Holds the indexes to the entries."""

    def check() -> None:
        for name, queries in TRUTHS.items():
            wanted, found = (
                sorted(owner.execute(query, {"tenant": settings.tenant_id}).fetchall())  # type: ignore[call-overload]
                for query in (queries["wanted"], queries["held"])
            )
            assert found == wanted, name

    return check


def embedding_of(one: Entry) -> Embedding:
    vector = struct.pack("<2f", len(one.content), 1)
    return Embedding(entry_id=one.id, content=one.content, vector=vector)


async def test_writers_that_share_words_do_not_lock_each_other_out(
    begin: Begin, check_indexes: Callable[[], None]
) -> None:
    async def add(number: int) -> None:
        order = random.Random(number)
        entries = [
            entry(
                f"{number}-{index}",
                " ".join(order.sample(WORDS, 6)),
                keywords=order.sample(WORDS, 2),
            )
            for index in range(20)
        ]
        async with begin() as transaction:
            await transaction.entries.add(entries)
        async with begin() as transaction:
            await transaction.entries.remove([one.id for one in order.sample(entries, 5)])

    async with asyncio.timeout(120):
        await asyncio.gather(*(add(number) for number in range(8)))

    check_indexes()


async def test_indexes_are_true_after_any_changes(
    begin: Begin, check_indexes: Callable[[], None]
) -> None:
    order = random.Random(1)
    names: list[str] = []
    for number in range(40):
        words = " ".join(order.choices(WORDS, k=order.randrange(8)))
        tags = order.sample(WORDS[:4], order.randrange(3))
        async with begin() as transaction:
            what = order.choice(["add", "add", "change", "embed", "remove"])
            if what == "add" or not names:
                names.append(f"e{number}")
                related = order.sample(names, min(len(names), 2))
                added = entry(names[-1], words, tags=tags, related=related)
                await transaction.entries.add([added])
            elif what == "change":
                related = order.sample(names, order.randrange(2))
                changed = entry(order.choice(names), words, aliases=tags, related=related)
                await transaction.entries.change([changed])
            elif what == "embed":
                model = order.choice("mn")
                bare = await transaction.entries.list_unembedded(model, limit=order.randrange(1, 9))
                await transaction.entries.embed(model, [embedding_of(one) for one in bare])
            else:
                name = names.pop(order.randrange(len(names)))
                assert await transaction.entries.remove([name, "none"]) == 1
        check_indexes()


async def test_a_change_of_content_forgets_the_vectors_and_another_does_not(
    begin: Begin, count: Callable[[str], int]
) -> None:
    def vector(content: str) -> Embedding:
        return Embedding(entry_id="e1", content=content, vector=struct.pack("<2f", 0.5, -1.0))

    async with begin() as transaction:
        await transaction.entries.add([entry("e1", "one")])
        written = await transaction.entries.embed("m", [vector("one")])
        again = await transaction.entries.embed("m", [vector("one")])
        other = await transaction.entries.embed("n", [vector("one")])
        stale = await transaction.entries.embed("k", [vector("of yesterday")])
        await transaction.entries.change([entry("e1", "one", tags=("x",))])
    vectors = count("embedding")
    async with begin() as transaction:
        await transaction.entries.change([entry("e1", "two")])
        left = await transaction.entries.list_unembedded("m", limit=9)

    assert (written, again, other, stale) == (1, 0, 1, 0)
    assert (vectors, count("embedding")) == (2, 0)
    assert [one.content for one in left] == ["two"]


async def test_whichever_entry_has_no_vector_is_found_the_oldest_first(
    begin: Begin, check_indexes: Callable[[], None]
) -> None:
    def vectors(*names: str) -> list[Embedding]:
        return [embedding_of(entry(name, contents[name])) for name in names]

    async def left(model: str = "m", limit: int = 9) -> str:
        async with begin() as transaction:
            found = await transaction.entries.list_unembedded(model, limit=limit)
        return "".join(one.id for one in found)

    contents = {name: f"The tide {name}" for name in "abcdef"}
    async with begin() as transaction:
        await transaction.entries.add([entry(name, contents[name]) for name in "abcdef"])

    assert (await left(), await left(limit=2)) == ("abcdef", "ab")
    async with begin() as transaction:  # not those that were asked for, as if others were late
        await transaction.entries.embed("m", vectors("c", "e"))
    assert (await left(), await left("n")) == ("abdf", "abcdef")
    async with begin() as transaction:
        await transaction.entries.embed("m", vectors("a", "b", "d", "f"))
        await transaction.entries.embed("n", vectors("b"))
    assert (await left(), await left("n")) == ("", "acdef")
    contents["b"] = "Another tide"
    async with begin() as transaction:
        await transaction.entries.change([entry("b", contents["b"])])
        await transaction.entries.remove(["c"])
        await transaction.entries.add([entry("g")])
    assert (await left(), await left(limit=1), await left("n")) == ("bg", "g", "abdefg")
    check_indexes()


async def test_a_vector_is_kept_to_half_precision(
    begin: Begin, owner: Owner, settings: Settings
) -> None:
    given = [0.1, -0.25, 3.5e-5, 1000.0, 0.0]
    async with begin() as transaction:
        await transaction.entries.add([entry("a", "one"), entry("b", "two")])
        await transaction.entries.embed(
            "m",
            [
                Embedding(entry_id="b", content="two", vector=struct.pack("<5f", *given)),
                Embedding(entry_id="a", content="one", vector=struct.pack("<5f", *given[::-1])),
            ],
        )

    query = """
        SELECT v.dimensions, v.vector::real[] FROM mnestic.embedding AS v
          JOIN mnestic.entry AS e ON e.tenant_id = v.tenant_id AND e.number = v.entry_number
         WHERE e.tenant_id = %s ORDER BY e.id
    """
    (a, b) = owner.execute(query, [settings.tenant_id]).fetchall()
    assert (a[0], b[0]) == (5, 5)
    assert b[1] == pytest.approx(given, rel=1e-3, abs=1e-6)
    assert a[1] == b[1][::-1]


async def test_many_entries_change_at_once_and_what_is_not_there_is_named(
    begin: Begin, owner: Owner, settings: Settings, check_indexes: Callable[[], None]
) -> None:
    def postings() -> list[TupleRow]:
        query = "SELECT ctid, postings FROM mnestic.posting WHERE tenant_id = %s ORDER BY 1"
        return owner.execute(query, [settings.tenant_id]).fetchall()

    async with begin() as transaction:
        await transaction.entries.add([entry(name, f"The map {name}") for name in "abc"])
    before = postings()
    async with begin() as transaction:
        found = await transaction.entries.select(["a", "c", "none"], lock=True)
        await transaction.entries.change(
            [one.model_copy(update={"tags": ("work",)}) for one in found.values()]
        )
    named = postings()
    async with begin() as transaction:
        await transaction.entries.change([entry("a", "The tide"), entry("b", tags=("x",))])
    with pytest.raises(NotFoundError, match="no entry none"):
        async with begin() as transaction:
            await transaction.entries.change([entry("a", "lost"), entry("none", "lost")])

    assert list(found) == ["a", "c"]
    assert before == named  # the words are as they were, so nobody touched them
    async with begin() as transaction:
        now = await transaction.entries.select(["a", "b", "c"])
    assert [now[name].content for name in "abc"] == [
        "The tide",
        "The map of the harbour",
        "The map c",
    ]
    assert [now[name].tags for name in "abc"] == [(), ("x",), ("work",)]
    check_indexes()


async def test_a_list_of_postings_is_divided_once_rewritten_entries_lie_between_its_own(
    begin: Begin, owner: Owner, settings: Settings, check_indexes: Callable[[], None]
) -> None:
    def lists() -> list[int]:
        query = """
            SELECT cardinality(postings) FROM mnestic.posting WHERE tenant_id = %s AND lexeme = 'tide' ORDER BY first_number
        """
        return [row[0] for row in owner.execute(query, [settings.tenant_id]).fetchall()]

    added = [entry(f"{n:03}", "A map" if n % 2 else "The tide") for n in range(128)]
    async with begin() as transaction:
        await transaction.entries.add(added)
    whole = lists()
    for most in (3, 128):
        async with begin() as transaction:
            await transaction.entries.change([entry(one.id, "The tide") for one in added[1:most:2]])
        check_indexes()

    assert (whole, lists()) == ([64], [64, 64])
