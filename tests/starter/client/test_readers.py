"""Who may read what: what is said under `readers` is returned to those alone whom one of them matches.

The form is that of GateMem: five roles and one agent, direct and indirect questions of each, and forgetting in between.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from mnestic.activities.knowledge.inbox_messages import store_signals
from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.inbox import Signal, refused_resource
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.names import CORRECTION, INTERACTION
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.reader_episode import EPISODE, MORNING, ROLES, SHORT, leaks, message, secrets_from, tell
from tests.transactions import Begin

CONTRACT = {
    "Memory": {
        "vector": {"enabled": True, "collections": [{"collection_id": "guides"}]},
        "graph": {
            "enabled": True,
            "nodes": [{"type": "Task"}],
            "edges": [{"type": "NEEDS", "from_node": "Task", "to_node": "Task"}],
        },
    }
}


@pytest.fixture
async def clinic(client: MnesticClient, worker: None) -> MemoryClient:  # noqa: ARG001 - it learns
    return await tell(client, "clinic")


async def everything(
    memory: MemoryClient, questions: Sequence[str] = EPISODE["questions"]
) -> dict[str, Any]:
    """What an agent's memory gives back by each way of reading it, as JSON without ids and times of its own."""
    seen: dict[str, Any] = {}
    for place, question in enumerate(questions):
        seen[question] = await _retrieved(memory, question)
        if place % 4:
            continue
        context = await memory.context_for_query(question)
        seen[f"{question} (context)"] = context.text
        auto = await memory.auto_retrieve(question, "chat", is_preview=True)
        seen[f"{question} (prompt)"] = auto.text
    entries, _ = await memory.entries.list(EntryQuery(kinds=()))
    seen["entries"] = sorted((one.content, one.importance) for one in entries)
    facts, _ = await memory.facts.list(statuses=("active", "archived", "deleted"))
    seen["facts"] = sorted(_stated(one) for one in facts)
    graph = await memory.graph.read()
    seen["edges"] = sorted(
        (one.source, one.predicate, one.target, one.weight) for one in graph.edges
    )
    seen["names"] = sorted(node.name for node in graph.nodes)
    for name in ("Anna", "Ben", "Cleo", "Dan", "Eve"):
        world = await memory.facts.world(name)
        seen[name] = sorted(_stated(one) for one in world.facts)
    categories = await memory.contexts.list_categories()
    seen["categories"] = [(one.name, one.summary) for one in categories]
    statistics = await memory.stats()
    seen["statistics"] = statistics.model_dump(mode="json", exclude={"last_learned_at"})
    return seen


async def _retrieved(memory: MemoryClient, question: str) -> dict[str, Any]:
    retrieval = await memory.retrieve(question, min_score=0, limit=50, is_access=False)
    return {
        "results": [(one.entry.content, one.score, one.signals) for one in retrieval.results],
        "words": retrieval.words,
        "names": retrieval.names,
        "misspelt": retrieval.misspelt,
    }


def _stated(fact: Any) -> tuple[str, ...]:
    return (fact.subject, fact.predicate, fact.object, fact.status, str(fact.confidence))


async def test_nobody_finds_the_private_messages_of_others(
    client: MnesticClient, clinic: MemoryClient
) -> None:
    entries, _ = await clinic.entries.list(EntryQuery())
    before = {
        role: await everything(client.memory("clinic", reader=reader))
        for role, reader in ROLES.items()
    }
    shown = await clinic.preview_forget(EPISODE["forgotten"])
    await clinic.forget(EPISODE["forgotten"], confirm=shown.token)
    after = {
        role: await everything(client.memory("clinic", reader=reader), SHORT)
        for role, reader in ROLES.items()
    }

    leaked = [
        (role, place, words)
        for role, reader in ROLES.items()
        for seen in (before[role], after[role])
        for place, value in seen.items()
        if (words := leaks(value, reader))
    ]
    assert leaked == []
    assert {one.content for one in entries} == {one["text"] for one in EPISODE["said"]}
    assert "heron-22" in str(before["eve"]["entries"])
    assert "heron-22" not in str(after["eve"])


