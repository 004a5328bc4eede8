"""No text of memory gets into Temporal's history, the logs or the terminal by way of an error.

Every activity of the worker is run against a database whose errors quote a marked word, as Postgres quotes
rows and values; a new activity without a case fails.
"""

import asyncio
import io
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pydantic import BaseModel, SecretStr
from temporalio import activity, workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.forgetting.requests import ForgetRequest
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import FORGET_TOPIC, forget_workflow_id, job_workflow_id
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Transaction
from mnestic.memory.scope import Scope
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.logs import _Text
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.starter.cli.conftest import Cli
from tests.starter.cli.conftest import cli as cli  # noqa: PLC0414 - a fixture
from tests.workflows.conftest import Until
from tests.workflows.conftest import until as until  # noqa: PLC0414 - a fixture

WORD = "quokka"
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLAN = f"""
name: texts
nodes:
  - id: hear
    kind: remember
    message: {{role: user, content: "The {WORD} is fine."}}
    records: [{{namespace: animals, key: one, value: {{name: {WORD}}}}}]
    next: approval
  - {{id: approval, kind: wait, key: approval, timeout: 21d, on: {{resumed: end, timeout: end}}}}
"""
# SQLSTATEs that the stores take differently: bare, a value that is refused, a database that cannot.
CODES = ("P0001", "22P02", "23514", "57014")
CUT = "57P01"  # the connection itself is cut, amid a statement


MODELS = {"model": LocalChatModel(), "summariser": LocalSummariser()}


class Animal(BaseModel):
    """What a library refuses, quoting it."""

    age: int


class Bare(BaseModel):
    """Which error to raise, and for whom."""

    tenant_id: str
    kind: str


def bare_errors() -> dict[str, Callable[[], Any]]:
    """Errors that are not ours, and quote the word."""
    return {
        "RuntimeError": lambda: _raise(RuntimeError(f"the {WORD}")),
        "KeyError": lambda: {}[WORD],
        "ValidationError": lambda: Animal.model_validate({"age": WORD}),
        "UnicodeEncodeError": f"{WORD}\udc80".encode,
        "ApplicationError": lambda: _raise(ApplicationError("it failed"), cause=ValueError(WORD)),
        "ExceptionGroup": lambda: _raise(ExceptionGroup(WORD, [ValueError(WORD)])),
    }


def _raise(error: Exception, *, cause: Exception | None = None) -> None:
    raise error from cause


@activity.defn(name="mnestic.raise_bare")
async def raise_bare(asked: Bare) -> None:
    """As an activity of ours that somebody adds and forgets about errors."""
    bare_errors()[asked.kind]()


@activity.defn(name="texts.decline")
async def decline(_: str) -> None:
    """A tool of a user's own, whose errors are meant for the plan."""
    raise ValueError("the card was declined")


@workflow.defn(name="texts.FailBare", sandboxed=False)
class FailBare:
    """Fails its workflow task."""

    @workflow.run
    async def run(self, kind: str) -> None:
        bare_errors()[kind]()


