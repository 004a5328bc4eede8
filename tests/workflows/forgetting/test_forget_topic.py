"""`ForgetTopic`: nothing speaks of a topic any more, wherever it stood, and everything else stays."""

import asyncio
import json

import pytest
from temporalio.client import WorkflowFailureError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import Jobs
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import (
    contents,
    end,
    forget,
    learn,
    said,
    wait_in,
)


async def segment_texts(ada: MemoryClient, session_id: str) -> list[str]:
    segments = (await ada.working_memory.get(session_id)).segments
    return [] if segments is None else [entry.content for entry in segments.entries]


@pytest.mark.usefixtures("worker")
async def test_no_word_of_a_topic_is_left_in_any_table_nor_in_the_history(
    ada: MemoryClient, scan: Scan, jobs: Jobs
) -> None:
    await learn(
        jobs,
        said("1", "I live in Paris."),
        said("2", "My sister Parisa lives in Rome."),
        said("3", "I moved to Rome."),
    )
    await ada.add("The PARIS office closes at six.", tags=["office"])
    await ada.facts.add("Paris", "mayor", "Anne")
    await ada.records.set("notes", "last", {"text": "Call Paris. Buy milk."})
    await ada.records.set("towns/Paris", "mayor", "somebody")
    rule = {"segment_id": "conversation", "max_tokens": 1000}
    section = {"enabled": True, "max_tokens": 1000, "segments": [rule]}
    await jobs.contracts().apply("ada", {"Memory": {"short_term": section}})
    await wait_in(jobs, "j1")
    await end(jobs, "j1", said="Paris it is")
    (entry,) = await segment_texts(ada, "s-j1")
    before = scan("paris")

    shown = await ada.preview_forget("Paris")
    assert scan("paris") == before
    done = await forget(ada, "Paris")

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
    assert "Paris" in entry
    assert await segment_texts(ada, "s-j1") == [f"{FORGOTTEN} The cat stays home."]
    assert done.left == ()
    assert shown.purged == {**done.purged, "audit_log": shown.purged["audit_log"]}
    handle = jobs.temporal.get_workflow_handle(
        f"forget/{jobs.settings.tenant_id}/{done.forgetting_id}"
    )
    history = json.dumps((await handle.fetch_history()).to_json_dict())
    assert "paris" not in history.lower()
    assert scan("parisa").keys() >= {"resource", "entry", "posting", "claim", "fact"}


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
async def test_what_a_running_job_has_in_mind_is_left_and_named_until_it_is_over(
    ada: MemoryClient, scan: Scan, jobs: Jobs
) -> None:
    await wait_in(jobs, "over")
    await end(jobs, "over")
    await wait_in(jobs, "open")
    before = (await jobs.describe_job("open")).waits[-1].context.memory_snapshot
    assert before is not None

    first = await forget(ada, "Paris")
    left = scan("paris")
    await end(jobs, "open")
    second = await forget(ada, "Paris")

    assert {(one.kind, one.name) for one in first.left} == {
        ("job", "open"),
        ("session", "s-open"),
    }
    assert left.keys() == {
        *("working_memory", "memory_snapshot", "job_wait", "job_read", "long_term_record"),
        "operation",
    }, "the record's name tells the job that what it read is gone"
    wait = (await jobs.describe_job("open")).waits[-1]
    assert wait.receipt is not None
    assert wait.receipt.verified
    assert wait.receipt.snapshot_sha256 == before.sha256
    assert second.left == ()
    assert scan("paris") == {}


@pytest.mark.usefixtures("worker")
async def test_a_snapshot_that_lost_something_says_so_and_serves_a_fork(
    ada: MemoryClient, jobs: Jobs
) -> None:
    await wait_in(jobs, "j1")
    await end(jobs, "j1")

    await forget(ada, "Paris")

    told = await jobs.diff_job("j1", wait=1)
    assert told.redacted_at is not None
    fork = await jobs.fork_job("j1", wait=1, as_job="j2", session_id="s2")
    await jobs.until_state(fork, "waiting")
    assert await jobs.texts("s2") == [f"{FORGOTTEN} The cat stays home."]
    assert (await ada.working_memory.get("s2")).variables["plan"] == FORGOTTEN