@pytest.mark.usefixtures("clinic")
@pytest.mark.acceptance
async def test_a_reader_finds_the_same_as_in_a_memory_without_the_rest(
    client: MnesticClient,
) -> None:
    clinic = client.memory("clinic")
    await clinic.add("Ich bin allergisch gegen Birnen und Kirschen.", readers=["user.admin.eve"])
    old = await clinic.add("The old code was 1188.", readers=["user.admin.eve"])
    await clinic.add("The older code was 1199.", readers=["user.admin.eve"])
    await clinic.entries.archive(old.id)
    for role in ("ben", "cleo"):
        reader = ROLES[role]
        await tell(client, f"only-{role}", reader=reader)
        with_others = await everything(client.memory("clinic", reader=reader))
        alone = await everything(client.memory(f"only-{role}", reader=reader))
        assert with_others == alone, role


async def test_a_slot_is_decided_among_those_who_may_read_the_same(
    client: MnesticClient, clinic: MemoryClient
) -> None:
    async def homes(reader: str | None) -> list[str]:
        memory = client.memory("clinic", reader=reader)
        facts, _ = await memory.facts.list(subject="Ben", predicate="lives_in")
        return sorted(one.object for one in facts)

    assert await homes("user.patient.anna") == ["Utrecht"]
    assert await homes("user.patient.ben") == await homes(None) == ["Lelystad", "Utrecht"]

    # A person corrects a private fact, in private.
    facts, _ = await clinic.facts.list(subject="Ben", predicate="lives_in")
    (private,) = [one for one in facts if one.object == "Lelystad"]
    await clinic.facts.change(private.id, "Zeewolde")

    assert await homes("user.patient.ben") == ["Utrecht", "Zeewolde"]
    assert await homes("user.patient.anna") == ["Utrecht"]


async def test_messages_have_the_readers_of_their_session_or_channel(client: MnesticClient) -> None:
    memory = client.memory("team")
    await memory.readers.set("channel", "hr", ["user.hr.*"])
    await memory.readers.set("session", "s-anna", ["user.anna"])
    await memory.add("The bonus is 900 euros.", channel="hr", session_id="s-all")
    await memory.add("My knee hurts.", channel="hr", session_id="s-anna")
    await memory.add("Lunch is at noon.", channel="hr", session_id="s-anna", readers=["*"])
    await memory.readers.remove("channel", "hr")
    await memory.add("The office has a garden.", channel="hr")

    seen = {}
    for reader in ("user.hr.ida", "user.anna", "user.ben"):
        entries, _ = await client.memory("team", reader=reader).entries.list(EntryQuery())
        seen[reader] = {one.content for one in entries}
    public = {"Lunch is at noon.", "The office has a garden."}
    assert seen["user.hr.ida"] == public | {"The bonus is 900 euros."}
    assert seen["user.anna"] == public | {"My knee hurts."}
    assert seen["user.ben"] == public


async def test_who_reads_for_a_reader_writes_nothing_and_sees_nothing_else(
    client: MnesticClient, clinic: MemoryClient
) -> None:
    anna = client.memory("clinic", reader="user.patient.anna")
    await clinic.records.set("profile", "safe", "heron-22")
    await clinic.readers.set("channel", "board", ["user.admin.eve"])
    entries, _ = await clinic.entries.list(EntryQuery(speaker="Dan"))

    with pytest.raises(InvalidInputError, match=r"user\.patient\.anna only reads"):
        await anna.add("Nobody may read this.")
    with pytest.raises(InvalidInputError, match="only reads"):
        await anna.preview_forget("heron")
    with pytest.raises(InvalidInputError, match=r"another than user\.patient\.anna"):
        await anna.retrieve("What is the password?", reader="user.admin.eve")
    with pytest.raises(NotFoundError):
        await anna.records.get("profile", "safe")
    for entry in entries:
        with pytest.raises(NotFoundError):
            await anna.entries.get(entry.id)
    with pytest.raises(InvalidInputError, match=r"a contract keeps is the agent's own"):
        await anna.contract()
    with pytest.raises(InvalidInputError, match="events are the agent's own"):
        await anna.events.list()
    with pytest.raises(InvalidInputError, match="events are the agent's own"):
        await anna.events.last_number()
    assert await anna.readers.list() == ()
    exported = [line.model_dump_json() async for line in anna.export()]
    assert not any(word in line for word in secrets_from("user.patient.anna") for line in exported)


@pytest.mark.parametrize(
    ("readers", "why"),
    [([], "at least 1"), (["two words"], "no id or pattern"), (["u"] * 51, "at most 50")],
)
async def test_readers_that_cannot_be_are_refused(
    client: MnesticClient, readers: list[str], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=why):
        await client.memory("team").add("Hello there, all.", readers=readers)


