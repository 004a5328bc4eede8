"""An agent's whole memory, out and back in: into another agent, another tenant, and twice."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.export_lines import (
    EXPORT_LINE,
    ExportLine,
    HeaderLine,
    MessageLine,
)
from mnestic.memory.graph.graph import Node
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.documents import Document, DocumentPart
from mnestic.memory.jobs.working_memory import Message, WorkingMemory
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.transactions import Begin, Execute

EVENING = datetime(2026, 3, 2, 19, tzinfo=timezone(timedelta(hours=2)))
STATUSES = ("active", "archived", "deleted")
QUESTIONS = ("Where does Mara live?", "What does Jonas like?", "the bakery by the canal", "boat")
SAID = (
    ("Mara", "I live in Utrecht."),
    ("Jonas", "I like sailing. I was in Lisbon yesterday."),
    ("Mara", "I moved to Ghent."),
    ("Jonas", "My sister is called Ines."),
    ("Mara", "I work at a museum. Zanzibar was lovely."),
    ("Jonas", "Zanzibar!"),
)


@pytest.fixture
async def other_tenant(settings: Settings) -> AsyncIterator[MnesticClient]:
    """A client of a tenant that has nothing."""
    away = settings.model_copy(update={"tenant_id": f"{settings.tenant_id}-two"})
    async with await MnesticClient.connect(away) as client:
        yield client


async def learned(client: MnesticClient, agent_id: str) -> None:
    await (await start_ingest(client, agent_id=agent_id)).result()


def said(number: int, speaker: str, content: str, **fields: Any) -> Resource:
    return Resource(
        session_id=f"s{number % 2}",
        source_id=f"m{number}",
        channel=("chat", "mail")[number % 2],
        speaker=speaker,
        content=content,
        at=EVENING + timedelta(days=number),
        **fields,
    )


async def remember_everything(client: MnesticClient, begin: Begin) -> MemoryClient:
    """An agent that has something of each kind, and of each state."""
    ada = client.memory("ada")
    await client.predicates().set("likes", cardinality="single", category="profile")
    await ada.settings.change(auto_retrieve_max_results=7, retrieval_policy={"lexical": 0.4})
    await ada.ingest([said(number, *each) for number, each in enumerate(SAID)])
    await ada.ingest(
        [
            IncomingMessage(
                resource=said(10, "weather", '{"city": "Ghent"}'),
                kind="tool_result",
                attached_to="m0",
            ),
            IncomingMessage(
                resource=said(12, "Mara", "I live in Bruges."),
                entry_type="correction",
                corrects="m2",
                subjects=("Mara",),
            ),
        ]
    )
    await ada.readers.set("channel", "board", ["user.jonas", "user.board.*"])
    await ada.ingest([said(14, "Jonas", "I live in Aveiro.", readers=["user.jonas"])])
    await learned(client, "ada")
    await _add_by_hand(ada)
    await _change_by_hand(ada)
    await ada.messages.append([said(20, "Mara", "Nobody learns from this.")])
    await _write_as_jobs_do(begin)
    await learned(client, "ada")
    shown = await ada.preview_forget("Zanzibar")
    await ada.forget("Zanzibar", confirm=shown.token)
    return ada


async def _add_by_hand(ada: MemoryClient) -> None:
    top = await ada.add(
        "The bakery by the canal opens at six.",
        entry_type="insight",
        tags=["bread"],
        aliases=["Deeg"],
    )
    await ada.add(
        "It is closed on Mondays.",
        parent=top.id,
        subjects=["the bakery"],
        critical=True,
        expires_at=datetime(2099, 1, 1, tzinfo=UTC),
        channel="notes",
        speaker="Mara",
    )
    await ada.add("An old note.", source_id="old", at=datetime(2025, 1, 1, tzinfo=UTC))
    await ada.add("A wrong note about the boat.", source_id="wrong")
    await ada.records.set("profile", "name", "Mara")
    await ada.records.set("profile", "name", {"first": "Mara", "middle": None})
    await ada.records.set("cache", "token", [1, 2.5, "ü"], ttl=timedelta(days=3))
    await ada.records.set("profile", "gone", 1)
    await ada.records.delete("profile", "gone")


async def _change_by_hand(ada: MemoryClient) -> None:
    entries, _ = await ada.entries.list(EntryQuery())
    by_content = {entry.content: entry for entry in entries}
    await ada.entries.change(by_content["An old note."].id, status="archived")
    await ada.entries.change(by_content["I live in Utrecht."].id, tags=("home",), subjects=("M.",))
    await ada.entries.change(
        by_content["My sister is called Ines."].id, content="His sister is Ines.", critical=True
    )
    await ada.entries.archive(by_content["It is closed on Mondays."].id)
    await ada.entries.delete(by_content["A wrong note about the boat."].id)
    await ada.entries.reinstate(by_content["I live in Utrecht."].id)
    await ada.facts.add("Mara", "owns", "a boat", confidence=0.7)
    await ada.facts.add("Jonas", "owns", "a kite", valid_from=datetime(2020, 5, 1, tzinfo=UTC))
    (kite,), _ = await ada.facts.list(subject="Jonas", predicate="owns")
    await ada.facts.delete(kite.id)
    archived, _ = await ada.facts.list(subject="Mara", predicate="lives_in", statuses=["archived"])
    await ada.facts.reactivate(archived[0].id)


async def _write_as_jobs_do(begin: Begin) -> None:
    """A document, nodes and an edge of the graph, episodes, working memory, and messages that wait, are parked and are given up."""
    at = datetime(2026, 3, 1, tzinfo=UTC)
    waiting = [said(number, "Mara", f"I like sort {number} of tea.") for number in (30, 31)]
    guide = Document(id="g", content="Stay dry.\n# Boats\n", metadata={"of": 7}, source="g.md")
    parts = (
        DocumentPart(content="Stay dry.\n"),
        DocumentPart(content="# Boats\n", headings=("Boats",), line=2),
    )
    async with begin() as transaction:
        await transaction.documents.put("guides", guide, parts, made=None)
        boat, quay = (Node(key=one.lower(), name=one, type="Place") for one in ("Boat", "Quay"))
        for node in (boat, quay):
            await transaction.facts.graph.put_node(node)
        of = {"predicate": "LIES_AT", "properties": {"since": 2020}, "edge_id": "lies-at"}
        await transaction.facts.graph.put_edge(boat, quay, **of)
        for number in range(3):
            episode = Episode(
                id=f"e{number}",
                agent_id="ada",
                session_id="s1" if number else None,
                job_id="j",
                summary=f"Ended {number}.",
                payload={"n": number, "none": None},
                created_at=at + timedelta(hours=number),
            )
            await transaction.episodes.append(episode)
        state = await transaction.working.load("s1")
        hello = Message(id="1", role="user", content="Hello ü", at=at)
        state = state.with_messages([hello]).with_variables({"a": [1, None, 1.0]}).with_task("t")
        state = await transaction.working.save("s1", state)
        await transaction.working.save("s1", state.with_note("twice"))
        await transaction.ingest_states.receive([IncomingMessage(resource=one) for one in waiting])
        for one in waiting:
            message = await transaction.ingest_states.find(*one.place)
            assert message is not None
            await transaction.ingest_states.park(message, reason="too odd")
            if one.source_id == "m31":
                await transaction.ingest_states.drop([message.place])


async def exported(memory: MemoryClient) -> list[ExportLine]:
    """The lines of an export, as they come back from a file."""
    return [EXPORT_LINE.validate_json(line.model_dump_json()) async for line in memory.export()]


async def believed(memory: MemoryClient) -> list[dict[str, Any]]:
    """All facts, without the ids that their owner is part of."""
    facts, _ = await memory.facts.list(statuses=STATUSES, limit=1000)
    found = [fact.model_dump(exclude={"id", "supersedes", "superseded_by"}) for fact in facts]
    return sorted(found, key=repr)


async def answers(memory: MemoryClient) -> list[Any]:
    """What is found for some questions, the surest first."""
    found = [await memory.retrieve(question, is_access=False) for question in QUESTIONS]
    return [[(one.entry.content, one.score) for one in each.results] for each in found]


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
async def test_an_export_that_is_read_back_is_the_same_memory(
    client: MnesticClient, other_tenant: MnesticClient, begin: Begin
) -> None:
    ada = await remember_everything(client, begin)
    lines = await exported(ada)

    for reached, agent in ((client, "eve"), (other_tenant, "ada")):
        count = await reached.memory(agent).import_lines(lines)
        await learned(reached, agent)
        copy = reached.memory(agent)

        header, *rest = await exported(copy)
        assert isinstance(header, HeaderLine)
        assert (header.tenant_id, header.agent_id) == (reached.settings.tenant_id, agent)
        assert rest == lines[1:]
        assert await believed(copy) == await believed(ada)
        assert await answers(copy) == await answers(ada)
        assert count.lines == len(lines)
        assert count.messages == sum(isinstance(line, MessageLine) for line in lines)
        assert (count.forgotten, count.records, count.episodes, count.sessions) == (1, 2, 3, 1)
        assert (count.documents, count.nodes, count.edges) == (1, 2, 1)

    joe = client.memory("joe")
    for end in (5, 9, len(lines) - 1):
        with pytest.raises(InvalidInputError, match=f"cut off after line {end}"):
            await joe.import_lines(lines[:end])
    counts = await asyncio.gather(*(joe.import_lines(lines) for _ in range(3)))
    home = await ada.import_lines(lines)
    assert (await exported(joe))[1:] == (await exported(ada))[1:] == lines[1:]
    assert sum(one.settings for one in counts) == 0  # they came before the cut
    assert home.model_dump() == dict.fromkeys(type(home).model_fields, 0) | {"lines": len(lines)}
    assert {type(line) for line in lines} == set(ExportLine.__subclasses__())
    assert all(await answers(ada))


@pytest.mark.usefixtures("worker")
async def test_an_older_export_does_not_bring_back_what_its_agent_forgot(
    client: MnesticClient,
) -> None:
    ada = client.memory("ada")
    await ada.ingest([said(1, "Mara", "I live in Zanzibar."), said(2, "Mara", "I like tea.")])
    await learned(client, "ada")
    older = await exported(ada)
    before = await believed(ada)
    await ada.forget("Zanzibar", confirm=(await ada.preview_forget("Zanzibar")).token)
    after = await believed(ada)

    count = await ada.import_lines(older)

    assert (count.messages, count.facts) == (0, 0)
    assert await believed(ada) == after != before
    assert "Zanzibar" not in "".join(line.model_dump_json() for line in await exported(ada))


async def test_an_export_is_of_one_moment(client: MnesticClient) -> None:
    ada = client.memory("ada")
    await ada.add("Before.")
    await ada.facts.add("Mara", "likes", "tea")  # whose own entry is in no export
    lines = ada.export()
    first = await anext(lines)

    await ada.add("Meanwhile.")
    await ada.records.set("profile", "name", "Mara")
    rest = [line async for line in lines]

    assert first.kind == "export"
    assert [line.kind for line in rest] == ["message", "claim", "end"]


async def test_an_export_is_in_the_audit_log_before_its_first_line(
    client: MnesticClient, execute: Execute
) -> None:
    lines = client.memory("ada").export()
    await anext(lines)

    found = execute("SELECT agent_id, actor, action FROM mnestic.audit_log WHERE tenant_id = %s")
    await lines.aclose()

    assert found == [("ada", "client", "memory.export")]


async def test_a_predicate_that_the_tenant_has_other_rules_for_is_refused(
    client: MnesticClient, other_tenant: MnesticClient
) -> None:
    await client.predicates().set("likes", cardinality="single")
    await other_tenant.predicates().set("likes", category="events")
    lines = await exported(client.memory("ada"))

    with pytest.raises(
        InvalidInputError, match=r"line 2: predicate likes: .* predicates set likes"
    ):
        await other_tenant.memory("ada").import_lines(lines)

    await other_tenant.predicates().set("likes", cardinality="single", category="preferences")
    assert (await other_tenant.memory("ada").import_lines(lines)).predicates == 0


async def test_what_is_there_already_stays_as_it_is_however_long_the_lists_are(
    client: MnesticClient, begin: Begin
) -> None:
    ada, eve = client.memory("ada"), client.memory("eve")
    for name, agent, town, most in (("ada", ada, "Ghent", 7), ("eve", eve, "Lima", 9)):
        await agent.ingest([said(1, "Mara", f"I live in {town}.")])
        await agent.records.set("profile", "name", town)
        await agent.settings.change(auto_retrieve_max_results=most)
        for session in ("s1", "s2") if agent is ada else ("s1",):
            async with begin(name) as transaction:
                await transaction.working.save(session, WorkingMemory().with_note(town))
    await ada.ingest([said(number, "Mara", f"Note {number}.") for number in range(2, 206)])
    for number in range(101):
        await ada.records.set("n", f"k{number}", number)

    count = await eve.import_lines(ada.export())

    assert (count.messages, count.records, count.settings, count.sessions) == (204, 101, 0, 1)
    entries, _ = await eve.entries.list(EntryQuery(), limit=1000)
    contents = {entry.content for entry in entries}
    assert (len(contents), "I live in Lima." in contents) == (205, True)
    assert (await eve.records.get("profile", "name")).value == "Lima"
    assert (await eve.settings.get()).auto_retrieve_max_results == 9
    assert (await eve.working_memory.get("s1")).scratchpad == "Lima"
    assert (await eve.working_memory.get("s2")).is_as(await ada.working_memory.get("s2"))
