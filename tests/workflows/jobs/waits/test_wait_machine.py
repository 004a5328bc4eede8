"""Random scripts of many hands on one job that waits again and again; nothing is lost or done twice."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

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
from mnestic.memory.jobs.waits import ResumeReceipt
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.conftest import LOOP, Jobs

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
LIMIT = timedelta(seconds=1)


class Hands:
    """Two clients who steer one job, and what they were told."""

    def __init__(self, jobs: Jobs, job_id: str, second: MnesticClient) -> None:
        self.jobs, self.job_id, self.first, self.second = jobs, job_id, jobs, second
        self._rotten = False
        self.told: list[ResumeReceipt] = []
        self.signalled: set[str] = set()
        self.wrong: set[str] = set()

    async def do(self, action: Action) -> None:
        """Does one thing; a refusal is an answer too."""
        what, request_id = action
        match what:
            case "update":
                await self.update(self.first, request_id)
            case "twice":
                both = (self.first, self.second)
                await asyncio.gather(*(self.update(each, request_id) for each in both))
            case "signal":
                await self.signal(request_id)
            case "both":
                await asyncio.gather(self.update(self.first, request_id), self.signal(request_id))
            case "pause" | "unpause" | "poke":
                await getattr(self.second, f"{what}_job")(self.job_id)
            case "rot":
                self.rot_or_mend()
            case "extend" | "override":
                await getattr(self, what)(request_id)
            case _:
                await self.ask_wrongly(what, request_id)

    async def update(self, client: MnesticClient, request_id: str, *, last: bool = False) -> bool:
        """Whether it was answered with a receipt."""
        payload = {"text": request_id, "last": last}
        try:
            receipt = await client.resume_job(
                self.job_id, payload, request_id=request_id, limit=LIMIT
            )
        except (ResumeRefusedError, SnapshotUnverifiedError):
            return False
        self.hear(receipt, request_id)
        return receipt is not None

    def hear(self, receipt: ResumeReceipt | None, request_id: str) -> None:
        """A receipt, or that the request was taken but held by a pause: it is left as a signal."""
        if receipt is None:
            self.signalled.add(request_id)
        else:
            self.told.append(receipt)

    async def signal(self, request_id: str) -> None:
        self.signalled.add(request_id)
        payload = {"text": request_id, "last": False}
        await self.second.resume_job(
            self.job_id, payload, request_id=request_id, by="signal", any_wait=True
        )

    async def extend(self, _: str) -> None:
        with suppress(InvalidInputError):  # it does not wait, or somebody gave it a later one
            await self.second.extend_wait(self.job_id, by=timedelta(minutes=1))

    async def override(self, request_id: str) -> None:
        asked = {"text": request_id, "last": False}
        with suppress(ResumeRefusedError):  # the job needs no attention, or is paused
            receipt = await self.first.override_job(
                self.job_id, asked, reason="agreed", request_id=request_id, limit=LIMIT
            )
            self.hear(receipt, request_id)

    def rot_or_mend(self) -> None:
        self.jobs.rot()
        self._rotten = not self._rotten

    async def calm_down(self) -> None:
        """Lets the job go on, with what it has kept."""
        if self._rotten:
            self.rot_or_mend()
        await self.first.unpause_job(self.job_id)
        await self.first.poke_job(self.job_id)

    async def ask_wrongly(self, what: str, request_id: str) -> None:
        self.wrong.add(request_id)
        wrong = {"sha": "expected_sha256", "outcome": "outcome", "wait": "wait_id"}[what]
        asked = {"text": "wrong", "last": True}
        with pytest.raises(ResumeRefusedError):
            await self.first.resume_job(self.job_id, asked, request_id=request_id, **{wrong: "x"})

    async def all_signals_are_answered(self) -> bool:
        """Whether each has resumed a wait, or is told as refused: another one took its wait."""
        waits = await self.jobs.waits(self.job_id)
        resumed = {wait.receipt.request_id for wait in waits if wait.receipt}
        refused = {told.partition(":")[0] for told in (await self.jobs.status(self.job_id)).refused}
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
    second: MnesticClient, jobs: Jobs, script: list[list[Action]], cancel: bool
) -> None:
    session = uuid.uuid4().hex
    job_id = await jobs.start(LOOP, session_id=session)
    hands = Hands(jobs, job_id, second)

    for together in script:
        await asyncio.gather(*map(hands.do, together))
    await hands.calm_down()
    await jobs.until(hands.all_signals_are_answered)
    if cancel:
        await jobs.cancel_job(job_id)
        with pytest.raises(JobFailedError, match="was cancelled"):
            await jobs.wait_for_result(job_id)
    else:
        await jobs.until(lambda: hands.update(jobs, "last", last=True))
        await jobs.wait_for_result(job_id)

    waits = await jobs.waits(job_id)
    receipts = {wait.receipt.request_id: wait.receipt for wait in waits if wait.receipt}
    texts = [wait.receipt.request_id for wait in waits if wait.receipt]
    kept = await jobs.texts(session)
    assert [wait.wait_id for wait in waits] == [f"{job_id}/w{n}" for n in range(1, len(waits) + 1)]
    assert len(receipts) == len(texts)
    assert all(receipts[told.request_id] == told for told in hands.told)
    assert not hands.wrong & receipts.keys()
    assert kept == texts[: len(kept)]
    assert len(texts) - len(kept) <= cancel
    states = [wait.state for wait in waits]
    assert states == ["resumed"] * len(texts) + ["cancelled"] * (len(waits) - len(texts))
    assert len(waits) - len(texts) <= cancel