async def test_what_a_tool_returned_has_the_readers_of_the_message_that_it_came_with(
    client: MnesticClient,
) -> None:
    memory = client.memory("bank")
    await memory.readers.set("channel", "branch", ["user.cleo"])
    asked = [message(number, "Ben", "How much do I have?", None) for number in range(4)]
    asked[0] = asked[0].model_copy(update={"readers": ("user.ben",)})
    asked[1] = asked[1].model_copy(update={"channel": "branch"})
    asked[2] = asked[2].model_copy(update={"readers": ("user.ben",)})
    asked[3] = asked[3].model_copy(update={"channel": "branch"})
    results = [
        IncomingMessage(
            resource=message(10 + number, "balance", f"5400 euros on account {number}.", None),
            kind="tool_result",
            attached_to=one.source_id,
        )
        for number, one in enumerate(asked)
    ]
    await memory.ingest([asked[0], results[0]])
    await memory.ingest([asked[1]])
    await memory.ingest([results[1]])
    await memory.ingest([results[2]])  # before its message: for the agent alone
    await memory.ingest([asked[2], asked[3]])
    await memory.readers.remove("channel", "branch")
    await memory.ingest([asked[3], results[3]])

    seen = {}
    for reader in ("user.ben", "user.cleo", "user.anna"):
        entries, _ = await client.memory("bank", reader=reader).entries.list(EntryQuery())
        seen[reader] = {one.content for one in entries if one.speaker == "balance"}
    assert seen == {
        "user.ben": {"5400 euros on account 0."},
        "user.cleo": {"5400 euros on account 1.", "5400 euros on account 3."},
        "user.anna": set(),
    }
    assert len((await memory.entries.list(EntryQuery()))[0]) == 8


async def test_what_a_contract_keeps_is_in_no_graph_and_no_export_for_a_reader(
    client: MnesticClient,
) -> None:
    await client.contracts().apply("team", CONTRACT)
    contract = await client.contract("team")
    await contract.upsert("guides", {"id": "safe", "content": "The safe is behind the mirror."})
    await contract.upsert_node("Task", "Mirror", {})
    await contract.upsert_node("Task", "Safe", {})
    await contract.upsert_edge("NEEDS", source="Safe", target="Mirror")
    await client.memory("team").add("Lunch is at noon.")
    copy = client.memory("copy")
    await copy.import_lines([line async for line in client.memory("team").export()])

    anna = client.memory("team", reader="user.anna")
    copied = await client.memory("copy", reader="user.anna").graph.read()
    graph = await anna.graph.read()
    exported = [line.model_dump_json() async for line in anna.export()]
    found = await anna.retrieve("What is behind the mirror?", min_score=0)

    assert len((await copy.graph.read()).edges) == 1
    assert (copied.edges, graph.nodes, graph.edges) == ((), (), ())
    assert not any("irror" in line for line in exported)
    assert [one.entry.content for one in found.results] in ([], ["Lunch is at noon."])


async def test_what_a_correction_states_is_believed_by_its_readers_alone(
    client: MnesticClient, begin: Begin
) -> None:
    await client.memory("ada").readers.set("session", "private", ["user.ben"])
    for number, more in enumerate(({"readers": ["user.ben"]}, {"session_id": "private"}, {})):
        stated = {"subject": "Ben", "predicate": "likes", "object": f"tea {number}"}
        body = {"source_id": f"c{number}", "statement": stated, **more}
        signal = Signal(name=CORRECTION, body=body, size_bytes=1, at=MORNING)
        async with begin() as transaction:
            await store_signals(transaction, [signal], owner="o")

    seen = {}
    for reader in ("user.ben", "user.anna"):
        facts, _ = await client.memory("ada", reader=reader).facts.list(subject="Ben")
        seen[reader] = sorted(fact.object for fact in facts)
    assert seen == {"user.ben": ["tea 0", "tea 1", "tea 2"], "user.anna": ["tea 2"]}