@workflow.defn(name="texts.RunActivity", sandboxed=False)
class RunActivity:
    """Runs one activity once, and fails as it fails."""

    @workflow.run
    async def run(self, name: str, asked: Any) -> Any:
        return await workflow.execute_activity(
            name,
            asked,
            start_to_close_timeout=timedelta(seconds=20),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


@dataclass(frozen=True)
class World:
    """An agent whose memory holds the word, a client, and the errors of its database."""

    client: MnesticClient
    admin_url: str
    log: io.StringIO
    job: JobStatus
    forgetting_id: str
    result: dict[str, Any]

    async def run(self, name: str, asked: Any) -> WorkflowHandle[Any, Any]:
        """Runs an activity to its end."""
        handle = await self.start(RunActivity.run, name, asked)
        with suppress(WorkflowFailureError):
            await handle.result()
        return handle

    async def start(self, run: Callable[..., Any], *args: Any) -> WorkflowHandle[Any, Any]:
        """Starts a workflow of the tenant."""
        settings = self.client.settings
        return await self.client.temporal.start_workflow(
            run,
            args=args,
            id=job_workflow_id(settings.tenant_id, f"run-{uuid.uuid4().hex}"),
            task_queue=settings.task_queue,
        )

    def take_log(self) -> str:
        """What was logged since the last time."""
        told = self.log.getvalue()
        self.log.seek(0)
        self.log.truncate()
        return told

    @asynccontextmanager
    async def broken(self, table: str, code: str) -> AsyncIterator[None]:
        """A table that fails whoever reads or writes a row of it, with an error that quotes the word."""
        failing = (
            "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(20); RETURN line = '{word}';"
            if code == CUT
            else "RAISE EXCEPTION 'the row says {word}: %', line USING ERRCODE = {code}, "
            "DETAIL = 'Failing row contains ({word}).', HINT = '{word}';"
        )
        raising = sql.SQL(
            f"CREATE FUNCTION public.break(line text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN {failing} END $$"
        ).format(word=sql.SQL(WORD), code=sql.Literal(code))
        refusing = sql.SQL(
            "CREATE POLICY broken ON mnestic.{} AS RESTRICTIVE "
            "USING (public.break(tenant_id)) WITH CHECK (public.break(tenant_id))"
        ).format(sql.Identifier(table))
        mending = sql.SQL("DROP POLICY broken ON mnestic.{}; DROP FUNCTION public.break").format(
            sql.Identifier(table)
        )
        await self._as_owner(raising, refusing)
        try:
            yield
        finally:
            await self._as_owner(mending)

    async def _as_owner(self, *statements: sql.Composed) -> None:
        """Waits for who uses the table, this process too."""
        async with await psycopg.AsyncConnection.connect(
            self.admin_url, autocommit=True
        ) as connection:
            for statement in statements:
                await connection.execute(statement)


@pytest.fixture
async def world(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[[], AbstractContextManager[str]],
    tmp_path: Path,
    until: Until,
) -> AsyncIterator[World]:
    """A worker on a database of its own, after a job has remembered, learned and waits."""
    with new_database() as admin_url:
        url = SecretStr(admin_url.replace("postgres@", "mnestic_app@"))
        admin = SecretStr(admin_url)
        settings = new_settings(tmp_path / "data").model_copy(
            update={"database_url": url, "database_admin_url": admin}
        )
        memory = PostgresMemory(url.get_secret_value(), pool_size=5, cache_bytes=0)
        activities = [*activities_of(memory, **MODELS), raise_bare, decline]
        async with (
            await MnesticClient.connect(settings) as client,
            make_worker(
                client.temporal, settings, activities=activities, workflows=[RunActivity, FailBare]
            ),
        ):
            with logged() as log:
                job = await seeded(client, until)
                forgetting_id = uuid.uuid4().hex
                begin = partial(
                    memory.transaction, tenant_id=settings.tenant_id, actor="test", write=True
                )
                async with begin(agent_id="ada") as transaction:
                    await transaction.forgetting.begin(forgetting_id, WORD, entries=[])
                    result = await transaction.tool_results.put(
                        str(uuid.uuid4()), {"is": WORD}, job_id="j1", node="n"
                    )
                    await hear(transaction, "1", owner=f"{settings.tenant_id}/ada")
                made = World(client, admin_url, log, job, forgetting_id, result.model_dump())
                async with begin(agent_id="eve") as transaction:
                    await hear(transaction, "1", owner=f"{settings.tenant_id}/eve")
                hearer = {"tenant_id": settings.tenant_id, "agent_id": "eve"}
                await made.run("mnestic.extract", hearer)
                async with begin(agent_id="eve") as transaction:
                    await hear(transaction, "2", owner=f"{settings.tenant_id}/eve")
                yield made
        await memory.close()


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """What a worker logs, in its own form."""
    told = io.StringIO()
    handler = logging.StreamHandler(told)
    handler.setFormatter(_Text())
    logging.getLogger().addHandler(handler)
    yield told
    logging.getLogger().removeHandler(handler)


async def hear(transaction: Transaction, source_id: str, *, owner: str) -> None:
    """Keeps a message that is to be learned from."""
    message = Resource(
        session_id="chat",
        source_id=source_id,
        channel="mail",
        speaker="Mara",
        content=f"I live in {WORD.title()}.",
        at=AT,
    )
    await receive(transaction, [message], owner=owner)


async def seeded(client: MnesticClient, until: Until) -> JobStatus:
    await client.memory("ada").facts.add(WORD, "mayor", "Anne")
    await client.start_job(
        parse_plan(PLAN, source="test"), agent_id="ada", session_id="s1", job_id="j1"
    )

    async def waiting() -> JobStatus | None:
        status = await client.describe_job("j1")
        return status if status.state == "waiting" else None

    found: JobStatus = await until(waiting)
    return found


def cases(world: World) -> dict[str, tuple[str | None, dict[str, Any]]]:
    """What each activity is asked, and the table that it needs; none if it asks no database."""
    tenant_id = world.client.settings.tenant_id
    scope = Scope(tenant_id=tenant_id, agent_id="ada", session_id="s1")
    agent = {"tenant_id": tenant_id, "agent_id": "ada"}
    hearer = {"tenant_id": tenant_id, "agent_id": "eve"}  # whose messages nobody learns meanwhile
    forget = ForgetRequest(**agent, forgetting_id=world.forgetting_id).model_dump()
    (wait,) = world.job.waits
    snapshot = wait.context.memory_snapshot
    assert snapshot is not None
    context = wait.context.model_dump(mode="json")
    open_wait = {
        "wait_id": wait.wait_id,
        "key": wait.key,
        "outcomes": ["resumed"],
        "policy": wait.policy,
        "deadline": wait.deadline.isoformat(),
        "snapshot": snapshot.model_dump(mode="json"),
    }
    origin = {
        "job_id": "j1",
        "wait_id": wait.wait_id,
        "snapshot_id": snapshot.id,
        "sha256": snapshot.sha256,
    }
    request = {"request_id": "r1", "payload": {"said": WORD}}
    now = datetime.now(UTC)

    def of_a_job(name: str, **asked: Any) -> dict[str, Any]:
        operation = Operation(key=f"j1/0/9/{name}/{uuid.uuid4().hex}", name=name, job_id="j1")
        return {
            "scope": scope.model_dump(),
            "operation": operation.model_dump(),
            **asked,
        }

    message = {"role": "user", "content": f"The {WORD} came."}
    return {
        "mnestic.remember": (
            "long_term_record",
            of_a_job(
                "remember",
                write={
                    "message": message,
                    "records": [{"namespace": "animals", "key": "two", "value": {"is": WORD}}],
                },
            ),
        ),
        "mnestic.recall": (
            "long_term_record",
            of_a_job(
                "recall",
                query={
                    "records": [{"namespace": "animals"}],
                    "search": {"question": f"the {WORD}"},
                },
                save_as="found",
            ),
        ),
        "mnestic.open_wait": (
            "memory_snapshot",
            of_a_job(
                "open_wait",
                wait_id="j1/w9",
                key="k",
                policy="rebase",
                context=context | {"inputs": {"said": WORD}},
                opened_at=now.isoformat(),
                deadline=(now + timedelta(days=1)).isoformat(),
            ),
        ),
        "mnestic.extend_wait": (
            "job_wait",
            of_a_job(
                "extend_wait",
                wait_id=wait.wait_id,
                request={"until": (now + timedelta(days=90)).isoformat()},
            ),
        ),
        "mnestic.restore": (
            "memory_snapshot",
            of_a_job("restore", wait=open_wait, request=request, restored_at=now.isoformat()),
        ),
        "mnestic.find_arrival": (None, {"request": request, "opened_at": now.isoformat()}),
        "mnestic.fork": ("memory_snapshot", of_a_job("fork", job_id="j7", origin=origin)),
        "mnestic.think": (
            "working_memory",
            of_a_job(
                "think", prompt=f"What of the {WORD}?", history=5, max_tokens=50, save_as="thought"
            ),
        ),
        "mnestic.keep_result": (
            "tool_result",
            of_a_job("keep_result", node="n", result={"is": WORD}),
        ),
        "mnestic.load_result": (
            "tool_result",
            of_a_job("load_result", ref=world.result),
        ),
        "mnestic.end_job": (
            "episode",
            of_a_job("end_job", plan="p", outcome="completed", cause=WORD, waits=1),
        ),
        "mnestic.read_session": ("resource", of_a_job("read_session", conversation="chat")),
        "mnestic.keep_signals": (
            "resource",
            agent
            | {
                "signals": [
                    {
                        "name": "interaction",
                        "at": now.isoformat(),
                        "size_bytes": 9,
                        "body": {"speaker": "Mara", "content": f"The {WORD} is here."},
                    }
                ]
            },
        ),
        "mnestic.list_facts": ("fact", of_a_job("list_facts", select={})),
        "mnestic.learn_exchange": (
            "resource",
            of_a_job(
                "learn_exchange",
                exchange={"speaker": "Mara", "content": f"I saw a {WORD}.", "source_id": "e1"},
            ),
        ),
        "mnestic.extract": ("ingest_state", hearer),
        "mnestic.learn": ("ingest_state", hearer),
        "mnestic.embed": ("corpus", agent),
        "mnestic.purge_topic": ("resource", forget | {"table": "resource"}),
        "mnestic.finish_forgetting": ("forgetting", forget),
        "mnestic.renew_statistics": ("forgetting", forget),
    }


async def told_of_failures(handle: WorkflowHandle[Any, Any]) -> tuple[list[str], str]:
    """The types of failures of activities in a history, and all of it but what the activities were asked."""
    kinds, rest = [], b""
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failure = event.activity_task_failed_event_attributes.failure
            kinds.append(failure.application_failure_info.type)
        for asked in ("workflow_execution_started", "activity_task_scheduled"):
            if event.HasField(f"{asked}_event_attributes"):
                getattr(event, f"{asked}_event_attributes").ClearField("input")
        rest += event.SerializeToString()
    return kinds, rest.decode(errors="replace")


async def events_of(handle: WorkflowHandle[Any, Any]) -> str:
    """The names of the events of a history."""
    events = [event async for event in handle.fetch_history_events()]
    return " ".join(EventType.Name(event.event_type) for event in events)


async def test_no_activity_takes_memory_into_a_history_or_a_log_when_its_database_fails(
    world: World,
) -> None:
    leaks, vague = [], []
    for name, (table, asked) in cases(world).items():
        codes = CODES if name in {"mnestic.remember", "mnestic.recall"} else CODES[:1]
        for code in (*codes, CUT) if table else ():
            async with world.broken(table or "", code):
                kinds, history = await told_of_failures(await world.run(name, asked))
            log = world.take_log()
            if WORD in history.lower():
                leaks.append(("history", name, code))
            if WORD in log.lower():
                leaks.append(("log", name, code))
            names = "DatabaseUnavailableError" if code == CUT else code
            if len(kinds) != 1 or names not in history or names not in log:
                vague.append((name, code, kinds))

    assert leaks == []
    assert not vague, vague


async def test_every_activity_has_a_case_and_a_name_by_which_it_is_known_as_ours(
    world: World,
) -> None:
    registered = {
        str(activity._Definition.must_from_callable(one).name)
        for one in activities_of(world.client._memory, **MODELS)
    }

    assert set(cases(world)) == registered
    assert all(name.startswith("mnestic.") for name in registered)
    assert {name for name, (table, _) in cases(world).items() if table is None} == {
        "mnestic.find_arrival"
    }


async def test_a_history_and_a_log_quote_no_argument_that_cannot_be_read(world: World) -> None:
    leaks = []
    for name in cases(world):
        kinds, history = await told_of_failures(await world.run(name, [WORD]))
        log = world.take_log()
        assert kinds
        assert "ValidationError" in history
        assert "ValidationError" in log
        leaks += [name] if WORD in history + log else []

    assert leaks == []


async def test_an_error_that_is_not_ours_is_told_by_its_type_and_place_alone(
    world: World,
) -> None:
    for kind in bare_errors():
        asked = {"tenant_id": world.client.settings.tenant_id, "kind": kind}
        handle = await world.run("mnestic.raise_bare", asked)

        kinds, history = await told_of_failures(handle)
        log = world.take_log()
        assert WORD not in history
        assert WORD not in log
        assert kinds == ["" if kind == "ApplicationError" else kind]
        assert "in raise_bare" in history, "the stack trace tells where"
        assert "in raise_bare" in log
        assert kind in log


async def test_a_workflow_whose_code_fails_quotes_nothing_either(
    world: World, until: Until
) -> None:
    for kind in bare_errors().keys() - {"ApplicationError"}:
        handle = await world.start(FailBare.run, kind)

        async def failed(handle: WorkflowHandle[Any, Any] = handle) -> str | None:
            if "WORKFLOW_TASK_FAILED" not in await events_of(handle):
                return None
            return (await told_of_failures(handle))[1]

        history = await until(failed)
        await handle.terminate()
        assert WORD not in history
        assert WORD not in world.take_log()
        assert kind in history
        assert "in run" in history, "the stack trace tells where"


async def test_a_tool_of_a_user_keeps_its_words(world: World) -> None:
    _, history = await told_of_failures(await world.run("texts.decline", "x"))

    assert "the card was declined" in history


async def test_a_topic_is_forgotten_without_a_word_of_it_while_the_database_fails(
    world: World, until: Until
) -> None:
    async def retried() -> str | None:
        raw = (await handle.describe()).raw_description
        is_retried = any(pending.attempt > 1 for pending in raw.pending_activities)
        return raw.SerializeToString().decode(errors="replace") if is_retried else None

    settings = world.client.settings
    async with world.broken("resource", "P0001"):
        handle = await world.client.temporal.start_workflow(
            FORGET_TOPIC,
            ForgetRequest(
                tenant_id=settings.tenant_id, agent_id="ada", forgetting_id=world.forgetting_id
            ),
            id=forget_workflow_id(settings.tenant_id, world.forgetting_id),
            task_queue=settings.task_queue,
        )
        description = await until(retried)
    await handle.result()

    _, history = await told_of_failures(handle)
    assert "P0001" in description
    assert WORD not in description.lower() + history.lower() + world.take_log().lower()


@pytest.mark.parametrize(
    ("table", "command"),
    [
        ("entry", ("memory", "add", f"The {WORD} sleeps.")),
        ("entry", ("memory", "list")),
        ("long_term_record", ("memory", "record", "set", "animals", "one", f'{{"is": "{WORD}"}}')),
        ("resource", ("memory", "forget", WORD, "--dry-run")),
        ("job_wait", ("job", "show", "j1")),
    ],
    ids=lambda value: "-".join(value[:3]) if isinstance(value, tuple) else value,
)
async def test_a_command_that_fails_prints_no_values(
    world: World, cli: Cli, monkeypatch: pytest.MonkeyPatch, table: str, command: tuple[str, ...]
) -> None:
    settings = world.client.settings
    assert settings.database_url is not None
    for name, value in {
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "MNESTIC_LOG_LEVEL": "DEBUG",
    }.items():
        monkeypatch.setenv(name, value)
    who = () if command[0] == "job" else ("--agent", "ada")

    async with world.broken(table, "23514"):
        done = await asyncio.wait_for(asyncio.to_thread(cli, *command, *who), timeout=30)

    assert done.code != 0
    assert "23514" in done.err
    assert "Traceback" in done.err
    assert WORD not in done.err
