"""`ForgetTopic`: nothing speaks of a topic any more, wherever it stood, and everything else stays."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from temporalio.client import WorkflowFailureError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import (
    Until,
    end,
    forget,
    is_waiting,
    learn,
    said,
    wait_in,
)


@pytest.mark.usefixtures("worker")
async def test_no_word_of_a_topic_is_left_in_any_table_nor_in_the_history(
    client: MnesticClient, scan: Scan, until: Until
) -> None:
    await learn(
        client,
        said("1", "I live in Paris."),
        said("2", "My sister Parisa lives in Rome."),
        said("3", "I moved to Rome."),
    )
    await client.memory("ada").add("The PARIS office closes at six.", tags=["office"])
    await client.memory("ada").facts.add("Paris", "mayor", "Anne")
    await client.memory("ada").records.set("notes", "last", {"text": "Call Paris. Buy milk."})
    await client.memory("ada").records.set("towns/Paris", "mayor", "somebody")
    await wait_in(client, until, "j1")
    await end(client, "j1", said="Paris it is")
    before = scan("paris")

    shown = await client.memory("ada").preview_forget("Paris")
    assert scan("paris") == before
    done = await forget(client.memory("ada"), "Paris")

    assert before.keys() >= {
        *(
            "resource",
            "entry",
            "claim",
            "fact",
            "ingest_state",
            "working_memory",
            "memory_snapshot",
        ),
        *("job_wait", "long_term_record", "episode", "audit_log", "operation", "memory_event"),
    }
    assert scan("paris") == {}
    assert scan("pari") == {}
    assert done.left == ()
    assert shown.purged == {**done.purged, "audit_log": shown.purged["audit_log"]}
    handle = client.temporal.get_workflow_handle(
        f"forget/{client.settings.tenant_id}/{done.forgetting_id}"
    )
    history = json.dumps((await handle.fetch_history()).to_json_dict())
    assert "paris" not in history.lower()
    assert scan("parisa").keys() >= {"resource", "entry", "posting", "claim", "fact"}


@pytest.mark.parametrize("topic", ["", "   ", "the and of", "x" * 1_048_576, "a\x00b", "?!"])
async def test_a_topic_that_says_nothing_is_refused(client: MnesticClient, topic: str) -> None:
    with pytest.raises(InvalidInputError, match="topic"):
        await client.memory("ada").preview_forget(topic)


@pytest.mark.usefixtures("worker")
async def test_what_a_running_job_has_in_mind_is_left_and_named_until_it_is_over(
    client: MnesticClient, scan: Scan, until: Until
) -> None:
    await wait_in(client, until, "over")
    await end(client, "over")
    await wait_in(client, until, "open")
    before = (await client.describe_job("open")).waits[-1].context.memory_snapshot
    assert before is not None

    first = await forget(client.memory("ada"), "Paris")
    left = scan("paris")
    await end(client, "open")
    second = await forget(client.memory("ada"), "Paris")

    assert {(one.kind, one.name) for one in first.left} == {
        ("job", "open"),
        ("session", "s-open"),
    }
    assert left.keys() == {
        *("working_memory", "memory_snapshot", "job_wait", "job_read", "long_term_record"),
        "operation",
    }, "the record's name tells the job that what it read is gone"
    wait = (await client.describe_job("open")).waits[-1]
    assert wait.receipt is not None
    assert wait.receipt.verified
    assert wait.receipt.snapshot_sha256 == before.sha256
    assert second.left == ()
    assert scan("paris") == {}


@pytest.mark.usefixtures("worker")
async def test_a_snapshot_that_lost_something_says_so_and_serves_a_fork(
    client: MnesticClient, until: Until
) -> None:
    await wait_in(client, until, "j1")
    await end(client, "j1")

    await forget(client.memory("ada"), "Paris")

    told = await client.diff_job("j1", wait=1)
    assert told.redacted_at is not None
    fork = await client.fork_job("j1", wait=1, as_job="j2")
    await until(lambda: is_waiting(client, fork))
    memory = await client.memory("ada").working_memory.get(
        (await client.describe_job(fork)).session_id
    )
    assert [said.content for said in memory.messages] == [f"{FORGOTTEN} The cat stays home."]
    assert memory.variables["plan"] == FORGOTTEN


@pytest.mark.usefixtures("worker")
async def test_a_message_that_comes_again_is_not_learned_from_and_a_new_one_is(
    client: MnesticClient, scan: Scan
) -> None:
    old = said("1", "I live in Paris.")
    await learn(client, old)
    added = await client.memory("ada").add("Paris is lovely.")
    await forget(client.memory("ada"), "Paris")

    await learn(client, old)
    await client.memory("ada").messages.append([old])
    assert scan("paris") == {}
    with pytest.raises(InvalidInputError, match="removed"):
        await client.memory("ada").add("Paris", source_id="1", session_id="chat")
    await learn(client, said("2", "I live in Paris."))
    again = await client.memory("ada").add("Paris is lovely.")

    facts, _ = await client.memory("ada").facts.list(subject="Mara")
    assert [(fact.predicate, fact.object) for fact in facts] == [("lives_in", "Paris")]
    assert again.id != added.id


@pytest.mark.usefixtures("worker")
async def test_facts_are_worked_out_anew_of_what_is_left(client: MnesticClient) -> None:
    await learn(
        client,
        said("1", "I live in Rome."),
        said("2", "I moved to Paris. I work at the Paris Museum. I have a cat."),
        said("3", "I moved to Bonn."),
    )

    done = await forget(client.memory("ada"), "Paris")

    history = await client.memory("ada").facts.history("Mara", "lives_in")
    assert [fact.object for fact in history.facts] == ["Rome", "Bonn"]
    rome, bonn = history.facts
    assert (rome.superseded_by, bonn.supersedes) == (bonn.id, rome.id)
    assert done.purged["claim"] == 2
    pets, _ = await client.memory("ada").facts.list(subject="Mara", predicate="pet")
    assert [fact.object for fact in pets] == ["cat"], "what else the message said stays"


@pytest.mark.usefixtures("worker")
async def test_whom_a_topic_names_goes_with_all_that_was_said_by_and_of_them(
    client: MnesticClient, scan: Scan
) -> None:
    await learn(
        client,
        said("1", "I live in Rome."),
        said("2", "Mara told me so.", speaker="Tom"),
        said("3", "I live in Bonn.", speaker="Tom"),
    )

    await forget(client.memory("ada"), "MARA")

    entries, _ = await client.memory("ada").entries.list(EntryQuery())
    assert [entry.content for entry in entries] == ["I live in Bonn."]
    assert scan("mara") == {}
    assert {signal.subject for signal in await client.memory("ada").events.list()} <= {None, "Tom"}


@pytest.mark.usefixtures("worker")
async def test_other_agents_keep_what_they_know(client: MnesticClient, scan: Scan) -> None:
    for agent in ("ada", "bob"):
        await learn(client, said("1", "I live in Paris."), agent=agent)
        await client.memory(agent).records.set("notes", "last", "Paris")
    before = scan("paris", agent="bob")

    await forget(client.memory("ada"), "Paris")

    assert scan("paris") == {}
    assert scan("paris", agent="bob") == before


@pytest.mark.usefixtures("worker")
async def test_relations_to_what_is_gone_go_too(client: MnesticClient) -> None:
    memory = client.memory("ada")
    gone = await memory.add("Paris is large.")
    child = await memory.add("It has a river.", parent=gone.id)

    done = await forget(memory, "Paris")

    assert done.purged["edge"] == 1
    assert (await memory.entries.get(child.id)).parent is None


async def test_a_topic_goes_also_from_its_request_when_it_is_cancelled(
    client: MnesticClient,
    scan: Scan,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> None:
    await client.memory("ada").add("I live in Paris.")
    shown = await client.memory("ada").preview_forget("Paris")
    handle = await client.memory("ada").forgetting.start("Paris", confirm=shown.token)
    assert scan("paris").keys() >= {"forgetting"}

    await handle.cancel()
    async with run_worker():
        with pytest.raises(WorkflowFailureError):
            await handle.result()

    assert "forgetting" not in scan("paris")


async def test_two_who_forget_the_same_at_once_both_come_to_an_end(
    client: MnesticClient,
    scan: Scan,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> None:
    memory = client.memory("ada")
    await memory.ingest([said(str(number), f"Paris {number}.") for number in range(40)])
    handles = []
    for topic in ("Paris", "paris!"):
        token = (await memory.preview_forget(topic)).token
        handles.append(await memory.forgetting.start(topic, confirm=token))

    async with run_worker():
        ended = await asyncio.gather(*(handle.result() for handle in handles))

    assert scan("paris") == {}
    gone = [done.purged.get("entry", 0) for done in ended]
    assert sum(gone) == 40


@pytest.mark.usefixtures("worker")
async def test_forgetting_what_nobody_spoke_of_purges_nothing(client: MnesticClient) -> None:
    await learn(client, said("1", "I live in Rome."))

    shown = await client.memory("ada").preview_forget("Paris")
    done = await forget(client.memory("ada"), "Paris")

    assert shown.is_nothing
    assert done.is_nothing
    assert (done.left, shown.items) == ((), ())
