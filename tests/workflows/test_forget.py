"""`ForgetTopic`: nothing speaks of a topic any more, wherever it stood, and everything else stays."""

import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import sql

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.resources import Resource
from mnestic.starter.client import MnesticClient
from mnestic.starter.ingesting import start_ingest
from mnestic.starter.plans import parse_plan

Until = Callable[..., Awaitable[Any]]
Scan = Callable[..., dict[str, int]]
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLAN = """
name: travel
nodes:
  - id: hear
    kind: remember
    message: {role: user, speaker: Mara, content: "We fly to ${input.city} in May. The cat stays home."}
    records:
      - {namespace: cities, key: "${input.city}", value: {seen: false}}
      - {namespace: trips, key: next, value: {to: "${input.city}", days: 4}}
    variables: {"plan": "Pack for ${input.city}."}
    next: note
  - {id: note, kind: remember, note: "Look for hotels in ${input.city}.", next: look}
  - {id: look, kind: recall, records: [{namespace: cities}, {namespace: trips}], next: task}
  - id: task
    kind: remember
    task: "Book a hotel in ${input.city}"
    episode: {summary: "Mara flies to ${input.city} in May. Her cat stays home.", payload: {to: "${input.city}"}}
    next: approval
  - id: approval
    kind: wait
    key: approval
    ask: "May I book ${input.city}?"
    timeout: 21d
    on: {resumed: end, timeout: end}
"""


@pytest.fixture
def scan(admin_url: str, client: MnesticClient) -> Iterator[Scan]:
    """Counts the rows of every table of the tenant in which a word stands, in whatever column."""
    columns = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'mnestic' AND table_name <> 'alembic_version'"
    )
    with psycopg.connect(admin_url, autocommit=True) as connection:

        def scan(word: str, *, agent: str = "ada") -> dict[str, int]:
            found: dict[str, int] = {}
            names: dict[str, list[tuple[str, str]]] = {}
            for name, column, kind in connection.execute(columns).fetchall():
                names.setdefault(name, []).append((column, kind))
            for name, held in sorted(names.items()):
                owned = any(column == "agent_id" for column, _ in held)
                texts = [
                    sql.SQL("encode({}, 'escape')" if kind == "bytea" else "{}::text").format(
                        sql.Identifier(column)
                    )
                    for column, kind in held
                ]
                query = sql.SQL(
                    "SELECT count(*) FROM mnestic.{} WHERE tenant_id = %s AND {} ~* %s"
                ).format(
                    sql.Identifier(name),
                    sql.SQL("concat_ws(' ', {})").format(sql.SQL(", ").join(texts)),
                )
                asked: list[Any] = [client.settings.tenant_id, rf"\m{word}\M"]
                if owned:
                    query += sql.SQL(" AND agent_id = %s")
                    asked.append(agent)
                row = connection.execute(query, asked).fetchone()
                assert row is not None
                if row[0]:
                    found[name] = row[0]
            return found

        yield scan


def said(source_id: str, content: str, *, session: str = "chat", speaker: str = "Mara") -> Resource:
    return Resource(
        session_id=session,
        source_id=source_id,
        channel="mail",
        speaker=speaker,
        content=content,
        at=AT,
    )


async def learn(client: MnesticClient, *messages: Resource, agent: str = "ada") -> None:
    await client.memory(agent).learn(messages)
    await (await start_ingest(client, agent_id=agent)).result()


async def wait_in(
    client: MnesticClient, until: Until, job_id: str, *, agent: str = "ada", city: str = "Paris"
) -> None:
    await client.start_job(
        parse_plan(PLAN, source="test"),
        agent_id=agent,
        session_id=f"s-{job_id}",
        job_id=job_id,
        inputs={"city": city},
    )

    async def parked() -> bool:
        return (await client.describe_job(job_id)).state == "waiting"

    await until(parked)


async def end(client: MnesticClient, job_id: str, **payload: Any) -> None:
    await client.resume_job(job_id, payload, request_id=f"end-{job_id}")
    await client.wait_for_result(job_id)


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
    await client.memory("ada").add_fact("Paris", "mayor", "Anne")
    await client.memory("ada").set("notes", "last", {"text": "Call Paris. Buy milk."})
    await client.memory("ada").set("towns/Paris", "mayor", "somebody")
    await wait_in(client, until, "j1")
    await end(client, "j1", said="Paris it is")
    before = scan("paris")

    shown = await client.memory("ada").forget("Paris", dry_run=True)
    assert scan("paris") == before
    done = await client.memory("ada").forget("Paris")

    assert before.keys() >= {
        *("resource", "entry", "claim", "fact", "learning", "working_memory", "memory_snapshot"),
        *("job_wait", "long_term_record", "episode", "audit_log", "operation", "signal"),
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
        await client.memory("ada").forget(topic, dry_run=True)
