"""Episodes, in every implementation of `Memory`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.memory.errors import AlreadyExistsError, InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.ports import Transaction

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def episode(number: int, **fields: Any) -> Episode:
    values = {
        "id": f"e{number}",
        "agent_id": "ada",
        "summary": f"summary {number}",
        "created_at": NOON + timedelta(minutes=number),
    }
    return Episode.model_validate(values | fields)


async def append(begin: Begin, *episodes: Episode) -> None:
    async with begin() as transaction:
        for one in episodes:
            await transaction.episodes.append(one)


async def test_an_episode_comes_back_as_it_was_appended(begin: Begin) -> None:
    written = episode(
        1, session_id="s1", job_id="j1", summary="Grüße 🙂", payload={"a": [1, None, {"b": "ß"}]}
    )

    async with begin() as transaction:
        await transaction.episodes.append(written)

    async with begin(write=False) as transaction:
        assert await transaction.episodes.list_by_agent() == ((written,), None)


async def test_an_episode_is_kept_once(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.episodes.append(episode(1))

    with pytest.raises(AlreadyExistsError, match="e1"):
        await append(begin, episode(2), episode(1, summary="another"))

    async with begin(write=False) as transaction:
        assert await transaction.episodes.list_by_agent() == ((episode(1),), None)


async def test_episodes_are_listed_by_agent_session_and_job(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.episodes.append(episode(1, session_id="s1", job_id="j1"))
        await transaction.episodes.append(episode(2, session_id="s1", job_id="j2"))
        await transaction.episodes.append(episode(3, session_id="s2", job_id="j2"))
        await transaction.episodes.append(episode(4))

    async with begin(write=False) as transaction:
        by_agent, _ = await transaction.episodes.list_by_agent()
        by_session, _ = await transaction.episodes.list_by_session("s1")
        by_job, _ = await transaction.episodes.list_by_job("j2")

    assert [found.id for found in by_agent] == ["e4", "e3", "e2", "e1"]
    assert [found.id for found in by_session] == ["e2", "e1"]
    assert [found.id for found in by_job] == ["e3", "e2"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_hold_every_episode_once_newest_first(begin: Begin, limit: int) -> None:
    async with begin() as transaction:
        for number in (3, 1, 5, 2, 4):
            at = NOON if number in {2, 3, 4} else NOON + timedelta(microseconds=number)
            await transaction.episodes.append(episode(number, session_id="s1", created_at=at))

    found, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        async with begin(write=False) as transaction:
            page, cursor = await transaction.episodes.list_by_session(
                "s1", limit=limit, cursor=cursor
            )
        found.extend(page)
        pages += 1

    assert [one.id for one in found] == ["e5", "e1", "e4", "e3", "e2"]
    assert pages == -(-5 // limit)


async def test_a_cursor_from_elsewhere_is_refused(begin: Begin, bad_time_cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        async with begin(write=False) as transaction:
            await transaction.episodes.list_by_agent(cursor=bad_time_cursor)


@pytest.mark.parametrize("limit", [0, 1001])
async def test_a_limit_outside_of_its_range_is_refused(begin: Begin, limit: int) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        async with begin(write=False) as transaction:
            await transaction.episodes.list_by_agent(limit=limit)


@pytest.mark.parametrize(
    "fields",
    [{"summary": "a\0b"}, {"payload": {"x": "\ud800"}}, {"id": "a\0b"}, {"job_id": "\ud800"}],
)
async def test_text_that_cannot_be_stored_is_refused(begin: Begin, fields: Any) -> None:
    with pytest.raises(InvalidInputError):
        async with begin() as transaction:
            await transaction.episodes.append(episode(1, **fields))


async def test_another_agent_and_another_tenant_see_nothing(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.episodes.append(episode(1, session_id="s1", job_id="j1"))

    for stranger in (begin(agent="eve", write=False), begin(tenant="other", write=False)):
        async with stranger as transaction:
            assert await transaction.episodes.list_by_agent() == ((), None)
            assert await transaction.episodes.list_by_session("s1") == ((), None)
            assert await transaction.episodes.list_by_job("j1") == ((), None)


async def test_an_episode_of_another_agent_is_refused(begin: Begin) -> None:
    with pytest.raises(InvalidInputError, match="eve"):
        async with begin(agent="ada") as transaction:
            await transaction.episodes.append(episode(1, agent_id="eve"))
