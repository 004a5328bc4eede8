"""What was put before messages, in every implementation of `Memory`."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.retrieval.retrieval_log import (
    InjectedMemory,
    InjectedNote,
    InjectedTokens,
    RetrievalLogEntry,
    Skipped,
)
from tests.stores.conftest import Begin

DAY = timedelta(days=1)


def injection(preview: str = "Where does Mara live?", *, tokens: int = 40) -> RetrievalLogEntry:
    return RetrievalLogEntry(
        channel="whatsapp",
        preview=preview,
        memories=(InjectedMemory(id="e1", score=0.75),),
        notes=(InjectedNote(path="People/Mara.md"),),
        skipped=(Skipped(source="notes", name="Gone.md", why="is not in the vault"),),
        tokens=tokens,
    )


async def test_an_injection_is_kept_as_it_was(begin: Begin) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        await transaction.injections.add(injection())

    async with begin(write=False) as transaction:
        ((kept,), cursor) = await transaction.injections.list_injections()

    assert RetrievalLogEntry.model_validate(kept.model_dump()) == injection()
    assert (kept.created_at, cursor) == (now, None)


async def test_injections_are_listed_page_by_page_the_latest_first(begin: Begin) -> None:
    for number in range(5):
        async with begin() as transaction:
            await transaction.injections.add(injection(str(number)))
    async with begin(agent="eve") as transaction:
        await transaction.injections.add(injection("another agent's"))

    pages, cursor = [], None
    async with begin(write=False) as transaction:
        while True:
            page, cursor = await transaction.injections.list_injections(limit=2, cursor=cursor)
            pages.append([one.preview for one in page])
            if cursor is None:
                break

    assert pages == [["4", "3"], ["2", "1"], ["0"]]


@pytest.mark.parametrize(
    "cursor", ["x", "W10=", "WyJhIl0=", "WyItMSJd", "WyI5OTk5OTk5OTk5OTk5OTk5OTk5OSJd"]
)
async def test_a_cursor_of_another_list_is_refused(begin: Begin, cursor: str) -> None:
    async with begin(write=False) as transaction:
        with pytest.raises(InvalidInputError, match="cursor"):
            await transaction.injections.list_injections(cursor=cursor)


async def test_memory_stays_at_its_revision(begin: Begin, revision: Callable[[], int]) -> None:
    async with begin() as transaction:
        await transaction.settings.put("auto_retrieve_enabled", True)
    before = revision()

    async with begin() as transaction:
        await transaction.injections.add(injection())

    assert revision() == before == 1


async def test_injections_are_summed_between_two_moments(begin: Begin) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        await transaction.injections.add(injection(tokens=40))
        await transaction.injections.add(injection(tokens=2))
    async with begin(agent="eve") as transaction:
        await transaction.injections.add(injection(tokens=100))

    async with begin(write=False) as transaction:
        everyone = await transaction.injections.sum_between(now, now + DAY)
        ada = await transaction.injections.sum_between(now, now + DAY, agent_id="ada")
        before = await transaction.injections.sum_between(now - DAY, now)
    async with begin(tenant="other", write=False) as transaction:
        strangers = await transaction.injections.sum_between(now, now + DAY)

    assert everyone == InjectedTokens(retrievals=3, tokens=142)
    assert ada == InjectedTokens(retrievals=2, tokens=42)
    assert before == strangers == InjectedTokens()
