"""What reaches the log of what other packages log: enough to find a fault, and no text of memory."""

import asyncio
import gc
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from mnestic.memory.errors import StoredValueError
from mnestic.starter.logs import configure_logs, format_error, log_uncaught_errors
from mnestic.starter.settings import Settings
from tests.starter.case_files import read_cases

WORD = "quokka"
Read = Callable[[], str]


@pytest.fixture(params=["text", "json"])
def log(
    request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Read]:
    """Logs in one of the two forms, and reads what was logged."""
    told = io.StringIO()
    root, ours = logging.getLogger(), logging.getLogger("mnestic")
    before = root.handlers[:], root.level, ours.level
    monkeypatch.setattr(sys, "stderr", told)
    configure_logs(settings.model_copy(update={"log_format": request.param, "log_level": "DEBUG"}))
    yield told.getvalue
    root.handlers[:], level, ours.level = before
    root.setLevel(level)


async def test_a_task_whose_error_nobody_took(log: Read) -> None:
    async def fail() -> None:
        raise ValueError(f"the {WORD}")

    task = asyncio.create_task(fail())
    await asyncio.wait({task})
    del task
    gc.collect()

    assert "Task exception was never retrieved" in log()
    assert "ValueError" in log()
    assert "test_logs.py" in log()
    assert WORD not in log()


async def test_a_callback_with_its_arguments(log: Read) -> None:
    def fail(said: str) -> None:
        raise KeyError(said)

    asyncio.get_running_loop().call_soon(fail, WORD)
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert "Exception in callback" in log()
    assert "KeyError" in log()
    assert WORD not in log()


def test_an_error_among_the_arguments_and_in_the_sentence(log: Read) -> None:
    error = ValueError(f"the {WORD}")

    logging.getLogger("psycopg").warning("error ignored in rollback on %s: %s", "x", error)
    logging.getLogger("other").warning("failed: %(error)s", {"error": error})
    logging.getLogger("other").warning(error)
    try:
        raise error
    except ValueError:
        logging.getLogger("other").exception(f"it failed: {error}")  # noqa: G004 - as others do

    assert log().count("ValueError: its text is withheld") >= 4
    assert WORD not in log()


def test_libraries_do_not_log_what_they_send(log: Read) -> None:
    logging.getLogger("openai").debug("Request options: %s", WORD)
    logging.getLogger("temporalio.worker").debug("Received workflow activation:\n%s", WORD)
    logging.getLogger("mnestic.extraction").debug("ours is there")

    assert "ours is there" in log()
    assert WORD not in log()


def test_errors_that_nobody_catches(log: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    for hook in ("excepthook", "unraisablehook"):
        monkeypatch.setattr(sys, hook, getattr(sys, hook))
    monkeypatch.setattr("threading.excepthook", None)
    log_uncaught_errors()
    error = ValueError(WORD)

    sys.excepthook(ValueError, error, None)

    assert "an error was not caught" in log()
    assert "ValueError" in log()
    assert WORD not in log()


def test_an_error_of_ours_keeps_its_words_and_its_cause_the_type(log: Read) -> None:
    error = StoredValueError(what="row 7", why="is broken")
    error.__cause__ = ValueError(WORD)

    logging.getLogger("mnestic.worker").error("it failed", exc_info=error)

    assert "row 7 is stored in a form that cannot be read" in log()
    assert "ValueError: its text is withheld" in log()
    assert WORD not in log()
    if log().startswith("{"):
        assert json.loads(log())["message"] == "it failed"


@pytest.mark.parametrize(("statement", "told"), read_cases(__file__, "postgres_errors"))
def test_an_error_of_postgres_is_told_by_its_code_and_names(
    admin_url: str, statement: str, told: str
) -> None:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(admin_url), hide_parameters=True
    )

    with pytest.raises(DBAPIError) as by_sqlalchemy, engine.connect() as connection:
        connection.execute(text(statement))
    with pytest.raises(psycopg.Error) as by_psycopg, psycopg.connect(admin_url) as driver:
        driver.execute(statement.encode())
    engine.dispose()

    for error in (by_sqlalchemy.value, by_psycopg.value):
        assert told in format_error(error)
        assert WORD not in format_error(error)


def test_a_line_of_a_copy_is_not_quoted(admin_url: str) -> None:
    def copy_into(driver: psycopg.Connection) -> None:
        with driver.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            copy.write(f"{WORD}\n")

    with psycopg.connect(admin_url) as driver:
        driver.execute("CREATE TEMP TABLE t (a integer)")
        with pytest.raises(psycopg.Error) as failed:
            copy_into(driver)

    assert "22P02" in format_error(failed.value)
    assert WORD not in format_error(failed.value)
