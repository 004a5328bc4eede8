"""What all stores do alike: whose rows they show, which texts and cursors they refuse, and how their lists go on."""

import base64
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.snapshots import MemorySnapshot
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.models.usage import ModelCall, UsageTotal
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.memory.retrieval.retrieval_log import RetrievalLogEntry
from tests.stores.conftest import NOON, Begin
from tests.stores.entry_samples import claim, entry, episode, message

Page = tuple[tuple[Any, ...], str | None]
LATER = datetime(2100, 1, 1, tzinfo=UTC)
TOOL = "6c1f8f0e-3a1b-4d55-9b57-6d6e65737469"
LISTS: dict[str, Callable[..., Awaitable[Page]]] = {
    "operations": lambda t, **page: t.list_operations("j1", **page),
    "waits": lambda t, **page: t.waits.list_by_job("j1", **page),
    "records": lambda t, **page: t.records.list_by_namespace(None, **page),
    "episodes": lambda t, **page: t.episodes.list_by_agent(**page),
    "episodes of a session": lambda t, **page: t.episodes.list_by_session("s1", **page),
    "episodes of a job": lambda t, **page: t.episodes.list_by_job("j1", **page),
    "messages": lambda t, **page: t.resources.list_by_session("s1", **page),
    "entries": lambda t, **page: t.entries.list_entries(EntryQuery(), **page),
    "facts": lambda t, **page: t.facts.list_facts(**page),
    "facts of a moment": lambda t, **page: t.facts.list_facts(believed_at=LATER, **page),
    "retrievals": lambda t, **page: t.retrieval_log.list_entries(**page),
}


def call(**fields: Any) -> ModelCall:
    values = {"session_id": None, "job_id": "j1", "operation_key": None, "cost_usd": None}
    said = {"purpose": "think", "model": "small", "input_tokens": 1, "output_tokens": 1}
    return ModelCall(**(values | said | fields))


async def test_another_agent_and_another_tenant_see_and_change_nothing(
    begin: Begin,
    snapshot: MemorySnapshot,
    make_wait: Callable[..., JobWait],
    make_receipt: Callable[..., ResumeReceipt],
) -> None:
    async with begin() as transaction:
        await transaction.replay(Operation(key="j1/0/1/all", name="all", job_id="j1"), "hash")
        await transaction.working.save("s1", WorkingMemory().with_note("mine"))
        await transaction.records.set("n", "k", 1)
        read = ReadRecord(namespace="n", key="k", version=1, value=1)
        await transaction.records.add_reads("j1", [read])
        await transaction.episodes.append(episode(1, session_id="s1", job_id="j1"))
        await transaction.waits.open(make_wait())
        await transaction.waits.open(make_wait(2))
        await transaction.waits.close("j1/w2", "resumed", receipt=make_receipt("r1", 2))
        await transaction.resources.append([message(1)])
        await transaction.usage.add(call())
        await transaction.retrieval_log.add(RetrievalLogEntry(channel="c", preview="Where?"))
        await transaction.entries.add([entry("m1", subjects=("Mara",))])
        (change,) = await transaction.facts.claim([claim(1, "Ghent")])
        result = await transaction.tool_results.put(TOOL, {"n": 1}, job_id="j1", node="look")
        ref = await transaction.snapshots.put("n1", snapshot.parts, job_id="j1")

    async def seen() -> dict[str, Page]:
        async with begin(write=False) as transaction:
            return {name: await read(transaction) for name, read in LISTS.items()}

    before = await seen()
    assert [name for name, (rows, _) in before.items() if not rows] == []
    for stranger in (begin(agent="eve"), begin(tenant="other")):
        async with stranger as t:
            for name, read_list in LISTS.items():
                assert await read_list(t) == ((), None), name
            assert await t.working.load("s1") == WorkingMemory()
            assert await t.records.find("n", "k") is None
            assert await t.records.select([("n", "k")]) == ({}, {})
            assert await t.records.list_reads("j1") == ()
            assert (await t.waits.list_latest("j1"), await t.waits.cancel_open("j1")) == ((), 0)
            assert await t.waits.find_receipt("j1", "r1") is None
            assert await t.usage.sum_by_job("j1") == UsageTotal()
            assert (await t.events.list_events(), await t.events.last_number()) == ((), 0)
            assert await t.entries.list_entries(EntryQuery(subject="Mara")) == ((), None)
            assert await t.entries.list_unembedded("m", limit=9) == ()
            assert await t.entries.remove(["m1"]) == 0
            await t.records.remove_reads("j1")
            for refused in (
                t.records.delete("n", "k"),
                t.waits.close("j1/w1", "cancelled", receipt=None),
                t.snapshots.get("n1", sha256=ref.sha256),
                t.tool_results.get(result),
                t.entries.change([entry("m1", "other")]),
                t.facts.get(change.fact.id),
            ):
                with pytest.raises(NotFoundError):
                    await refused
    async with begin(write=False) as transaction:
        assert await transaction.records.list_reads("j1") == (read,)
    assert await seen() == before


