"""A snapshot whose bytes are not those that were written: the job parks, and nothing is made of it."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

Ask = Callable[..., Awaitable[Any]]
UntilState = Callable[[str, str], Awaitable[None]]
Rows = Callable[[], dict[str, int]]

RESUME = ("--payload", '{"word": "dear"}', "--json")


class Corruption:
    """Edits a snapshot as its owner, with the trigger that forbids it switched off."""

    def __init__(self, admin_url: str, job_id: str) -> None:
        self._url, self._job_id = admin_url, job_id

    def apply(self) -> None:
        """Changes one byte."""
        self._edit(1)

    def remedy(self) -> None:
        """Changes it back."""
        self._edit(-1)

    def _edit(self, step: int) -> None:
        with self._unlocked() as connection:
            edited = connection.execute(
                "UPDATE mnestic.memory_snapshot "
                "SET body = set_byte(body, 10, get_byte(body, 10) + %s) WHERE job_id = %s",
                (step, self._job_id),
            )
            assert edited.rowcount == 1

    @contextmanager
    def _unlocked(self) -> Iterator[psycopg.Connection]:
        with psycopg.connect(self._url) as connection:
            connection.execute("ALTER TABLE mnestic.memory_snapshot DISABLE TRIGGER USER")
            yield connection
            connection.execute("ALTER TABLE mnestic.memory_snapshot ENABLE TRIGGER USER")


@pytest.fixture
def corruption(admin_url: str, waiting: str) -> Corruption:
    found = Corruption(admin_url, waiting)
    found.apply()
    return found


@pytest.mark.usefixtures("corruption")
async def test_a_resume_fails_the_job_parks_and_nothing_is_written(
    waiting: str, ask: Ask, rows: Rows
) -> None:
    before = rows()

    refused = await ask("job", "resume", waiting, *RESUME)
    after = rows()
    shown = (await ask("job", "show", waiting, "--json")).document
    listed = (await ask("job", "list", "--waiting", "--json")).document

    told = refused.error(code=1)
    assert f"job {waiting} was not resumed and needs attention" in told
    assert "is corrupted: its sha256 is" in told
    assert before == after
    assert shown["state"] == "needs_attention"
    assert "is corrupted" in shown["attention"]
    assert [wait["state"] for wait in shown["waits"]] == ["waiting"]
    assert [job["state"] for job in listed["jobs"]] == ["needs_attention"]


async def test_a_resume_succeeds_once_the_row_is_mended(
    waiting: str, ask: Ask, corruption: Corruption, until_state: UntilState
) -> None:
    first = await ask("job", "resume", waiting, "--request-id", "r1", *RESUME)
    corruption.remedy()

    second = await ask("job", "resume", waiting, "--request-id", "r2", *RESUME)
    await until_state(waiting, "completed")

    assert first.code == 1
    assert second.document["request_id"] == "r2"


@pytest.mark.usefixtures("corruption")
async def test_a_job_that_needs_attention_can_be_cancelled(
    waiting: str, ask: Ask, until_state: UntilState, rows: Rows
) -> None:
    await ask("job", "resume", waiting, *RESUME)
    episodes = rows()["episode"]

    await ask("job", "cancel", waiting)
    await until_state(waiting, "cancelled")

    shown = (await ask("job", "show", waiting, "--json")).document
    assert [wait["state"] for wait in shown["waits"]] == ["cancelled"]
    assert rows()["episode"] == episodes + 1


@pytest.mark.usefixtures("corruption")
async def test_a_difference_to_it_is_refused(waiting: str, ask: Ask) -> None:
    refused = await ask("job", "diff", waiting)

    assert "is corrupted: its sha256 is" in refused.error(code=1)
