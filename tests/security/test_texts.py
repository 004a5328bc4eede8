"""No text of memory gets into Temporal's history, the logs or the terminal by way of an error.

Every activity of the worker is run against a database whose errors quote a marked word, as Postgres quotes
rows and values; a new activity without a case fails.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio import activity
from temporalio.client import WorkflowHandle

from mnestic.memory.forgetting.requests import ForgetRequest
from mnestic.memory.names import FORGET_TOPIC, forget_workflow_id
from mnestic.starter.settings import Settings
from mnestic.worker import activities_of
from tests.security.activity_cases import ACTIVITIES
from tests.security.failing_world import (
    CODES,
    CUT,
    MODELS,
    WORD,
    FailBare,
    World,
    bare_errors,
    running_world,
    told_of_failures,
)
from tests.starter.cli.conftest import Cli
from tests.starter.cli.conftest import cli as cli  # noqa: PLC0414 - a fixture
from tests.workflows.conftest import Until
from tests.workflows.conftest import until as until  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.asyncio(loop_scope="module")
TABLES = {name: case["table"] for name, case in ACTIVITIES.items() if "table" in case}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_world(
    new_settings: Callable[[Path], Settings],
    new_database: Callable[[], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[World]:
    """A world whose memory nothing changes, since its database fails, but for the last test, which forgets."""
    folder = tmp_path_factory.mktemp("world")
    async with running_world(new_settings, new_database, folder) as made:
        yield made


@pytest.fixture
def world(shared_world: World) -> World:
    """The shared world, whose log is empty."""
    shared_world.take_log()
    return shared_world


@pytest.mark.acceptance
async def test_no_activity_takes_memory_into_a_history_or_a_log_when_its_database_fails(
    world: World,
) -> None:
    leaks, vague = [], []
    for name, table in TABLES.items():
        codes = CODES if name in {"mnestic.remember", "mnestic.recall"} else CODES[:1]
        for code in (*codes, CUT) if table else ():
            async with world.broken(table or "", code):
                kinds, history = await told_of_failures(await world.run(name, world.asked(name)))
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

    assert set(TABLES) == registered
    assert all(name.startswith("mnestic.") for name in registered)
    withstand = {"mnestic.find_arrival", "mnestic.auto_retrieve"}
    assert {name for name, table in TABLES.items() if table is None} == withstand


async def test_a_history_and_a_log_quote_no_argument_that_cannot_be_read(world: World) -> None:
    leaks = []
    for name in TABLES:
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
            kinds, history = await told_of_failures(handle)
            return history if kinds else None

        history = await until(failed)
        await handle.terminate()
        assert WORD not in history
        assert WORD not in world.take_log()
        assert kind in history
        assert "in run" in history, "the stack trace tells where"


async def test_a_tool_of_a_user_keeps_its_words(world: World) -> None:
    _, history = await told_of_failures(await world.run("texts.decline", "x"))

    assert "the card was declined" in history


async def test_a_command_that_fails_prints_no_values(
    world: World, cli: Cli, monkeypatch: pytest.MonkeyPatch
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

    for table, command in (
        ("entry", f"memory add {WORD} --agent ada"),
        ("entry", "memory list --agent ada"),
        ("long_term_record", f"memory record set animals one {WORD} --agent ada"),
        ("resource", f"memory forget {WORD} --dry-run --agent ada"),
        ("job_wait", "job show j1"),
    ):
        async with world.broken(table, "23514"):
            done = await asyncio.wait_for(asyncio.to_thread(cli, *command.split()), timeout=30)
        assert done.code != 0, command
        assert "23514" in done.err
        assert "Traceback" in done.err
        assert WORD not in done.err


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