@pytest.mark.usefixtures("worker")
async def test_a_message_that_comes_again_is_not_learned_from_and_a_new_one_is(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    old = said("1", "I live in Paris.")
    await learn(client, old)
    added = await ada.add("Paris is lovely.")
    await forget(ada, "Paris")

    await learn(client, old)
    await ada.messages.append([old])
    assert scan("paris") == {}
    with pytest.raises(InvalidInputError, match="removed"):
        await ada.add("Paris", source_id="1", session_id="chat")
    await learn(client, said("2", "I live in Paris."))
    again = await ada.add("Paris is lovely.")

    facts, _ = await ada.facts.list(subject="Mara")
    assert [(fact.predicate, fact.object) for fact in facts] == [("lives_in", "Paris")]
    assert again.id != added.id


@pytest.mark.usefixtures("worker")
async def test_facts_are_worked_out_anew_of_what_is_left(
    client: MnesticClient, ada: MemoryClient
) -> None:
    await learn(
        client,
        said("1", "I live in Rome."),
        said("2", "I moved to Paris. I work at the Paris Museum. I have a cat."),
        said("3", "I moved to Bonn."),
    )

    done = await forget(ada, "Paris")

    history = await ada.facts.history("Mara", "lives_in")
    assert [fact.object for fact in history.facts] == ["Rome", "Bonn"]
    rome, bonn = history.facts
    assert (rome.superseded_by, bonn.supersedes) == (bonn.id, rome.id)
    assert done.purged["claim"] == 2
    pets, _ = await ada.facts.list(subject="Mara", predicate="pet")
    assert [fact.object for fact in pets] == ["cat"], "what else the message said stays"


@pytest.mark.usefixtures("worker")
async def test_whom_a_topic_names_goes_with_all_that_was_said_by_and_of_them(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    await learn(
        client,
        said("1", "I live in Rome."),
        said("2", "Mara told me so.", speaker="Tom"),
        said("3", "I live in Bonn.", speaker="Tom"),
    )

    await forget(ada, "MARA")

    assert await contents(ada) == {"I live in Bonn."}
    assert scan("mara") == {}
    assert {signal.subject for signal in await ada.events.list()} <= {None, "Tom"}


@pytest.mark.usefixtures("worker")
async def test_other_agents_keep_what_they_know_and_relations_to_what_is_gone_go(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    for agent in ("ada", "bob"):
        await learn(client, said("1", "I live in Paris."), agent=agent)
        await client.memory(agent).records.set("notes", "last", "Paris")
    gone = await ada.add("Paris is large.")
    child = await ada.add("It has a river.", parent=gone.id)
    before = scan("paris", agent="bob")

    done = await forget(ada, "Paris")

    assert scan("paris") == {}
    assert scan("paris", agent="bob") == before
    assert done.purged["edge"] == 1
    assert (await ada.entries.get(child.id)).parent is None


async def test_a_topic_goes_also_from_its_request_when_it_is_cancelled(
    ada: MemoryClient, scan: Scan, jobs: Jobs
) -> None:
    await ada.add("I live in Paris.")
    shown = await ada.preview_forget("Paris")
    handle = await ada.forgetting.start("Paris", confirm=shown.token)
    assert scan("paris").keys() >= {"forgetting"}

    await handle.cancel()
    async with jobs.worker():
        with pytest.raises(WorkflowFailureError):
            await handle.result()

    assert "forgetting" not in scan("paris")


async def test_two_who_forget_the_same_at_once_both_come_to_an_end(
    ada: MemoryClient, scan: Scan, jobs: Jobs
) -> None:
    await ada.ingest([said(str(number), f"Paris {number}.") for number in range(40)])
    handles = []
    for topic in ("Paris", "paris!"):
        token = (await ada.preview_forget(topic)).token
        handles.append(await ada.forgetting.start(topic, confirm=token))

    async with jobs.worker():
        ended = await asyncio.gather(*(handle.result() for handle in handles))

    assert scan("paris") == {}
    gone = [done.purged.get("entry", 0) for done in ended]
    assert sum(gone) == 40
