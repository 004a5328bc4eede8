"""What was put before messages, in every implementation of `Memory`."""

from collections.abc import Callable
from datetime import timedelta

from mnestic.memory.models.costs import InjectedTokens
from mnestic.memory.retrieval.retrieval_log import (
    LoggedMemory,
    LoggedNote,
    RetrievalLogEntry,
    Skipped,
)
from tests.stores.conftest import Begin

DAY = timedelta(days=1)


def log_entry(*, tokens: int = 40) -> RetrievalLogEntry:
    return RetrievalLogEntry(
        channel="whatsapp",
        preview="Where does Mara live?",
        memories=(LoggedMemory(id="e1", score=0.75),),
        notes=(LoggedNote(path="People/Mara.md"),),
        skipped=(Skipped(source="notes", name="Gone.md", why="is not in the vault"),),
        tokens=tokens,
    )


async def test_an_injection_is_kept_as_it_was_and_raises_no_revision(
    begin: Begin, revision: Callable[[], int]
) -> None:
    async with begin() as transaction:
        now = await transaction.now()
        await transaction.retrieval_log.add(log_entry())

    async with begin(write=False) as transaction:
        ((kept,), cursor) = await transaction.retrieval_log.list_entries()

    assert RetrievalLogEntry.model_validate(kept.model_dump()) == log_entry()
    assert (kept.created_at, cursor, revision()) == (now, None, 0)


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