# Where the text stands, as it is told, and who writes it.
REFUSED: list[tuple[str, Callable[[Transaction, str], Awaitable[Any]]]] = [
    ("a name", lambda t, x: t.working.load(x)),
    ("variables", lambda t, x: t.working.save("s1", WorkingMemory().with_variables({"v": [x]}))),
    ("n/k", lambda t, x: t.records.set("n", "k", ["fine", x])),
    ("n/k", lambda t, x: t.records.set("n", "k", {x: 1})),
    ("namespace", lambda t, x: t.records.set(x, "k", 1)),
    ("key", lambda t, x: t.records.set("n", x, 1)),
    (r"episode e1\[0\]", lambda t, x: t.episodes.append(episode(1, summary=x))),
    (r"episode e1\[1\]\.x", lambda t, x: t.episodes.append(episode(1, payload={"x": x}))),
    ("a name", lambda t, x: t.episodes.append(episode(1, id=x))),
    ("a name", lambda t, x: t.episodes.append(episode(1, job_id=x))),
    *(
        (
            rf"messages\[1\]\.{name}",
            lambda t, x, name=name: t.resources.append([message(1), message(2, **{name: x})]),
        )
        for name in ("content", "speaker", "source_id", "session_id")
    ),
    (r"claims\[1\]\.object", lambda t, x: t.facts.claim([claim(1, "y"), claim(2, x, id="2")])),
    (r"entries\[1\]\.content", lambda t, x: t.entries.add([entry("e1"), entry("e2", x)])),
    (r"result\.x", lambda t, x: t.tool_results.put(TOOL, {"x": x}, job_id="j1", node="look")),
    ("a name", lambda t, x: t.usage.add(call(model=x))),
]
TABLES = (
    *("working_memory", "long_term_record", "episode", "resource", "claim", "fact", "entry"),
    *("tool_result", "llm_usage"),
)


@pytest.mark.parametrize("text", ["a\0b", "half \ud800"], ids=["NUL", "surrogate"])
async def test_text_that_cannot_be_stored_is_refused_with_its_place_and_nothing_is_kept(
    begin: Begin, count: Callable[[str], int], text: str
) -> None:
    async def work(write: Callable[[Transaction, str], Awaitable[Any]]) -> None:
        async with begin() as transaction:
            await transaction.records.set("n", "before", 1)
            await write(transaction, text)

    for place, write in REFUSED:
        with pytest.raises(InvalidInputError, match=place):
            await work(write)
        assert {table: count(table) for table in TABLES} == dict.fromkeys(TABLES, 0), place


def _cursor(*parts: str) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


_OF_NO_LIST = (
    *("x", "ü", "", "W10=", "WzEsMl0=", '["a","b"]'),
    *(_cursor("a"), _cursor("a", "b", "c"), _cursor("a\0", "b"), _cursor("-1"), _cursor("9" * 20)),
)
_OF_NO_TIME = (_cursor("not a time", "e1"), _cursor("2026-03-01T12:00:00", "no zone"))


