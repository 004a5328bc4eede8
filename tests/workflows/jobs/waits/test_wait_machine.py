"""Random scripts of many hands on one job that waits again and again; nothing is lost or done twice."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mnestic.memory.errors import (
    InvalidInputError,
    JobFailedError,
    ResumeRefusedError,
    SnapshotUnverifiedError,
)
from mnestic.memory.jobs.agent_job import JobStatus
from mnestic.memory.jobs.waits import JobWait, ResumeReceipt
from mnestic.memory.names import STATUS, job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.jobs.plans import parse_plan

Until = Callable[..., Awaitable[Any]]
Action = tuple[str, str]
QUICK = hypothesis_settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.generate],  # each try takes a whole job, so a failure is told as it was found
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
IDS = st.sampled_from(["r1", "r2", "r3", "r4"])
ACTIONS = st.one_of(
    st.tuples(st.sampled_from(["update", "signal", "twice", "both"]), IDS),
    st.tuples(st.sampled_from(["pause", "unpause", "poke", "extend", "rot"]), st.just("")),
    st.tuples(st.just("override"), IDS),
    st.tuples(st.sampled_from(["sha", "outcome", "wait"]), st.uuids().map(str)),
)
SCRIPTS = st.lists(st.lists(ACTIONS, min_size=1, max_size=5), min_size=1, max_size=4)


class Hands:
    """Two clients who steer one job, and what they were told."""

    def __init__(
        self, job_id: str, first: MnesticClient, second: MnesticClient, *, rot: Callable[[], None]
    ) -> None:
        self.job_id, self.clients, self._rot = job_id, (first, second), rot
        self._rotten = False
        self.told: list[ResumeReceipt] = []
        self.signalled: set[str] = set()
        self.wrong: set[str] = set()

    async def do(self, action: Action) -> None:
        """Does one thing; a refusal is an answer too."""
        what, request_id = action
        first, second = self.clients
        match what:
            case "update":
                await self.update(first, request_id)
            case "twice":
                await asyncio.gather(*(self.update(c, request_id) for c in self.clients))
            case "signal":
                await self.signal(second, request_id)
            case "both":
                await asyncio.gather(
                    self.update(first, request_id), self.signal(second, request_id)
                )
            case "pause" | "unpause" | "poke":
                await getattr(second, f"{what}_job")(self.job_id)
            case "extend" | "rot" | "override":
                await self.meddle(what, request_id)
            case _:
                await self.ask_wrongly(first, what, request_id)

    async def update(self, client: MnesticClient, request_id: str, *, last: bool = False) -> bool:
        """Whether it was answered with a receipt."""
        payload = {"text": request_id, "last": last}
        try:
            receipt = await client.resume_job(
                self.job_id, payload, request_id=request_id, limit=timedelta(seconds=1)
            )
        except (ResumeRefusedError, SnapshotUnverifiedError):
            return False
        if receipt is None:  # taken, but held by a pause: it is left with Temporal as a signal
            self.signalled.add(request_id)
            return False
        self.told.append(receipt)
        return True

    async def signal(self, client: MnesticClient, request_id: str) -> None:
        self.signalled.add(request_id)
        payload = {"text": request_id, "last": False}
        await client.resume_job(self.job_id, payload, request_id=request_id, by="signal")

    async def meddle(self, what: str, request_id: str) -> None:
        if what == "rot":
            self.rot_or_mend()
        elif what == "extend":
            await self.extend(self.clients[1])
        else:
            await self.override(self.clients[0], request_id)

    async def override(self, client: MnesticClient, request_id: str) -> None:
        payload = {"text": request_id, "last": False}
        with suppress(ResumeRefusedError):  # the job needs no attention, or is paused
            receipt = await client.override_job(
                self.job_id,
                payload,
                reason="agreed",
                request_id=request_id,
                limit=timedelta(seconds=1),
            )
            if receipt is None:
                self.signalled.add(request_id)
            else:
                self.told.append(receipt)

    def rot_or_mend(self) -> None:
        """Flips a bit of the snapshots, or flips it back."""
        self._rot()
        self._rotten = not self._rotten

    async def calm_down(self) -> None:
        """Lets the job go on, with what it has kept."""
        if self._rotten:
            self.rot_or_mend()
        await self.clients[0].unpause_job(self.job_id)
        await self.clients[0].poke_job(self.job_id)

    async def extend(self, client: MnesticClient) -> None:
        with suppress(InvalidInputError):  # it does not wait, or somebody gave it a later one
            await client.extend_wait(self.job_id, by=timedelta(minutes=1))

    async def ask_wrongly(self, client: MnesticClient, what: str, request_id: str) -> None:
        self.wrong.add(request_id)
        wrong = {"sha": "expected_sha256", "outcome": "outcome", "wait": "wait_id"}[what]
        with pytest.raises(ResumeRefusedError):
            await client.resume_job(
                self.job_id, {"text": "wrong", "last": True}, request_id=request_id, **{wrong: "x"}
            )

    async def waits(self) -> tuple[JobWait, ...]:
        return (await self.clients[0].describe_job(self.job_id)).waits

    async def all_signals_are_answered(self) -> bool:
        """Whether each has resumed a wait, or is told as refused: another one took its wait."""
        resumed = {wait.receipt.request_id for wait in await self.waits() if wait.receipt}
        handle = self.clients[0].temporal.get_workflow_handle(
            job_workflow_id(self.clients[0].settings.tenant_id, self.job_id)
        )
        status = await handle.query(STATUS, result_type=JobStatus)
        refused = {told.partition(":")[0] for told in status.refused}
        return self.signalled <= resumed | refused


@pytest.fixture
async def second(client: MnesticClient) -> AsyncIterator[MnesticClient]:
    async with await MnesticClient.connect(client.settings) as second:
        yield second


@pytest.mark.acceptance
@pytest.mark.usefixtures("worker")
@QUICK
@given(script=SCRIPTS, cancel=st.booleans())
async def test_each_request_that_is_acknowledged_resumes_one_wait_whoever_interferes(
    client: MnesticClient,
    second: MnesticClient,
    until: Until,
    rot: Callable[[], None],
    loop: str,
    script: list[list[Action]],
    cancel: bool,
) -> None:
    session = uuid.uuid4().hex
    plan = parse_plan(loop, source="test")
    job_id = await client.start_job(plan, agent_id="ada", session_id=session)
    hands = Hands(job_id, client, second, rot=rot)

    for together in script:
        await asyncio.gather(*map(hands.do, together))
    await hands.calm_down()
    await until(hands.all_signals_are_answered)
    if cancel:
        await client.cancel_job(job_id)
        with pytest.raises(JobFailedError, match="was cancelled"):
            await client.wait_for_result(job_id)
    else:
        await until(lambda: hands.update(client, "last", last=True))
        await client.wait_for_result(job_id)

    waits = await hands.waits()
    receipts = {wait.receipt.request_id: wait.receipt for wait in waits if wait.receipt}
    texts = [wait.receipt.request_id for wait in waits if wait.receipt]
    kept = [m.content for m in (await client.memory("ada").working_memory.get(session)).messages]
    assert [wait.wait_id for wait in waits] == [f"{job_id}/w{n}" for n in range(1, len(waits) + 1)]
    assert len(receipts) == len(texts)
    assert all(receipts[told.request_id] == told for told in hands.told)
    assert not hands.wrong & receipts.keys()
    assert kept == texts[: len(kept)]
    assert len(texts) - len(kept) <= cancel
    states = [wait.state for wait in waits]
    assert states == ["resumed"] * len(texts) + ["cancelled"] * (len(waits) - len(texts))
    assert len(waits) - len(texts) <= cancel
