"""What was put before messages, in every implementation of `Memory`."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.models.costs import InjectedTokens
from mnestic.memory.retrieval.retrieval_log import (
    LoggedMemory,
    LoggedNote,
    RetrievalLogEntry,
    Skipped,
)
from tests.stores.conftest import Begin

DAY = timedelta(days=1)


def log_entry(preview: str = "Where does Mara live?", *, tokens: int = 40) -> RetrievalLogEntry:
    return RetrievalLogEntry(
        channel="whatsapp",
        preview=preview,
        memories=(LoggedMemory(id="e1", score=0.75),),
        notes=(LoggedNote(path="People/Mara.md"),),
        skipped=(Skipped(source="notes", name="Gone.md", why="is not in the vault"),),
        tokens=tokens,
    )


async def test_an_injection_is_kept_as_it_was(begin: Begin) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        await transaction.retrieval_log.add(log_entry())

    async with begin(write=False) as transaction:
        ((kept,), cursor) = await transaction.retrieval_log.list_entries()

    assert RetrievalLogEntry.model_validate(kept.model_dump()) == log_entry()
    assert (kept.created_at, cursor) == (now, None)


async def test_injections_are_listed_page_by_page_the_latest_first(begin: Begin) -> None:
    for number in range(5):
        async with begin() as transaction:
            await transaction.retrieval_log.add(log_entry(str(number)))
    async with begin(agent="eve") as transaction:
        await transaction.retrieval_log.add(log_entry("another agent's"))

    pages, cursor = [], None
    async with begin(write=False) as transaction:
        while True:
            page, cursor = await transaction.retrieval_log.list_entries(limit=2, cursor=cursor)
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
            await transaction.retrieval_log.list_entries(cursor=cursor)


async def test_memory_stays_at_its_revision(begin: Begin, revision: Callable[[], int]) -> None:
    async with begin() as transaction:
        await transaction.settings.put("auto_retrieve_enabled", True)
    before = revision()

    async with begin() as transaction:
        await transaction.retrieval_log.add(log_entry())

    assert revision() == before == 1


async def test_injections_are_summed_between_two_moments(begin: Begin) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        await transaction.retrieval_log.add(log_entry(tokens=40))
        await transaction.retrieval_log.add(log_entry(tokens=2))
    async with begin(agent="eve") as transaction:
        await transaction.retrieval_log.add(log_entry(tokens=100))

    async with begin(write=False) as transaction:
        everyone = await transaction.retrieval_log.sum_between(now, now + DAY)
        ada = await transaction.retrieval_log.sum_between(now, now + DAY, agent_id="ada")
        before = await transaction.retrieval_log.sum_between(now - DAY, now)
    async with begin(tenant="other", write=False) as transaction:
        strangers = await transaction.retrieval_log.sum_between(now, now + DAY)

    assert everyone == InjectedTokens(retrievals=3, tokens=142)
    assert ada == InjectedTokens(retrievals=2, tokens=42)
    assert before == strangers == InjectedTokens()