async def test_what_tools_returned_together_has_the_readers_of_their_message(
    client: MnesticClient,
) -> None:
    memory = client.memory("bank")
    await memory.readers.set("channel", "branch", ["user.cleo"])
    asked = message(1, "Ben", "How much do I have?", None).model_copy(update={"channel": "branch"})
    given = message(2, "balance", "5400 euros on the account.", None)
    made = message(3, "convert", "6000 dollars on the account.", None)
    await memory.ingest(
        [
            asked,
            IncomingMessage(resource=given, kind="tool_result", attached_to=asked.source_id),
            IncomingMessage(resource=made, kind="tool_result", attached_to=given.source_id),
        ]
    )

    again = asked.model_copy(update={"readers": ("user.anna",)})  # it stays Cleo's
    late = message(4, "balance", "7000 euros on the account.", None)
    late_result = IncomingMessage(resource=late, kind="tool_result", attached_to=asked.source_id)
    await memory.ingest([again, late_result])

    seen = {}
    for reader in ("user.cleo", "user.anna"):
        entries, _ = await client.memory("bank", reader=reader).entries.list(EntryQuery())
        seen[reader] = len(entries)
    assert seen == {"user.cleo": 4, "user.anna": 0}


@pytest.mark.usefixtures("worker")
async def test_a_raw_message_keeps_its_readers_when_it_is_learned(client: MnesticClient) -> None:
    said = message(1, "Ben", "The safe is behind the mirror.", ["user.ben"])
    await client.memory("ada").messages.append([said])
    told = message(2, "look_up", "The mirror hangs in the hall.", None)
    again = said.model_copy(update={"readers": None})
    result = IncomingMessage(resource=told, kind="tool_result", attached_to=said.source_id)
    await client.memory("ada").ingest([again, result])
    await (await start_ingest(client, agent_id="ada")).result()

    seen = {}
    for reader in ("user.ben", "user.anna"):
        lines = [line async for line in client.memory("ada", reader=reader).export()]
        seen[reader] = sum("mirror" in line.model_dump_json() for line in lines)
    assert seen == {"user.ben": 2, "user.anna": 0}
    assert (await client.memory("ada").messages.count()).learned == 2


@pytest.mark.parametrize(
    "more", [{"readers": ["user.ben"]}, {"readers": "two words"}, {"channel": "hr"}]
)
async def test_a_signal_that_is_refused_is_for_the_agent_alone(
    client: MnesticClient, begin: Begin, more: dict[str, Any]
) -> None:
    await client.memory("ada").readers.set("channel", "hr", ["user.ben"])
    body = {"source_id": "s1", "content": "The safe is behind the mirror.", **more}
    signal = Signal(name=INTERACTION, body=body, size_bytes=1, at=MORNING)  # without a speaker
    async with begin() as transaction:
        message = IncomingMessage(resource=refused_resource(signal))
        await transaction.ingest_states.receive([message])
        await transaction.ingest_states.park(message, reason="speaker: is missing")
    copy = client.memory("copy")
    await copy.import_lines([line async for line in client.memory("ada").export()])

    anna = client.memory("ada", reader="user.anna")
    copied = client.memory("copy", reader="user.anna")
    lines = [line.model_dump_json() for one in (anna, copied) async for line in one.export()]
    assert (await anna.messages.count()).parked == 0
    assert not any("mirror" in line for line in lines)
    assert len((await copy.parked.list())[0]) == 1
    with pytest.raises(InvalidInputError, match="parked messages are the agent's own"):
        await anna.parked.list()
    assert len((await client.memory("ada").parked.list())[0]) == 1


@pytest.mark.usefixtures("worker")
async def test_an_episode_stays_private_in_a_copy_when_its_messages_were_forgotten(
    client: MnesticClient, begin: Begin
) -> None:
    memory, copy = client.memory("ada"), client.memory("copy")
    await memory.ingest([message(1, "Ben", "The heron code is 4471.", ["user.ben"])])
    async with begin() as transaction:
        episode = Episode(
            id="e1",
            agent_id="ada",
            session_id="s",
            job_id=None,
            summary="Ben spoke of his garden.",
            payload={},
            created_at=MORNING,
        )
        await transaction.episodes.append(episode)
    await (await start_ingest(client, agent_id="ada")).result()
    shown = await memory.preview_forget("heron")
    await memory.forget("heron", confirm=shown.token)

    await copy.import_lines([line async for line in memory.export()])

    seen = {}
    for reader in ("user.ben", "user.anna"):
        episodes, _ = await client.memory("copy", reader=reader).episodes.list()
        seen[reader] = [one.summary for one in episodes]
    assert seen == {"user.ben": ["Ben spoke of his garden."], "user.anna": []}
