"""An agent's inbox on a real Temporal and a real Postgres: what it is told is kept once, whatever comes."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import RawValue, WorkflowIDConflictPolicy
from temporalio.testing import TimeSkipper

from mnestic.memory.claims import PERSON
from mnestic.memory.entries import Entry, EntryQuery
from mnestic.memory.errors import InvalidInputError, PayloadTooLargeError
from mnestic.memory.inbox import InboxReport, Said, Statement, ToolOutput
from mnestic.memory.names import inbox_workflow_id, ingest_workflow_id
from mnestic.starter.client import MnesticClient
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.workflows.agent_inbox import AgentInbox, InboxInput

Until = Callable[..., Awaitable[Any]]
Run = Callable[[], AbstractAsyncContextManager[None]]
Signal = Callable[..., Awaitable[None]]
Settled = Callable[..., Awaitable[InboxReport]]
Inbox = Callable[[], WorkflowHandle[Any, Any]]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def settled(client: MnesticClient, until: Until) -> Settled:
    """Waits until so many messages are learned or parked and nothing is on its way."""

    async def settle(number: int, *, limit_s: float = 60) -> InboxReport:
        async def done() -> InboxReport | None:
            report = await client.inbox("ada").status()
            is_done = report.learned + report.parked == number and not report.waiting
            return report if is_done and not report.pending else None

        found: InboxReport = await until(done, limit_s=limit_s)
        return found

    return settle


@pytest.fixture
def signal(client: MnesticClient) -> Signal:
    """Sends a signal as anybody may, in whatever language."""

    async def send(name: str, *arguments: Any, **terms: Any) -> None:
        tenant = client.settings.tenant_id
        await client.temporal.start_workflow(
            AgentInbox.run,
            InboxInput(tenant_id=tenant, agent_id="ada", **terms),
            id=inbox_workflow_id(tenant, "ada"),
            task_queue=client.settings.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=name,
            start_signal_args=arguments,
        )

    return send


@pytest.fixture
def inbox(client: MnesticClient) -> Callable[[], WorkflowHandle[Any, Any]]:
    """Temporal's own handle of the inbox."""

    def handle() -> WorkflowHandle[Any, Any]:
        return client.temporal.get_workflow_handle(
            inbox_workflow_id(client.settings.tenant_id, "ada")
        )

    return handle


async def entries(client: MnesticClient) -> dict[str, Entry]:
    """The agent's entries by source id."""
    found, cursor = await client.memory("ada").list_entries(EntryQuery(), limit=1000)
    while cursor:
        more, cursor = await client.memory("ada").list_entries(
            EntryQuery(), limit=1000, cursor=cursor
        )
        found += more
    assert len({entry.source_id for entry in found}) == len(found)
    return {entry.source_id or "": entry for entry in found}


