"""Receiving messages: each is an entry at once, and what is learned later joins it."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.activities.knowledge.inbox_messages import store_signals
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.inbox import Signal
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import INTERACTION
from mnestic.memory.quotations import quoted, quoted_block
from tests.activities.learning_models import NOON, Begin, said
from tests.activities.locks import until_held_up

TEXT = "I live in Ghent."
BLOCK = quoted_block("memories", [quoted({"memory": "Mara keeps bees.", "when": "today"})])


async def keep(begin: Begin, *messages: Resource | IncomingMessage) -> int:
    async with begin() as transaction:
        return await receive(transaction, messages, owner="t/ada")


async def entries(begin: Begin) -> tuple[Entry, ...]:
    async with begin() as transaction:
        found, _ = await transaction.entries.list_entries(EntryQuery(), limit=1000)
    return tuple(found)


async def test_a_message_is_an_entry_at_once_and_waits_to_be_learned_from(begin: Begin) -> None:
    new = await keep(begin, said(1, "The harbour maps, and the maps of Ghent."))

    (entry,) = await entries(begin)
    async with begin() as transaction:
        waiting = (await transaction.ingest_states.count()).waiting
    assert (new, waiting) == (1, 1)
    assert (entry.entry_type, entry.speaker, entry.subjects) == ("interaction", "Mara", ("Mara",))
    assert entry.keywords == ("map", "harbour", "ghent")
    assert entry.summary == entry.content
    assert 0 < entry.importance < 1


async def test_the_summary_of_a_long_text_is_what_it_comes_back_to(begin: Begin) -> None:
    subject = "The migration of the billing database to Postgres 17 is planned for Friday."
    long = (
        "Hello everybody, and thanks for coming. It is raining, and my umbrella is at home. "
        f"{subject} We spoke of the billing database for an hour. Ben checks billing after the "
        "migration. Lunch was good."
    )
    await keep(begin, said(1, long), said(2, "No sentence here ends " + "and on and " * 30))

    found = {entry.source_id: entry.summary for entry in await entries(begin)}

    assert found["m001"] == subject
    assert found["m002"].startswith("No sentence here ends and on")
    assert len(found["m002"]) <= 200


async def test_a_message_that_comes_again_in_other_words_changes_nothing(begin: Begin) -> None:
    await keep(begin, said(1, TEXT))
    before = await entries(begin)

    new = await keep(begin, said(1, "I live in Utrecht."), said(1, TEXT))

    assert new == 0
    assert await entries(begin) == before


async def test_what_somebody_keeps_meanwhile_is_what_the_entry_says(
    begin: Begin, admin_url: str
) -> None:
    async with begin() as transaction:
        await transaction.resources.append([said(1, TEXT)])
        receiving = asyncio.create_task(keep(begin, said(1, "I live in Utrecht."), said(2, TEXT)))
        await until_held_up(admin_url)

    assert await receiving == 2
    assert {entry.content for entry in await entries(begin)} == {"I live in Ghent."}


async def test_senders_of_the_same_messages_in_any_order_keep_each_once(begin: Begin) -> None:
    messages = [said(number, TEXT) for number in range(30)]

    async with asyncio.timeout(60):
        new = await asyncio.gather(
            *(keep(begin, *messages[turn:], *messages[:turn]) for turn in range(0, 30, 5))
        )

    assert sum(new) == 30
    assert len(await entries(begin)) == 30


async def test_a_prompts_block_is_left_out_of_the_message_that_is_stored_with_it(
    begin: Begin,
) -> None:
    new = await keep(
        begin,
        said(1, f"{BLOCK}\nWho keeps bees?"),
        said(2, f"Who sells honey?\n\n{BLOCK}"),
        said(2, "Who sells honey?"),
        said(3, f"{BLOCK}\n{BLOCK}\nAnd wax?"),
        said(4, f"{BLOCK}\n"),
    )
    again = await keep(begin, said(1, f"{BLOCK}\n{BLOCK}\nWho keeps bees?"))

    stored = [(entry.source_id, entry.content) for entry in await entries(begin)]
    assert (new, again) == (3, 0)
    assert stored == [
        ("m003", "And wax?"),
        ("m002", "Who sells honey?"),
        ("m001", "Who keeps bees?"),
    ]


async def test_an_inbox_gets_messages_without_their_block(begin: Begin) -> None:
    body = {
        "session_id": "s1",
        "source_id": "m1",
        "speaker": "Mara",
        "content": f"{BLOCK}\nWho keeps bees?",
        "replies": [{"speaker": "ada", "content": f"You do.\n{BLOCK}"}],
    }
    signal = Signal(name=INTERACTION, body=body, at=NOON, size_bytes=1000)

    async with begin() as transaction:
        await store_signals(transaction, [signal], owner="t/ada")

    assert [entry.content for entry in await entries(begin)] == ["You do.", "Who keeps bees?"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("content", " \n", "has no content"),
        ("content", "x" * 1_048_577, "1048577 bytes of content, the limit is 1048576"),
        ("content", "a\0b", "content: holds a NUL character"),
        ("speaker", "x" * 257, "speaker has 257 characters"),
        ("at", datetime(1066, 10, 14, tzinfo=UTC), "is of the year 1066; it is from 1900 to 2999"),
    ],
)
async def test_a_message_that_cannot_be_learned_from_is_named_and_none_is_kept(
    begin: Begin, field: str, value: Any, why: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"message 's1/.*{why}"):
        await keep(begin, said(1, TEXT), said(2, TEXT).model_copy(update={field: value}))

    assert await entries(begin) == ()
