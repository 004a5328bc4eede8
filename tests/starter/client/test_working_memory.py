"""The segments of a session from Python: read, set, summarized and ended by whoever is no job."""

from typing import Any

import pytest

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segments import Segments
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.transactions import Begin

SEGMENTS = [
    {"segment_id": "reference", "priority": 1, "max_tokens": 100, "retention": "persistent"},
    {"segment_id": "conversation", "priority": 2, "max_tokens": 300},
]
SENTENCE = "Mara moved from Lund to Porto in March 2026 and works as a baker there."


@pytest.fixture
async def contract(client: MnesticClient) -> None:
    short_term: dict[str, Any] = {"enabled": True, "max_tokens": 500, "segments": SEGMENTS}
    await client.contracts().apply("ada", {"Memory": {"short_term": short_term}})


async def segments(ada: MemoryClient) -> Segments:
    found = (await ada.working_memory.get("s1")).segments
    assert found is not None
    return found


@pytest.mark.usefixtures("contract")
async def test_a_context_is_what_was_set_with_its_tokens(ada: MemoryClient) -> None:
    memory = await ada.contract("s1")
    empty = await memory.get_context("reference")
    await memory.set_context("reference", "Rule one.")

    written = await memory.set_context("reference", "Rule two.")

    assert (empty.content, empty.tokens, empty.created_at) == ("", 0, None)
    assert written == await memory.get_context("reference")
    assert (written.content, written.tokens) == ("Rule two.", count_tokens("Rule two."))
    assert [change.kind for change in (await segments(ada)).changes] == ["replaced"]


@pytest.mark.usefixtures("contract")
async def test_a_context_that_is_too_large_is_cut_within_its_budget(ada: MemoryClient) -> None:
    written = await (await ada.contract("s1")).set_context("reference", f"{SENTENCE} " * 20)

    assert written.tokens <= 100
    assert written.content.endswith("there. [cut]")


@pytest.mark.usefixtures("contract")
async def test_a_requested_summary_lists_the_texts_that_it_replaces(
    ada: MemoryClient, begin: Begin
) -> None:
    memory = await ada.contract("s1")
    await memory.set_context("conversation", f"{SENTENCE} " * 10)
    first = (await memory.get_context("conversation")).entries[0]
    async with begin() as transaction:
        state = await transaction.working.load("s1", lock=True)
        held = await segments(ada)
        newer = first.model_copy(
            update={"id": "newer", "content": "Newer.", "tokens": None, "arrival": 99}
        )
        changed = held.model_copy(update={"entries": (*held.entries, newer)})
        await transaction.working.save("s1", state.with_segments(changed))

    text = await memory.summarize("conversation")

    (episode,), _ = await ada.episodes.list()
    made = (await memory.get_context("conversation")).entries[0]
    assert "Porto" in text
    assert text.endswith("\nNewer.")
    assert made.source is not None
    assert made.source.ids == (first.id,)
    assert [one["content"] for one in episode.payload["originals"]] == [first.content]
    change = (await segments(ada)).changes[-1]
    assert change.why.startswith("somebody asked for it; extractive")


@pytest.mark.usefixtures("contract")
async def test_the_end_of_a_session_leaves_what_is_persistent(ada: MemoryClient) -> None:
    memory = await ada.contract("s1")
    await memory.set_context("reference", "Rule one.")
    await memory.set_context("conversation", "Hello.")

    await ada.working_memory.end_session("s1")
    await ada.working_memory.end_session("s1")

    assert [each.content for each in (await segments(ada)).entries] == ["Rule one."]
    assert [change.kind for change in (await segments(ada)).changes] == ["ended"]


async def test_without_segments_in_a_contract_calls_about_them_are_refused(
    client: MnesticClient, ada: MemoryClient
) -> None:
    with pytest.raises(InvalidInputError, match="no contract with segments"):
        await ada.working_memory.end_session("s1")
    await client.contracts().apply("ada", {"Memory": {}})
    memory = await ada.contract("s1")

    for call in (
        memory.set_context("conversation", "Hello."),
        memory.get_context("conversation"),
        memory.summarize("conversation"),
    ):
        with pytest.raises(InvalidInputError, match="no contract with segments"):
            await call

    assert (await ada.working_memory.get("s1")).version == 0


@pytest.mark.usefixtures("contract")
async def test_an_unknown_segment_is_named_with_the_known_ones(ada: MemoryClient) -> None:
    memory = await ada.contract("s1")

    for call in (
        memory.get_context("other"),
        memory.set_context("other", "Hello."),
        memory.summarize("other"),
    ):
        with pytest.raises(InvalidInputError, match=r"segment other.*reference, conversation"):
            await call
