"""A year in the life of one job: 52 weeks of waiting, and workers that come and go."""

import asyncio
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import TimeSkipper

from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan
from mnestic.starter.settings import Settings

pytestmark = pytest.mark.nightly

JOB, AGENT, SESSION = "year", "ada", "diary"
WEEKS = 52
TENTH = 5  # weeks; the last two are the year's rest
PLAN = Path(__file__).with_name("year.yaml").read_text("utf-8")


class Year:
    """The script of the year, on servers that are up. Only the workers may differ."""

    def __init__(self, senders: Any, start_worker: Callable[..., Any], *, disturbed: bool) -> None:
        self._senders, self._start_worker, self._disturbed = senders, start_worker, disturbed
        self._client: MnesticClient = senders.clients[0]
        self.workers = [start_worker(senders.settings)]

    async def pass_by(self) -> None:
        plan = parse_plan(PLAN, source="test")
        await self._client.start_job(plan, agent_id=AGENT, session_id=SESSION, job_id=JOB)
        for week in range(1, WEEKS + 1):
            await self._senders.until_parked(JOB, waits=week)
            if self._disturbed and week % TENTH == 0:
                await self._replace_worker(week)
            if week % 3 == 0:
                await self._client.memory(AGENT).records.set("world", "season", f"of week {week}")
            if is_missed(week):
                await self._skip(timedelta(days=7, hours=1))
            else:
                await self._skip(timedelta(days=5))
                await self._senders.send(JOB, f"week {week}", last=week == WEEKS)
        await self._client.wait_for_result(JOB)
        await asyncio.to_thread(self.workers[-1].stop)

    async def memory(self) -> dict[str, Any]:
        """What the year has left, without what a clock or chance decides."""
        ada = self._client.memory(AGENT)
        state = await ada.working_memory.get(SESSION)
        records, _ = await ada.records.list(limit=500)
        episodes, _ = await ada.episodes.list(limit=500)
        return {
            "kept": await self._senders.kept(),
            "messages": [(each.role, each.content) for each in state.messages],
            "variables": state.variables,
            "scratchpad": state.scratchpad,
            "version": state.version,
            "records": [(each.namespace, each.key, each.version, each.value) for each in records],
            "episodes": [(each.summary, each.payload) for each in episodes],
        }

    async def _replace_worker(self, week: int) -> None:
        """Ends the worker, by force every other time, and starts another without waiting for it."""
        number = signal.SIGKILL if week % (2 * TENTH) else signal.SIGTERM
        await asyncio.to_thread(self.workers[-1].stop, number)
        self.workers.append(self._start_worker(self._senders.settings))

    async def _skip(self, time: timedelta) -> None:
        """Lets time pass on the job's own clock."""
        workflow_id = job_workflow_id(self._senders.settings.tenant_id, JOB)
        handle = self._client.temporal.get_workflow_handle(workflow_id)
        assert await TimeSkipper(self._client.temporal).fast_forward(handle, time)


def is_missed(week: int) -> bool:
    """Whether nobody writes in that week, so that its wait times out."""
    return week % 4 == 2


async def test_a_year_with_ten_workers_leaves_the_memory_of_an_undisturbed_one(
    new_settings: Callable[[Path], Settings],
    senders: Any,
    start_worker: Callable[..., Any],
    tmp_path: Path,
) -> None:
    async with (
        senders(new_settings(tmp_path / "one")) as one,
        senders(new_settings(tmp_path / "other")) as other,
    ):
        disturbed = Year(one, start_worker, disturbed=True)
        calm = Year(other, start_worker, disturbed=False)

        await asyncio.gather(disturbed.pass_by(), calm.pass_by())
        found, wanted = await disturbed.memory(), await calm.memory()

    missed = [week for week in range(1, WEEKS + 1) if is_missed(week)]
    ends = [identity for identity in found["kept"] if identity[0] == "wait"]
    assert len(disturbed.workers) == 1 + WEEKS // TENTH
    assert len(calm.workers) == 1
    assert found == wanted
    assert set(found["kept"].values()) == {1, WEEKS}  # each once, and as many snapshots as waits
    assert found["kept"]["snapshot", JOB, "true"] == WEEKS
    assert sorted(end[1] for end in ends if end[2] == "timed_out") == sorted(
        f"{JOB}/w{week}" for week in missed
    )
    assert len(one.receipts) == WEEKS - len(missed) == len(ends) - len(missed)
    assert [content for _, content in found["messages"]] == [
        "Nobody wrote." if week in missed else f"week {week}" for week in range(1, WEEKS + 1)
    ]
