"""An agent's inbox on a real Temporal and a real Postgres: what it is told is kept once, whatever comes."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from mnestic.memory.knowledge.claims import PERSON
from mnestic.memory.knowledge.inbox import MessageSignal, Statement, ToolOutput
from mnestic.memory.knowledge.ingestion import IncomingMessage
from tests.transactions import Begin
from tests.workflows.knowledge.conftest import Inbox

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.mark.usefixtures("worker")
async def test_what_an_agent_is_told_becomes_entries_and_facts(inbox: Inbox) -> None:
    record = '{"name": "Mara Oosting", "email": "mara@example.org"}'

    await inbox.told.interaction("I live in Ghent.", speaker="Mara", source_id="m1", at=NOON)
    await inbox.told.insight("Mara prefers short answers.", subject="Mara", source_id="i1")
    await inbox.told.correction("I live in Deinze.", speaker="Mara", source_id="c1", corrects="m1")
    await inbox.told.interaction(
        "Who am I?",
        speaker="Mara",
        source_id="m2",
        tool_results=[ToolOutput(tool="crm.lookup", content=record)],
        replies=[MessageSignal(speaker="ada", content="You are Mara Oosting.")],
    )
    report = await inbox.settled(6)

    found = await inbox.entries()
    types = {name: entry.entry_type for name, entry in found.items() if name[:2] != "m2"}
    assert types == {"m1": "interaction", "i1": "insight", "c1": "correction"}
    assert (found["i1"].speaker, found["i1"].subjects) == ("ada", ("Mara",))
    assert found["c1"].related == (found["m1"].id,)
    assert ("lives_in", "Deinze") in await inbox.believed("Mara")
    assert found["m2#tool1"].parent == found["m2"].id
    assert (found["m2#tool1"].speaker, found["m2"].parent) == ("crm.lookup", None)
    assert found["m2"].at < found["m2#tool1"].at < found["m2#1"].at
    assert ("email", "mara@example.org") in await inbox.believed("Mara Oosting")
    assert (report.kept, report.refused, report.last_error) == (4, 0, None)
    assert report.running


@pytest.mark.usefixtures("worker")
async def test_a_statement_takes_the_place_of_what_was_believed(inbox: Inbox) -> None:
    await inbox.told.interaction("I live in Ghent.", speaker="Mara", source_id="m1", at=NOON)
    await inbox.settled(1)

    await inbox.told.correction(
        statement=Statement(subject="Mara", predicate="lives_in", object="Deinze"),
        source_id="c1",
        at=NOON + timedelta(days=1),
    )
    await inbox.settled(2)

    facts, _ = await inbox.memory.facts.list(predicate="lives_in", statuses=("active", "archived"))
    assert {(fact.object, fact.status, fact.end) for fact in facts} == {
        ("Ghent", "archived", "corrected"),
        ("Deinze", "active", None),
    }
    (now,) = [fact for fact in facts if fact.status == "active"]
    _, (claim,) = await inbox.memory.facts.why(now.id)
    assert (claim.kind, claim.source.extractor) == ("corrected", PERSON)
    assert claim.source.source_id == "c1"
    assert (await inbox.entries())["c1"].content == "Mara lives_in Deinze"


def _payload(encoding: bytes, data: bytes) -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


GOOD = {"source_id": "m1", "speaker": "Mara", "content": "I live in Ghent."}
MALFORMED: list[tuple[str, str, list[object]]] = [  # why, the name of the signal, its arguments
    ("holds a NUL character", "interaction", [GOOD | {"source_id": "bad1", "content": "a\0b"}]),
    (
        "the limit is 1200000",
        "interaction",
        [GOOD | {"source_id": "bad3", "content": "x" * 1_500_000}],
    ),
    ("has 2 arguments, not one", "interaction", [GOOD, GOOD]),
    (
        "is encoded as binary/plain, not as json/plain",
        "interaction",
        [_payload(b"binary/plain", b"\xff\x00\xfe")],
    ),
    (
        "signal 'insihgt': is no signal of an inbox; there are interaction, insight, correction",
        "insihgt",
        [GOOD],
    ),
]


@pytest.mark.usefixtures("worker")
async def test_malformed_signals_are_parked_with_their_reason_and_the_others_kept(
    inbox: Inbox,
) -> None:
    for _, name, arguments in MALFORMED:
        await inbox.signal(name, *arguments)
    await inbox.signal("interaction", GOOD)
    report = await inbox.settled(len(MALFORMED) + 1)

    parked, _ = await inbox.memory.parked.list()
    reasons = sorted(str(message.reason) for message in parked)
    assert set(await inbox.entries()) == {"m1"}
    assert (report.parked, report.learned) == (len(MALFORMED), 1)
    assert (report.kept, report.refused) == (1, len(MALFORMED))
    assert report.last_error in reasons
    for why, *_ in MALFORMED:
        assert any(why in reason for reason in reasons), (why, reasons)


@pytest.mark.usefixtures("worker")
async def test_a_refused_signal_that_is_sent_again_mended_is_kept(inbox: Inbox) -> None:
    told = {"source_id": "m1", "speaker": "Mara", "content": "I live in Ghent.\0"}
    await inbox.signal("interaction", told)
    await inbox.signal("interaction", told)
    await inbox.settled(1)

    await inbox.signal("interaction", told | {"content": "I live in Ghent."})
    report = await inbox.settled(2)

    assert report.parked == 1
    assert set(await inbox.entries()) == {"m1"}


@pytest.mark.usefixtures("worker")
async def test_a_refused_signal_that_is_tried_again_stays_parked_until_it_can_be_kept(
    inbox: Inbox, begin: Begin
) -> None:
    told = inbox.memory
    nobody = {"subject": " ", "predicate": "lives_in", "object": "Ghent"}
    words = " ".join(f"w{number}q" for number in range(110_000))  # more than can be indexed
    await inbox.signal("interaction", {"source_id": "m1", "content": "I live in Ghent."})
    await inbox.signal("correction", {"source_id": "c1", "statement": nobody})
    await inbox.signal("interaction", {"source_id": "m2", "speaker": "Mara", "content": words})
    await inbox.settled(3)
    refused, _ = await told.parked.list()
    first = await told.parked.retry(refused)
    still, _ = await told.parked.list()

    # What an older version refused, and this one takes.
    mended = {"source_id": "m1", "content": "I live in Ghent.", "speaker": "Mara"}
    async with begin() as transaction:
        kept = refused[0].resource.model_copy(
            update={"source_id": "refused#1", "content": json.dumps(mended)}
        )
        begun = await transaction.ingest_states.receive([IncomingMessage(resource=kept)])
        await transaction.ingest_states.park(begun.messages[0], reason="is of a later version")
    second = await told.parked.retry((await told.parked.list())[0])

    for why in ("speaker", "names nothing", "can be indexed"):
        assert sum(why in (message.reason or "") for message in refused) == 1
    assert (first, still, second) == (0, refused, 1)
    assert (await told.parked.list())[0] == refused
    assert (await inbox.entries())["m1"].content == "I live in Ghent."
