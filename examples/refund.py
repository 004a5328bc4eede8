"""A workflow of one's own with durable memory: a refund that a person decides on.

Beside `mnestic up`, run a worker, and ask for a refund in another shell:

    python refund.py
    python refund.py o-17 Mara 120

It waits. Decide on it in a third:

    mnestic job resume refund-o-17 --outcome decided --payload '{"approved": true, "amount": 80, "by": "Ana"}'
"""

import asyncio
import sys
from datetime import timedelta

from pydantic import BaseModel, PositiveInt
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy
from temporalio.worker import Worker

from mnestic import AgentMemory
from mnestic.memory.jobs.agent_job import AgentMemoryState
from mnestic.memory.jobs.recalls import RecallQuery, RecordSelection
from mnestic.memory.jobs.writes import MemoryWrite, RecordWrite
from mnestic.memory.names import job_workflow_id
from mnestic.memory.scope import Scope
from mnestic.starter.settings import load_settings
from mnestic.starter.wiring import find_endpoints
from mnestic.worker import worker_plugin

TASK_QUEUE = "refunds"


class RefundRequest(BaseModel):
    """A customer's request. `state` is what one run passes to the next."""

    order: str
    customer: str
    amount: PositiveInt
    tenant_id: str = "default"
    state: AgentMemoryState | None = None


class Decision(BaseModel):
    """A person's decision; a resume with any other payload is refused."""

    approved: bool
    amount: PositiveInt
    by: str


@workflow.defn
class Refund:
    """Waits for a decision, up to two weeks, and stores it."""

    @workflow.init
    def __init__(self, request: RefundRequest) -> None:
        self._request = request
        self._memory = AgentMemory(
            job_id=f"refund-{request.order}",
            scope=Scope(
                tenant_id=request.tenant_id, agent_id="refunds", session_id=request.customer
            ),
            state=request.state,
            continue_as_new=self._go_on,
        )

    @workflow.run
    async def run(self, request: RefundRequest) -> str:
        """Returns the outcome of the refund; a cancelled refund ends its wait, too."""
        try:
            return await self._decide(request)
        except asyncio.CancelledError:
            await self._memory.end("cancelled")
            raise

    async def _decide(self, request: RefundRequest) -> str:
        if request.state is None:  # otherwise it continues at its wait
            known = RecallQuery(records=(RecordSelection(namespace="refunds"),))
            await self._memory.recall(known, save_as="earlier_refunds")
        answer = await self._memory.wait(
            "decision",
            timeout=timedelta(days=14),
            outcomes=("decided",),
            ask=f"Refund {request.amount} EUR to {request.customer} for order {request.order}?",
            payload_type=Decision,
        )
        decision = answer.payload
        verdict = "nobody decided"
        if decision is not None:
            paid = decision.amount if decision.approved else 0
            verdict = f"{decision.by} decided on {paid} EUR"
        record = RecordWrite(namespace="refunds", key=request.order, value={"decision": verdict})
        await self._memory.remember(MemoryWrite(records=(record,), note=verdict))
        await self._memory.end("completed")
        return verdict

    def _go_on(self, state: AgentMemoryState) -> None:
        workflow.continue_as_new(self._request.model_copy(update={"state": state}))


async def main(arguments: list[str]) -> None:
    """Runs a worker, or starts one refund."""
    settings = load_settings()
    endpoints = find_endpoints(settings)
    async with worker_plugin(settings) as plugin:
        client = await Client.connect(endpoints.temporal_address, plugins=[plugin])
        if not arguments:
            await Worker(client, task_queue=TASK_QUEUE, workflows=[Refund]).run()
            return
        order, customer, amount = arguments
        request = RefundRequest(
            order=order, customer=customer, amount=int(amount), tenant_id=settings.tenant_id
        )
        workflow_id = job_workflow_id(settings.tenant_id, f"refund-{order}")
        result = await client.execute_workflow(
            Refund.run,
            request,
            id=workflow_id,
            task_queue=TASK_QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        )
        print(result)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [] | [_, _, _] as arguments:
            asyncio.run(main(arguments))
        case _:
            sys.exit("usage: python refund.py [ORDER CUSTOMER AMOUNT]")
