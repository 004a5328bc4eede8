"""`ForgetTopic`: nothing speaks of a topic any more, wherever it stood, and everything else stays."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial

import pytest
from temporalio.client import WorkflowFailureError

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.requests import CLOSE
from mnestic.memory.forgetting.topics import FORGOTTEN
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.word_scan import scan_tables
from tests.workflows.forgetting.forget_samples import (
    AT,
    Until,
    end,
    forget,
    is_waiting,
    learn,
    said,
    wait_in,
)

Scan = Callable[..., dict[str, int]]


@pytest.fixture
def scan(admin_url: str, client: MnesticClient) -> Scan:
    """Counts the rows of every table of an agent in which a word stands, in whatever column."""
    return partial(scan_tables, admin_url, tenant=client.settings.tenant_id)


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
        said("2", "I moved to Paris. I have a cat."),
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
@pytest.mark.parametrize(
    ("topic", "content", "word"),
    [
        ("straße", "Die STRASSE ist lang.", "strasse"),
        ("Zürich", "Wir wohnen in Zu\u0308rich.", "rich"),
        ("東京", "来週東京に行きます。", "来週東京に行きます"),
        ("Émile Zola", "ZOLA, ÉMILE", "zola"),
        ("divorce", "They divorced in spring.", "divorced"),
    ],
)
async def test_any_script_and_spelling_is_found(
    client: MnesticClient, scan: Scan, topic: str, content: str, word: str
) -> None:
    await learn(client, said("1", content), said("2", "It rains."))
    assert scan(word)

    done = await forget(client.memory("ada"), topic)

    assert done.purged["entry"] == 1
    assert scan(word) == {}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("language", "topic", "content", "other", "word"),
    [
        ("german", "das Haus", "Die Häuser am Fluss wurden verkauft.", "Das Huhn schläft.", "verkauft"),
        ("german", "Urlaub in der Toskana", "Toskana-Urlaube sind teuer.", "Wir essen in der Küche.", "teuer"),
        ("french", "le cheval", "Les chevaux dorment.", "Il pleut.", "chevaux"),
        ("spanish", "la receta", "Perdí las recetas.", "La reina está aquí.", "recetas"),
        ("russian", "книга", "Книги лежат на полке.", "Кот спит.", "полке"),
    ],
)  # fmt: skip
async def test_forms_of_a_word_are_found_in_the_agent_s_language(
    client: MnesticClient,
    scan: Scan,
    language: str,
    topic: str,
    content: str,
    other: str,
    word: str,
) -> None:
    memory = client.memory("ada")
    await memory.settings.change(language=language)
    await learn(client, said("1", content), said("2", other))
    assert scan(word)

    done = await forget(memory, topic)

    assert done.purged["entry"] == 1
    assert scan(word) == {}
    (left,), _ = await memory.entries.list(EntryQuery())
    assert left.content == other


@pytest.mark.usefixtures("worker")
async def test_forms_are_found_in_the_language_of_each_entry(client: MnesticClient) -> None:
    memory = client.memory("ada")
    for language, content in (
        ("english", "A red hat."),
        ("german", "Zwei Häuser."),
        ("dutch", "!"),
    ):
        await memory.settings.change(language=language)
        await memory.add(content)

    houses = await forget(memory, "Haus")
    hats = await forget(memory, "red hat")
    others = await forget(memory, "das Haus am Fluss")

    assert [done.purged.get("entry") for done in (houses, hats, others)] == [1, 1, None]


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


@pytest.mark.usefixtures("worker")
async def test_what_is_about_it_by_meaning_goes_with_its_copies_and_nothing_else(
    client: MnesticClient, scan: Scan
) -> None:
    memory = client.memory("ada")
    ended = "My marriage ended in court."
    await learn(
        client,
        said("1", ended),
        said("2", "I like tea."),
        said("3", "The divorcee next door sings."),
        said("4", "I am married to Tom, he says.", speaker="Lisa"),
    )
    await memory.add("I got divorced last year.")
    past = "The marriage of my parents ended."
    await memory.add(past, at=AT, expires_at=AT + timedelta(days=1))
    await memory.records.set("notes", "last", {"text": f"She said: {ended} Then we had tea."})

    shown = await memory.preview_forget("divorce")
    done = await forget(memory, "divorce")

    assert {(one.text, one.by) for one in shown.items if one.kind == "entry"} == {
        ("I got divorced last year.", "text"),
        (ended, "meaning"),
        (past, "meaning"),  # which has expired, and is forgotten all the same
    }
    assert all(one.score is None or one.score >= CLOSE for one in shown.items)
    assert done.purged["entry"] == 3
    assert scan("marriage") == {}
    record = await memory.records.get("notes", "last")
    assert record.value == {"text": f"{FORGOTTEN} Then we had tea."}
    left, _ = await memory.entries.list(EntryQuery())
    assert {entry.source_id for entry in left} == {"2", "3", "4"}


@pytest.mark.usefixtures("worker")
async def test_nothing_is_forgotten_without_the_token_of_a_preview(client: MnesticClient) -> None:
    memory = client.memory("ada")
    await learn(client, said("1", "My marriage ended in court."))

    with pytest.raises(InvalidInputError, match="confirm: is needed: look at what would go first"):
        await memory.forget("divorce")
    with pytest.raises(InvalidInputError, match="look again"):
        await memory.forget("divorce", confirm="0" * 32)
    tea = await memory.preview_forget("tea")
    with pytest.raises(InvalidInputError, match="look again"):
        await memory.forget("divorce", confirm=tea.token)

    assert len((await memory.entries.list(EntryQuery()))[0]) == 1


@pytest.mark.usefixtures("worker")
async def test_a_preview_holds_until_something_of_the_topic_changes(client: MnesticClient) -> None:
    memory = client.memory("ada")
    await learn(client, said("1", "I live in Paris."))
    shown = await memory.preview_forget("Paris")
    again = await memory.preview_forget("PARIS")
    await learn(client, said("2", "It rains."))
    await memory.records.set("notes", "last", "Buy milk.")
    beside = await memory.preview_forget("Paris")
    await memory.records.set("notes", "first", "Call Paris.")

    with pytest.raises(InvalidInputError, match="what would go has changed; look again"):
        await memory.forget("Paris", confirm=shown.token)
    after = await memory.preview_forget("Paris")
    done = await memory.forget("Paris", confirm=after.token)

    assert shown.token == again.token == beside.token != after.token
    assert done.items == after.items
    assert done.purged["long_term_record"] == 1


async def test_what_comes_after_the_preview_goes_by_its_words_and_not_by_meaning(
    client: MnesticClient,
    scan: Scan,
    run_worker: Callable[[], AbstractAsyncContextManager[None]],
) -> None:
    memory = client.memory("ada")
    shown_before = await memory.add("My marriage ended in court.")
    shown = await memory.preview_forget("divorce")
    handle = await memory.forgetting.start("divorce", confirm=shown.token)
    await memory.add("They divorced in spring.")
    alike = await memory.add("The marriage of my parents ended.")

    async with run_worker():
        await handle.result()

    left, _ = await memory.entries.list(EntryQuery())
    assert [item.id for item in shown.items] == [shown_before.id]
    assert [entry.id for entry in left] == [alike.id]
    assert scan("divorced") == {}


@pytest.mark.usefixtures("worker")
async def test_each_fact_entry_and_sentence_that_goes_is_shown_before_and_told_after(
    client: MnesticClient, until: Until
) -> None:
    memory = client.memory("ada")
    await learn(client, said("1", "I live in Paris."))
    await memory.records.set("notes", "last", {"text": "Call Paris. Buy milk.", "days": 4})
    await memory.records.set("towns/Paris", "mayor", "Paris has Anne. Tea is hot.")
    await wait_in(client, until, "j1")
    await end(client, "j1")

    shown = await memory.preview_forget("Paris")
    done = await memory.forget("Paris", confirm=shown.token)

    facts = [item.text for item in shown.items if item.kind == "fact"]
    entries = [item.text for item in shown.items if item.kind == "entry"]
    sentences = {(item.id, item.text) for item in shown.items if item.kind == "sentence"}
    assert "Mara lives_in Paris" in facts
    assert "I live in Paris." in entries
    assert sentences >= {
        ("long_term_record notes/last", "Call Paris."),
        ("long_term_record towns/Paris/mayor", "Paris has Anne."),
    }
    assert {text for place, text in sentences if place.startswith("memory_snapshot")} >= {
        "We fly to Paris in May.",
        "Pack for Paris.",
    }
    assert all("milk" not in text and "Tea" not in text for _, text in sentences)
    assert done.items == shown.items
