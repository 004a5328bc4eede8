"""Episodes, in every implementation of `Memory`."""

import pytest

from mnestic.memory.errors import AlreadyExistsError, InvalidInputError
from mnestic.memory.jobs.episodes import Episode
from tests.stores.conftest import Begin
from tests.stores.entry_samples import episode


async def append(begin: Begin, *episodes: Episode) -> None:
    async with begin() as transaction:
        for one in episodes:
            await transaction.episodes.append(one)


async def test_an_episode_is_kept_once_and_comes_back_as_it_was_appended(begin: Begin) -> None:
    payload = {"a": [1, None, {"b": "ß"}]}
    written = episode(1, session_id="s1", job_id="j1", summary="Grüße 🙂", payload=payload)
    await append(begin, written)

    with pytest.raises(AlreadyExistsError, match="e1"):
        await append(begin, episode(2), episode(1, summary="another"))
    with pytest.raises(InvalidInputError, match="eve"):
        await append(begin, episode(3, agent_id="eve"))

    async with begin(write=False) as transaction:
        assert await transaction.episodes.list_by_agent() == ((written,), None)


async def test_episodes_are_listed_by_agent_session_and_job(begin: Begin) -> None:
    await append(
        begin,
        episode(1, session_id="s1", job_id="j1"),
        episode(2, session_id="s1", job_id="j2"),
        episode(3, session_id="s2", job_id="j2"),
        episode(4),
    )

    async with begin(write=False) as transaction:
        by_agent, _ = await transaction.episodes.list_by_agent()
        by_session, _ = await transaction.episodes.list_by_session("s1")
        by_job, _ = await transaction.episodes.list_by_job("j2")

    assert [found.id for found in by_agent] == ["e4", "e3", "e2", "e1"]
    assert [found.id for found in by_session] == ["e2", "e1"]
    assert [found.id for found in by_job] == ["e3", "e2"]
