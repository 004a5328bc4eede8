"""A worker whose database fails with errors that quote memory, and what it leaves in histories and logs."""

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
from psycopg import sql
from pydantic import BaseModel, SecretStr
from temporalio import activity, workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from mnestic.activities.clients.local import LocalChatModel, LocalSummariser
from mnestic.activities.knowledge.history_items import append_items
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.names import job_workflow_id
from mnestic.memory.ports import Transaction
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.starter.jobs.plans import read_plan
from mnestic.starter.logs import _Text
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.worker import activities_of, make_worker
from tests.security.activity_cases import asked

WORD = "quokka"
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PLAN = read_plan(Path(__file__).with_name("texts.yaml"))
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
            start_to_close_timeout=timedelta(seconds=60),
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

    def asked(self, name: str) -> dict[str, Any]:
        """What an activity is asked of what there is."""
        (wait,) = self.job.waits
        assert wait.context.memory_snapshot is not None
        return asked(
            name,
            self.client.settings.tenant_id,
            snapshot=wait.context.memory_snapshot.model_dump(mode="json"),
            context=wait.context.model_dump(mode="json"),
            wait_id=wait.wait_id,
            result=self.result,
            forgetting_id=self.forgetting_id,
        )

    async def run(self, name: str, given: Any) -> WorkflowHandle[Any, Any]:
        """Runs an activity to its end."""
        handle = await self.start(RunActivity.run, name, given)
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


@asynccontextmanager
async def running_world(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[[], AbstractContextManager[str]],
    folder: Path,
) -> AsyncIterator[World]:
    """A worker on a database of its own, after a job has remembered, learned and waits."""
    with new_database() as admin_url:
        url = SecretStr(admin_url.replace("postgres@", "mnestic_app@"))
        admin = SecretStr(admin_url)
        settings = new_settings(folder / "data").model_copy(
            update={"database_url": url, "database_admin_url": admin}
        )
        memory = PostgresMemory(
            url.get_secret_value(), pool_size=5, cache_bytes=0, backends=OpenBackends({})
        )
        activities = [*activities_of(memory, **MODELS), raise_bare, decline]
        async with (
            await MnesticClient.connect(settings) as client,
            make_worker(
                client.temporal, settings, activities=activities, workflows=[RunActivity, FailBare]
            ),
        ):
            with logged() as log:
                await client.memory("ada").facts.add(WORD, "mayor", "Anne")
                await client.start_job(PLAN, agent_id="ada", session_id="s1", job_id="j1")
                async with asyncio.timeout(30):
                    while (job := await client.describe_job("j1")).state != "waiting":  # noqa: ASYNC110 - nobody tells
                        await asyncio.sleep(0.05)
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
                    items = [{"role": "user", "content": WORD}]
                    await append_items(transaction, "s1", items, batch_id="b", owner="ada")
                    empty = {"sha256": "0", "applied_by": "test"}
                    await transaction.contracts.add("nobody", {"Memory": {}}, **empty)
                made = World(client, admin_url, log, job, forgetting_id, result.model_dump())
                async with begin(agent_id="eve") as transaction:
                    await hear(transaction, "1", owner=f"{settings.tenant_id}/eve")
                hearer = {"tenant_id": settings.tenant_id, "agent_id": "eve"}
                await made.run("mnestic.extract", hearer)
                async with begin(agent_id="eve") as transaction:
                    await hear(transaction, "2", owner=f"{settings.tenant_id}/eve")
                    await transaction.records.set("animals", "one", WORD)
                await made._as_owner(
                    sql.SQL("UPDATE mnestic.long_term_record SET backend_state = 'pending'")
                )
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


async def told_of_failures(handle: WorkflowHandle[Any, Any]) -> tuple[list[str], str]:
    """The types of failures of activities in a history, and all of it but what the activities were asked."""
    kinds, rest = [], b""
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
            failure = event.activity_task_failed_event_attributes.failure
            kinds.append(failure.application_failure_info.type)
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            kinds.append("workflow task")
        for kind in ("workflow_execution_started", "activity_task_scheduled"):
            if event.HasField(f"{kind}_event_attributes"):
                getattr(event, f"{kind}_event_attributes").ClearField("input")
        rest += event.SerializeToString()
    return kinds, rest.decode(errors="replace")