@pytest.mark.parametrize("name", LISTS)
async def test_a_cursor_from_elsewhere_and_a_limit_out_of_range_are_refused(
    begin: Begin, name: str
) -> None:
    pages: list[tuple[str, Any]] = [("cursor", cursor) for cursor in _OF_NO_LIST]
    if name != "records":
        pages += [("cursor", cursor) for cursor in _OF_NO_TIME]

    async with begin(write=False) as transaction:
        for what, value in [*pages, ("limit", 0), ("limit", 1001)]:
            with pytest.raises(InvalidInputError, match=what):
                await LISTS[name](transaction, **{what: value})


# What is written in each of several transactions, and what of the rows tells them apart, in the order of the list.
PAGED: dict[str, tuple[list[Callable[..., Awaitable[Any]]], str, list[str]]] = {
    "operations": (
        [
            lambda t, _, key=key, job_id=job_id: t.replay(
                Operation(key=key, name="do", job_id=job_id), "hash"
            )
            for key, job_id in (("j1/10", "j1"), ("j1/9", "j1"), ("j2/1", "j2"), ("j1/1", "j1"))
        ],
        "key",
        ["j1/10", "j1/9", "j1/1"],
    ),
    "waits": (
        [
            lambda t, make, number=number, job_id=job_id: t.waits.open(
                make(number, wait_id=f"{job_id}/w{number}", job_id=job_id)
            )
            for number, job_id in ((2, "j1"), (10, "j1"), (3, "j2"), (1, "j1"))
        ],
        "wait_id",
        ["j1/w1", "j1/w2", "j1/w10"],
    ),
    "records": (
        [
            *(
                lambda t, _, key=key: t.records.set(key[0], key, 1)
                for key in ("b2", "a1", "b1", "a2", "c1")
            ),
            lambda t, _: t.records.delete("c", "c1"),
        ],
        "key",
        ["a1", "a2", "b1", "b2"],
    ),
    "episodes of a session": (
        [
            lambda t, _, number=number: t.episodes.append(
                episode(
                    number,
                    session_id="s1",
                    created_at=NOON + timedelta(microseconds=max(number - 4, 0)),
                )
            )
            for number in (3, 1, 5, 2, 4)
        ],
        "id",
        ["e5", "e4", "e3", "e2", "e1"],
    ),
    "messages": (
        [
            lambda t, _: t.resources.append([message(n, at=NOON) for n in (2, 1, 3)]),
            lambda t, _: t.resources.append([message(4), message(5)]),
        ],
        "source_id",
        ["m1", "m2", "m3", "m4", "m5"],
    ),
    "entries": (
        [
            lambda t, _: t.entries.add(
                [entry(f"e{n}", at=NOON + timedelta(days=n % 3)) for n in range(6)]
            )
        ],
        "id",
        ["e5", "e2", "e4", "e1", "e3", "e0"],
    ),
    "facts": (
        [
            lambda t, _: t.facts.claim(
                [
                    claim(number, f"{name}{verb}{number}", subject=name, predicate=verb)
                    for number in (1, 0)
                    for name in "ba"
                    for verb in ("owns", "likes")
                ]
            )
        ],
        "object",
        [f"{name}{verb}{n}" for name in "ab" for verb in ("likes", "owns") for n in (0, 1)],
    ),
    "retrievals": (
        [
            lambda t, _, number=number: t.retrieval_log.add(
                RetrievalLogEntry(channel="c", preview=str(number))
            )
            for number in range(5)
        ],
        "preview",
        ["4", "3", "2", "1", "0"],
    ),
}


@pytest.mark.parametrize("name", PAGED)
async def test_pages_hold_every_row_once_and_in_order(
    begin: Begin, make_wait: Callable[..., JobWait], name: str
) -> None:
    writes, column, expected = PAGED[name]
    for write in writes:
        async with begin() as transaction:
            await write(transaction, make_wait)

    found: list[str] = []
    cursor = None
    while not found or cursor is not None:
        async with begin(write=False) as transaction:
            page, cursor = await LISTS[name](transaction, limit=2, cursor=cursor)
        assert 0 < len(page) <= 2
        found += (getattr(one, column) for one in page)

    assert found == expected