async def believed(client: MnesticClient, subject: str) -> set[tuple[str, str]]:
    found, _ = await client.memory("ada").list_facts(subject=subject)
    return {(fact.predicate, fact.object) for fact in found}


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
async def test_what_tools_returned_in_an_exchange_comes_with_its_message(
    client: MnesticClient, settled: Settled
) -> None:
    record = '{"name": "Mara Oosting", "email": "mara@example.org"}'

    await client.inbox("ada").interaction(
        "Who am I?",
        speaker="Mara",
        source_id="m1",
        tool_results=[ToolOutput(tool="crm.lookup", content=record)],
        replies=[Said(speaker="ada", content="You are Mara Oosting.")],
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

    facts, _ = await client.memory("ada").list_facts(
        predicate="lives_in", statuses=("active", "archived")
    )
    assert {(fact.object, fact.status, fact.end) for fact in facts} == {
        ("Ghent", "archived", "corrected"),
        ("Deinze", "active", None),
    }
    (now,) = [fact for fact in facts if fact.status == "active"]
    _, (claim,) = await client.memory("ada").why_fact(now.id)
    assert (claim.kind, claim.source.extractor, claim.source.source_id) == (
        "corrected",
        PERSON,
        "c1",
    )
    assert (await entries(client))["c1"].content == "Mara lives_in Deinze"


@pytest.mark.usefixtures("worker")
async def test_an_id_that_comes_again_is_kept_once_also_in_a_later_run(
    client: MnesticClient,
    settled: Settled,
    until: Until,
    inbox: Inbox,
) -> None:
    told = client.inbox("ada")
    await told.interaction("I live in Ghent.", speaker="Mara", source_id="m1")
    await settled(1)
    first = (await inbox().describe()).run_id
    await inbox().signal("poke")

    async def moved() -> bool:
        return (await inbox().describe()).run_id != first

    await until(moved)
    await told.interaction("I live in Rome.", speaker="Mara", source_id="m1")
    await told.interaction("I have a cat.", speaker="Mara", source_id="m2")
    report = await settled(2)

    found = await entries(client)
    assert found["m1"].content == "I live in Ghent."
    assert report.kept == 3
    assert ("lives_in", "Ghent") in await believed(client, "Mara")


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

    parked, _ = await client.memory("ada").list_parked()
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
    refused, _ = await told.list_parked()
    first = await told.retry_parked(refused)
    still, _ = await told.list_parked()

    # What an older version refused, and this one takes.
    mended = {"source_id": "m1", "content": "I live in Ghent.", "speaker": "Mara"}
    async with memory.transaction(
        tenant_id=client.settings.tenant_id, agent_id="ada", actor="test", write=True
    ) as transaction:
        kept = refused[0].resource.model_copy(
            update={"source_id": "refused#1", "content": json.dumps(mended)}
        )
        await transaction.resources.append([kept])
        (lesson,) = await transaction.learning.begin(
            [kept], entry_type="interaction", kind="message"
        )
        await transaction.learning.park(lesson, reason="is of a later version")
    second = await told.retry_parked((await told.list_parked())[0])

    assert (first, still, second) == (0, refused, 1)
    assert (await told.list_parked())[0] == refused
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
    parked, _ = await told.list_parked()

    retried = await told.retry_parked(parked)

    assert sorted("names nothing" in (lesson.reason or "") for lesson in parked) == [False, True]
    assert sorted("can be indexed" in (lesson.reason or "") for lesson in parked) == [False, True]
    assert (retried, (await told.list_parked())[0]) == (0, parked)


async def test_an_inbox_that_is_told_nothing_for_an_hour_ends_and_begins_again(
    client: MnesticClient, run_worker: Run, settled: Settled, until: Until, inbox: Inbox
) -> None:
    async def over() -> bool:
        return (await inbox().describe()).status is WorkflowExecutionStatus.COMPLETED

    async with run_worker():
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
        await settled(1)
        await TimeSkipper(client.temporal).fast_forward(inbox(), timedelta(minutes=61))
        await until(over)
        rested = await client.inbox("ada").status()
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
        await client.inbox("ada").interaction("Bye.", speaker="Mara", source_id="m2")
        report = await settled(2)

    assert (rested.running, rested.kept) == (False, 1)
    assert (report.running, report.kept) == (True, 2)
    assert set(await entries(client)) == {"m1", "m2"}


@pytest.mark.usefixtures("worker")
async def test_a_history_that_has_grown_large_is_left_behind_and_nothing_of_it_lost(
    client: MnesticClient, signal: Signal, settled: Settled, inbox: Inbox
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    await signal("interaction", told | {"source_id": "m0"}, batch=1)
    first = (await inbox().describe()).run_id

    for number in range(1, 6):
        await inbox().signal(
            "interaction", told | {"source_id": f"large{number}", "content": "x" * 1_060_000}
        )
    await inbox().signal("interaction", told | {"source_id": "m1"})
    report = await settled(7)

    assert (await inbox().describe()).run_id != first
    assert (report.kept, report.refused) == (2, 5)
    assert set(await entries(client)) == {"m0", "m1"}


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


async def test_what_comes_while_no_worker_is_up_is_kept_later(
    client: MnesticClient, run_worker: Run, settled: Settled
) -> None:
    for number in range(5):
        await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id=f"m{number}")

    async with run_worker():
        await settled(5)

    assert len(await entries(client)) == 5


async def test_a_storm_of_signals_with_repeats_and_a_restart_leaves_each_once(
    client: MnesticClient, settings: Settings, run_worker: Run, settled: Settled
) -> None:
    order = random.Random(5)
    told = [(f"m{n}", f"I met person number {n}.") for n in range(150)] * 2
    order.shuffle(told)

    async def tell(sender: MnesticClient, share: list[tuple[str, str]]) -> None:
        for source_id, content in share:
            await sender.inbox("ada").interaction(content, speaker="Mara", source_id=source_id)

    async with (
        await MnesticClient.connect(settings) as other,
        await MnesticClient.connect(settings) as third,
    ):
        senders = [client, other, third]
        shares = [told[place::3] for place in range(3)]
        async with run_worker():
            await asyncio.gather(
                *(tell(who, share[:50]) for who, share in zip(senders, shares, strict=True))
            )
        await asyncio.gather(
            *(tell(who, share[50:70]) for who, share in zip(senders, shares, strict=True))
        )
        async with run_worker():
            await asyncio.gather(
                *(tell(who, share[70:]) for who, share in zip(senders, shares, strict=True))
            )
            report = await settled(150)

    found = await entries(client)
    assert {name: entry.content for name, entry in found.items()} == dict(told)
    assert (report.kept, report.refused, report.learned) == (300, 0, 150)


async def test_signals_that_wait_travel_into_a_new_run_and_are_kept_when_it_is_cancelled(
    client: MnesticClient, run_worker: Run, signal: Signal, until: Until, inbox: Inbox
) -> None:
    told = {"speaker": "Mara", "content": "Hello."}
    for number in range(3):
        await signal("interaction", told | {"source_id": f"m{number}"}, window=timedelta(hours=1))
    await inbox().signal("poke")
    await signal("interaction", told | {"source_id": "m3"})
    first = (await inbox().describe()).run_id

    async def moved() -> bool:
        return (await inbox().describe()).run_id != first

    async def over() -> bool:
        return (await inbox().describe()).status is WorkflowExecutionStatus.CANCELED

    async with run_worker():
        await until(moved)
        report = await client.inbox("ada").status()
        await inbox().cancel()
        await until(over)

    assert (report.pending, report.kept) == (4, 0)
    assert set(await entries(client)) == {"m0", "m1", "m2", "m3"}


async def test_while_the_database_refuses_nothing_is_lost(
    client: MnesticClient,
    admin_url: str,
    run_worker: Run,
    settled: Settled,
    until: Until,
) -> None:
    async def failing() -> bool:
        return bool((await client.inbox("ada").status()).failing)

    with psycopg.connect(admin_url, autocommit=True) as connection:
        async with run_worker():
            connection.execute("REVOKE INSERT ON mnestic.resource FROM mnestic_app")
            try:
                await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m1")
                await until(failing)
                during = await client.inbox("ada").status()
            finally:
                connection.execute("GRANT INSERT ON mnestic.resource TO mnestic_app")
            await client.inbox("ada").interaction("Hello.", speaker="Mara", source_id="m2")
            report = await settled(2)

    assert (during.pending, during.kept) == (1, 0)
    assert "mnestic.keep_signals" in during.failing[0]
    assert (report.kept, report.failing) == (2, ())


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
