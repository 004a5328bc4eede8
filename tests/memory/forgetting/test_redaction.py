"""Redaction: what becomes of rows that speak of a topic."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.forgetting.redaction import TABLES, RowRedaction, redaction_of
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.memory.forgetting.topics import FORGOTTEN, Topic
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.short_term.segments import SegmentEntry, Segments, SummarySource
from mnestic.memory.jobs.snapshots import SnapshotParts, seal, unseal
from mnestic.memory.jobs.working_memory import Message, ToolCall, WorkingMemory
from mnestic.memory.language.terms import terms_of

AT = datetime(2026, 3, 2, tzinfo=UTC)


def topic(text: str = "Paris") -> Topic:
    return Topic(parse_topic(text), {})


def values(table: str, row: dict[str, Any], text: str = "Paris") -> Any:
    redaction = redaction_of(table, row, topic(text))
    return None if redaction is None else dict(redaction.values)


def test_an_entry_and_a_record_go_that_are_named_after_it() -> None:
    row = {
        "content": "It rains.",
        "summary": "",
        "speaker": None,
        "subjects": ["Paris"],
        "keywords": [],
        "tags": [],
        "aliases": [],
    }

    record = {"namespace": "towns/Paris", "key": "mayor", "value": "Anne"}

    assert redaction_of("entry", row, topic()) == RowRedaction(remove=True)
    assert redaction_of("entry", row, topic("Rome")) is None
    assert redaction_of("long_term_record", record, topic()) == RowRedaction(remove=True)


def test_an_entry_with_another_identifier_of_the_same_parts_stays() -> None:
    kept = {"summary": "", "speaker": None, "subjects": [], "tags": [], "aliases": []}
    for content in ("Mine is rk.test.7Hd2Kp9Wz.", "Mine is rk-live-7Hd2Kp9Wz-2."):
        row = {**kept, "content": content, "keywords": [*terms_of(content)]}
        assert redaction_of("entry", row, topic("rk.live.7Hd2Kp9Wz")) is None
    derived = {**kept, "content": "It rains.", "keywords": ["7hd2kp9wz"]}

    assert redaction_of("entry", derived, topic("rk.live.7Hd2Kp9Wz")) == RowRedaction(remove=True)


@pytest.mark.parametrize("namespace", ["~versions/towns", "~conflicts/towns"])
def test_a_version_or_a_conflict_goes_whole_if_its_record_speaks_of_the_topic(
    namespace: str,
) -> None:
    row = {"namespace": namespace, "key": "1f@1", "metadata": None}
    named = {"key": "Paris", "value": {"n": 1}, "metadata": None, "base_version": 5}
    says = {"key": "k", "value": {"n": "I like Paris."}, "metadata": None}

    for value in (named, says, "Paris"):
        found = redaction_of("long_term_record", {**row, "value": value}, topic())
        assert found == RowRedaction(remove=True)
    for word in ("value", "5", "Rome"):
        assert redaction_of("long_term_record", {**row, "value": named}, topic(word)) is None


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("Call Paris. Buy milk.", f"{FORGOTTEN} Buy milk."),
        ({"to": "Paris", "days": 4}, {"to": FORGOTTEN, "days": 4}),
        ({"Paris": 1, "Rome": 2}, {"Rome": 2}),
        ([["paris"], {"a": {"b": "x"}}], [[FORGOTTEN], {"a": {"b": "x"}}]),
    ],
)
def test_a_record_keeps_what_does_not_speak_of_it(value: Any, left: Any) -> None:
    row = {"namespace": "notes", "key": "last", "value": value}

    assert values("long_term_record", row) == {"value": left}


def test_a_channel_and_outcomes_lose_their_names() -> None:
    said = {"content": "It rains.", "speaker": None, "channel": "paris-trip"}
    row = {"content": "It rains.", "speaker": "Mara", "channel": "paris-trip"}

    assert values("resource", row) == {"channel": FORGOTTEN}
    assert values("resource", row, "Rome") is None
    assert values("job_wait", {"outcomes": ["paris", "rome"]}) == {"outcomes": [FORGOTTEN, "rome"]}
    assert values("operation", {"result": {"channel": "paris"}}) == {
        "result": {"channel": FORGOTTEN}
    }
    left = {"messages": [{**said, "channel": FORGOTTEN}]}
    assert values("working_memory", {"state": {"messages": [said]}}) == {"state": left}


def test_what_an_object_says_in_several_texts_it_says() -> None:
    row = {"namespace": "n", "key": "k", "value": {"first": "Mara", "last": "Rossi", "age": 30}}

    assert values("long_term_record", row, "Mara Rossi") == {
        "value": {"first": FORGOTTEN, "last": FORGOTTEN, "age": 30}
    }
    assert values("long_term_record", row, "Mara Bianchi") is None


def test_a_number_is_a_word_too() -> None:
    row = {"namespace": "n", "key": "k", "value": {"phone": 5551234, "is": True}}

    assert values("long_term_record", row, "5551234") == {"value": {"phone": FORGOTTEN, "is": True}}
    assert values("long_term_record", row, "true") is None


def test_a_result_of_ours_keeps_its_form_and_its_ids() -> None:
    result = {
        "namespace": "towns",
        "key": "Paris",
        "value": {"paris": 1},
        "request": {"request_id": "paris-1", "payload": {"paris": "yes", "say": "Paris"}},
        "version": 1,
    }

    assert values("operation", {"result": result}) == {
        "result": {
            "namespace": "towns",
            "key": FORGOTTEN,
            "value": {},
            "request": {"request_id": "paris-1", "payload": {"say": FORGOTTEN}},
            "version": 1,
        }
    }


def test_a_snapshot_is_whole_after_it() -> None:
    working = WorkingMemory(
        version=3,
        messages=(
            Message(id="m1", role="user", content="To Paris! Soon.", at=AT, speaker="Mara"),
            Message(id="m2", role="user", content="Hello.", at=AT, speaker="Paris"),
        ),
        variables={"plan": "Paris", "other": 1},
        tool_calls=(ToolCall(id="t1", activity="book", arguments={"to": "Paris"}, result=["ok"]),),
        scratchpad="Paris\nmilk",
        current_task="Book Paris",
    )
    reads = (
        ReadRecord(namespace="towns", key="Paris", version=1, value=1),
        ReadRecord(namespace="trips", key="next", version=2, value={"to": "Paris"}),
    )
    parts = SnapshotParts(working=working.document(), read_set=reads, snapshot_at=AT)
    body, _ = seal(parts)

    left = values("memory_snapshot", {"body": json.loads(body)})["body"]

    redacted = canonical_json(left)
    sealed = unseal(redacted, snapshot_id="n1", sha256=sha256_hex(redacted))
    found = sealed.read()
    assert topic().is_in(redacted.decode()) is False
    assert sealed.head.working_sha256 == found.working_memory.document().ref.sha256
    assert [said.content for said in found.working_memory.messages] == [
        f"{FORGOTTEN} Soon.",
        "Hello.",
    ]
    assert found.working_memory.variables == {"plan": FORGOTTEN, "other": 1}
    assert found.working_memory.scratchpad == f"{FORGOTTEN}\nmilk"
    assert found.read_set == (
        ReadRecord(namespace="trips", key="next", version=2, value={"to": FORGOTTEN}),
    )


def test_segments_lose_it_in_a_session_and_in_its_snapshot() -> None:
    source = SummarySource(
        channels=("paris-trip", "mail"),
        since=AT,
        until=AT,
        count=2,
        ids=("m1", "m2"),
        strategy="extractive",
    )
    entries = (
        SegmentEntry(
            id="s1", segment_id="talk", content="To Paris! Soon.", tokens=5, at=AT, source=source
        ),
        SegmentEntry(
            id="m3", segment_id="talk", content="It rains.", tokens=3, at=AT, channel="paris"
        ),
    )
    working = WorkingMemory(segments=Segments(sequence=3, entries=entries))
    body, _ = seal(SnapshotParts(working=working.document(), snapshot_at=AT))

    state = values("working_memory", {"state": json.loads(working.document().body)})["state"]
    left = values("memory_snapshot", {"body": json.loads(body)})["body"]

    assert left["working_memory"] == state
    assert topic().is_in(canonical_json(left).decode()) is False
    segments = WorkingMemory.model_validate(state).segments
    assert segments is not None
    assert [(each.content, each.tokens) for each in segments.entries] == [
        (f"{FORGOTTEN} Soon.", None),
        ("It rains.", 3),
    ]


def test_a_damaged_snapshot_that_names_it_is_emptied() -> None:
    assert values("memory_snapshot", {"body": "{broken Paris"}) == {"body": {}}
    assert values("memory_snapshot", {"body": "{broken Rome"}) is None


def test_a_claim_that_was_read_out_of_another_message_goes_alone() -> None:
    claims = [
        {"subject": "Mara", "predicate": "lives_in", "object": "Paris", "span": {"start": 0}},
        {"subject": "Mara", "predicate": "has_pet", "object": "a cat", "span": {"start": 9}},
    ]

    left = values("ingest_state", {"extracted": claims, "reason": None})

    assert left == {"extracted": [claims[1]]}


def test_a_row_that_says_nothing_of_it_is_left() -> None:
    row: dict[str, Any] = {
        **dict.fromkeys(("namespace", "key", "name", "subject", "predicate", "object"), "x"),
        **dict.fromkeys(("content", "text", "summary", "speaker", "preview"), "Parisa"),
        **dict.fromkeys(("target", "ask", "id", "source"), "Parisa"),
        **{
            key: ["y"]
            for key in ("subjects", "keywords", "tags", "aliases", "memories", "notes", "places")
        },
        **{
            key: {"a": 1}
            for key in ("value", "result", "context", "form", "receipt", "payload", "metadata")
        },
        **{key: {} for key in ("state", "body", "document")},
        "extracted": None,
        "reason": None,
        "skipped": [],
    }

    assert [table for table in TABLES if redaction_of(table, row, topic()) is not None] == []


@pytest.mark.parametrize("where", [{"city": "Paris"}, {"at": [{"paris": 1}]}, {"n": 1}, {}])
def test_a_wait_for_an_event_that_is_forgotten_gets_none(where: dict[str, Any]) -> None:
    redaction = redaction_of("job_wait", {"event_where": where}, topic("Paris"))

    assert (redaction is not None) == ("paris" in str(where).lower())
    assert redaction is None or redaction.values == {"event_where": None}


@pytest.mark.parametrize(
    ("name", "struck"),
    [("Paris", {"object", "object_key"}), ("predicate", set()), ("object", set())],
)
def test_the_fact_of_a_wait_can_be_read_whatever_is_forgotten(name: str, struck: set[str]) -> None:
    fact = {"subject": "Mara", "subject_key": "mara", "predicate": "lives_in"}
    fact |= {"object": "Paris", "object_key": "paris"}

    redaction = redaction_of("job_wait", {"fact": fact}, topic(name))

    left = fact if redaction is None else redaction.values["fact"]
    assert {part for part in fact if left[part] != fact[part]} == struck
    assert left["predicate"] == "lives_in"
