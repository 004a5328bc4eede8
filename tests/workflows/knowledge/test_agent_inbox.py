"""An agent's inbox on a real Temporal and a real Postgres: what it is told is kept once, whatever comes."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHandle
from temporalio.common import RawValue

from mnestic.memory.errors import InvalidInputError, PayloadTooLargeError
from mnestic.memory.knowledge.claims import PERSON
from mnestic.memory.knowledge.inbox import InboxReport, MessageSignal, Statement, ToolOutput
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.names import ingest_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.stores.postgres.memory import PostgresMemory
from tests.workflows.knowledge.inbox_memory import believed, entries

Until = Callable[..., Awaitable[Any]]
Run = Callable[[], AbstractAsyncContextManager[None]]
Signal = Callable[..., Awaitable[None]]
Settled = Callable[..., Awaitable[InboxReport]]
Inbox = Callable[[], WorkflowHandle[Any, Any]]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.usefixtures("worker")
async def test_what_an_agent_is_told_becomes_entries_and_facts(
    client: MnesticClient, settled: Settled
) -> None:
    told = client.inbox("ada")

    await told.interaction("I live in Ghent.", speaker="Mara", source_id="m1", at=NOON)
    await told.insight("Mara prefers short answers.", subject="Mara", source_id="i1")
    await told.correction("I live in Deinze.", speaker="Mara", source_id="c1", corrects="m1")
    report = await settled(3)

    found = await entries(client)
    assert {name: entry.entry_type for name, entry in found.items()} == {
        "m1": "interaction",
        "i1": "insight",
        "c1": "correction",
    }
    assert (found["i1"].speaker, found["i1"].subjects) == ("ada", ("Mara",))
    assert found["c1"].related == (found["m1"].id,)
    assert ("lives_in", "Deinze") in await believed(client, "Mara")
    assert (report.kept, report.refused, report.last_error) == (3, 0, None)
    assert report.running


@pytest.mark.usefixtures("worker")
async def test_a_correction_takes_back_what_its_message_said_of_many(
    client: MnesticClient, settled: Settled
) -> None:
    told = client.inbox("ada")
    await told.interaction("I like tea and chess.", speaker="Mara", source_id="m1", at=NOON)
    await told.interaction("I speak Dutch and French.", speaker="Mara", source_id="m2", at=NOON)
    await told.interaction("I like rowing.", speaker="Mara", source_id="m3", at=NOON)

    await told.correction("I like tea and maps.", speaker="Mara", source_id="c1", corrects="m1")
    stated = Statement(subject="Mara", predicate="languages_spoken", object="Danish")
    await told.correction(statement=stated, source_id="c2", corrects="m2")
    await settled(5)

    assert await believed(client, "Mara") == {
        ("likes", "tea"),
        ("likes", "maps"),
        ("likes", "rowing"),
        ("languages_spoken", "Danish"),
    }


@pytest.mark.usefixtures("worker")
async def test_a_correction_of_an_added_entry_takes_it_out_of_search(
    client: MnesticClient, settled: Settled
) -> None:
    memory = client.memory("ada")
    wrong = await memory.add("My plan is starter-legacy-2024.", speaker="Mara")

    await client.inbox("ada").correction(
        "My plan is scale-annual-2026.",
        speaker="Mara",
        session_id=wrong.session_id,
        corrects=wrong.source_id,
    )
    await settled(2)

    retrieval = await memory.retrieve("Which plan does Mara have?")
    assert [one.entry.content for one in retrieval.results] == ["My plan is scale-annual-2026."]


@pytest.mark.usefixtures("worker")
async def test_what_tools_returned_in_an_exchange_comes_with_its_message(
    client: MnesticClient, settled: Settled
) -> None:
    record = '{"name": "Mara Oosting", "email": "mara@example.org"}'

    await client.inbox("ada").interaction(
        "Who am I?",
        speaker="Mara",
        source_id="m1",
        tool_results=[ToolOutput(tool="crm.lookup", content=record)],
        replies=[MessageSignal(speaker="ada", content="You are Mara Oosting.")],
    )
    await settled(3)

    found = await entries(client)
    assert set(found) == {"m1", "m1#tool1", "m1#1"}
    assert found["m1#tool1"].parent == found["m1"].id
    assert (found["m1#tool1"].speaker, found["m1"].parent) == ("crm.lookup", None)
    assert found["m1"].at < found["m1#tool1"].at < found["m1#1"].at
    assert ("email", "mara@example.org") in await believed(client, "Mara Oosting")


@pytest.mark.usefixtures("worker")
async def test_a_statement_takes_the_place_of_what_was_believed(
    client: MnesticClient, settled: Settled
) -> None:
    told = client.inbox("ada")
    await told.interaction("I live in Ghent.", speaker="Mara", source_id="m1", at=NOON)
    await settled(1)

    await told.correction(
        statement=Statement(subject="Mara", predicate="lives_in", object="Deinze"),
        source_id="c1",
        at=NOON + timedelta(days=1),
    )
    await settled(2)

    facts, _ = await client.memory("ada").facts.list(
        predicate="lives_in", statuses=("active", "archived")
    )
    assert {(fact.object, fact.status, fact.end) for fact in facts} == {
        ("Ghent", "archived", "corrected"),
        ("Deinze", "active", None),
    }
    (now,) = [fact for fact in facts if fact.status == "active"]
    _, (claim,) = await client.memory("ada").facts.why(now.id)
    assert (claim.kind, claim.source.extractor, claim.source.source_id) == (
        "corrected",
        PERSON,
        "c1",
    )
    assert (await entries(client))["c1"].content == "Mara lives_in Deinze"


@pytest.mark.usefixtures("worker")
async def test_malformed_signals_are_parked_with_their_reason_and_the_others_kept(
    client: MnesticClient, settled: Settled, signal: Signal
) -> None:
    good = {"source_id": "m1", "speaker": "Mara", "content": "I live in Ghent."}
    binary = RawValue(Payload(metadata={"encoding": b"binary/plain"}, data=b"\xff\x00\xfe"))
    broken = RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b'{"source_id": '))

    await signal("interaction", good | {"source_id": "bad1", "content": "a\0b"})
    await signal("interaction", good | {"source_id": "bad2", "content": "x" * 1_048_577})
    await signal("interaction", good | {"source_id": "bad3", "content": "x" * 1_500_000})
    await signal("interaction", {"source_id": "bad4", "content": "no speaker"})
    await signal("interaction", ["not", "an", "object"])
    await signal("interaction", good, good)
    await signal("interaction")
    await signal("interaction", binary)
    await signal("interaction", broken)
    await signal("insihgt", good)
    await signal("interaction", good | {"source_id": "bad5", "at": "0001-01-01T00:00:00+14:00"})
    await signal("interaction", good | {"source_id": "a#b"})
    await signal("interaction", good)
    report = await settled(13)

    parked, _ = await client.memory("ada").parked.list()
    reasons = sorted(str(lesson.reason) for lesson in parked)
    assert set(await entries(client)) == {"m1"}
    assert (report.parked, report.learned) == (12, 1)
    assert (report.kept, report.refused) == (1, 12)
    assert report.last_error in reasons
    for why in (
        "holds a NUL character",
        "1048577 bytes of content, the limit is 1048576",
        "the limit is 1200000",
        "signal interaction: speaker: Field required",
        "signal interaction: Input should be",
        "has 2 arguments, not one",
        "has 0 arguments, not one",
        "is encoded as binary/plain, not as json/plain",
        "is no JSON",
        "signal 'insihgt': is no signal of an inbox; there are interaction, insight, correction",
        "is of the year 1;",
        "holds '#'",
    ):
        assert any(why in reason for reason in reasons), (why, reasons)


@pytest.mark.usefixtures("worker")
async def test_a_refused_signal_that_is_sent_again_mended_is_kept(
    client: MnesticClient, settled: Settled, signal: Signal
) -> None:
    told = {"source_id": "m1", "speaker": "Mara", "content": "I live in Ghent.\0"}
    await signal("interaction", told)
    await signal("interaction", told)
    await settled(1)

    await signal("interaction", told | {"content": "I live in Ghent."})
    report = await settled(2)

    assert report.parked == 1
    assert set(await entries(client)) == {"m1"}


@pytest.mark.usefixtures("worker")
async def test_a_refused_signal_that_is_tried_again_stays_parked_until_it_can_be_kept(
    client: MnesticClient, memory: PostgresMemory, settled: Settled, signal: Signal
) -> None:
    told = client.memory("ada")
    await signal("interaction", {"source_id": "m1", "content": "I live in Ghent."})
    await settled(1)
    refused, _ = await told.parked.list()
    first = await told.parked.retry(refused)
    still, _ = await told.parked.list()

    # What an older version refused, and this one takes.
    mended = {"source_id": "m1", "content": "I live in Ghent.", "speaker": "Mara"}
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        kept = refused[0].resource.model_copy(
            update={"source_id": "refused#1", "content": json.dumps(mended)}
        )
        begun = await transaction.ingest_states.receive([IncomingMessage(resource=kept)])
        await transaction.ingest_states.park(begun.lessons[0], reason="is of a later version")
    second = await told.parked.retry((await told.parked.list())[0])

    assert (first, still, second) == (0, refused, 1)
    assert (await told.parked.list())[0] == refused
    assert (await entries(client))["m1"].content == "I live in Ghent."


@pytest.mark.usefixtures("worker")
async def test_a_refused_signal_that_still_cannot_be_kept_is_no_reason_to_retry_no_other(
    client: MnesticClient, settled: Settled, signal: Signal
) -> None:
    told = client.memory("ada")
    nobody = {"subject": " ", "predicate": "lives_in", "object": "Ghent"}
    words = " ".join(f"w{number}q" for number in range(110_000))  # more than can be indexed
    await signal("correction", {"source_id": "c1", "statement": nobody})
    await signal("interaction", {"source_id": "m1", "speaker": "Mara", "content": words})
    await settled(2)
    parked, _ = await told.parked.list()

    retried = await told.parked.retry(parked)

    assert sorted("names nothing" in (lesson.reason or "") for lesson in parked) == [False, True]
    assert sorted("can be indexed" in (lesson.reason or "") for lesson in parked) == [False, True]
    assert (retried, (await told.parked.list())[0]) == (0, parked)


async def test_the_client_refuses_what_would_be_parked_and_sends_nothing(
    client: MnesticClient,
) -> None:
    told = client.inbox("ada")

    with pytest.raises(InvalidInputError, match="content: holds a NUL character"):
        await told.interaction("a\0b", speaker="Mara")
    with pytest.raises(InvalidInputError, match="has no content"):
        await told.insight("  ")
    with pytest.raises(InvalidInputError, match="bytes of content, the limit is 1048576"):
        await told.interaction("x" * 1_048_577, speaker="Mara")
    with pytest.raises(PayloadTooLargeError, match="the limit is 1200000"):
        await told.interaction("\n" * 600_000 + "x" * 400_000, speaker="Mara")
    with pytest.raises(InvalidInputError, match="neither content nor a statement"):
        await told.correction()
    with pytest.raises(InvalidInputError, match="source_id: holds '#'"):
        await told.interaction("hello", speaker="Mara", source_id="m#1")
    with pytest.raises(InvalidInputError, match="speaker: "):
        await told.interaction("hello", speaker="")
    with pytest.raises(InvalidInputError, match="at: "):
        await told.interaction("hello", speaker="Mara", at=datetime(2026, 3, 2))  # noqa: DTZ001

    assert await told.status() == InboxReport()


@pytest.mark.usefixtures("worker")
async def test_one_workflow_learns_for_all_who_tell_an_agent_something(
    client: MnesticClient, settled: Settled, until: Until
) -> None:
    queue = client.settings.task_queue
    await asyncio.gather(
        *(
            client.inbox("ada").interaction("Hello.", speaker="Mara", source_id=f"m{number}")
            for number in range(20)
        )
    )
    await settled(20)

    async def ran() -> set[str]:
        learning = f"WorkflowType = 'IngestMessages' AND TaskQueue = '{queue}'"
        return {found.id async for found in client.temporal.list_workflows(learning)}

    assert await until(ran) == {ingest_workflow_id(client.settings.tenant_id, "ada")}
