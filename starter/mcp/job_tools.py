"""The tools of jobs: start one, list those that wait, resume one."""

import asyncio
from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field

from mnestic.memory.jobs.waits import RESUMED, ResumeRequest
from mnestic.starter.jobs.plans import read_given_plan
from mnestic.starter.mcp.memory_tools import READS, Call
from mnestic.starter.mcp.strict_tools import strict_tool
from mnestic.starter.mcp.tool_results import ResumedJob, StartedJob, WaitingJob, WaitingJobPage
from mnestic.starter.mcp.tool_scope import ScopeOf, tool

# A plan may call tools of the worker, which reach the world.
RUNS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


class JobTools:
    """The tools, for the agent that the transport names."""

    def __init__(self, scope_of: ScopeOf) -> None:
        self._scope_of = scope_of

    def tools(self) -> list[Tool]:
        """The tools."""
        return [
            strict_tool(self.start_job, RUNS),
            strict_tool(self.list_waiting_jobs, READS),
            strict_tool(self.resume_job, RUNS),
        ]

    @tool
    async def start_job(
        self,
        ctx: Call,
        *,
        plan: Annotated[
            dict[str, Any] | str, Field(description="The plan, as an object or as YAML.")
        ],
        session_id: Annotated[
            str, Field(description="The session whose working memory the job uses.")
        ],
        inputs: Annotated[
            dict[str, Any] | None, Field(description="Values of the plan's inputs.")
        ] = None,
        job_id: Annotated[
            str | None,
            Field(description="The job's id, so that a second call does not start a second job."),
        ] = None,
    ) -> StartedJob:
        """Starts a job, which runs a plan durably and may wait for an answer for weeks."""
        scope = await self._scope_of(ctx.request_context, "jobs")
        scope.check_jobs()
        started = await scope.client.start_job(
            await asyncio.to_thread(read_given_plan, plan),
            agent_id=scope.agent_id,
            session_id=session_id,
            inputs=inputs,
            job_id=job_id,
        )
        return StartedJob(job_id=started)

    @tool
    async def list_waiting_jobs(
        self,
        ctx: Call,
        *,
        limit: Annotated[int, Field(ge=1, le=50, description="How many at most.")] = 20,
        cursor: Annotated[str | None, Field(description="Where the previous page ended.")] = None,
    ) -> WaitingJobPage:
        """Lists the agent's jobs that wait for an answer or need attention, with what each wants to know."""
        scope = await self._scope_of(ctx.request_context, "jobs")
        scope.check_jobs()
        jobs, more = await scope.client.list_jobs(
            waiting=True, agent_id=scope.agent_id, limit=limit, cursor=cursor
        )
        waiting = [
            WaitingJob.of(job, await scope.client.find_open_wait(job.job_id)) for job in jobs
        ]
        return WaitingJobPage(jobs=waiting, cursor=more)

    @tool
    async def resume_job(
        self,
        ctx: Call,
        *,
        job_id: Annotated[str, Field(description="The job.")],
        outcome: Annotated[str, Field(description="One of the wait's outcomes.")] = RESUMED,
        payload: Annotated[Any, Field(description="The answer, in the form of the wait.")] = None,
        wait_id: Annotated[
            str | None,
            Field(description="The wait that the answer is for, so that it is given to no other."),
        ] = None,
        any_wait: Annotated[
            bool,
            Field(
                description="Without a worker and an open wait, the answer is for the next wait."
            ),
        ] = False,
        request_id: Annotated[
            str | None, Field(description="Of an earlier call, to get its receipt.")
        ] = None,
    ) -> ResumedJob:
        """Answers a waiting job, which then verifies its memory and continues; the same request counts once."""
        from mnestic.starter.jobs.resumes import request_id_of  # noqa: PLC0415 - it imports Temporal

        scope = await self._scope_of(ctx.request_context, "jobs")
        await scope.describe_job(job_id)
        request = ResumeRequest(
            request_id=request_id_of(request_id), wait_id=wait_id, outcome=outcome
        )
        receipt = await scope.client.resume_job(
            job_id,
            payload,
            outcome=outcome,
            request_id=request.request_id,
            wait_id=wait_id,
            any_wait=any_wait,
            actor=scope.actor,
        )
        return ResumedJob.of(job_id, request, receipt)
