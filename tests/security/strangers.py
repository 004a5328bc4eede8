"""What a stranger sends to a workflow: past our client, as bytes, whatever its handlers take."""

import asyncio
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from temporalio.api.common.v1 import Payload, Payloads, WorkflowExecution
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.api.update.v1 import Input, Meta, Request
from temporalio.api.workflowservice.v1 import (
    QueryWorkflowRequest,
    SignalWorkflowExecutionRequest,
    UpdateWorkflowExecutionRequest,
    UpdateWorkflowExecutionResponse,
)
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import read_cases


def json_of(data: str | bytes) -> Payload:
    data = data.encode() if isinstance(data, str) else data
    return Payload(metadata={"encoding": b"json/plain"}, data=data)


def of_encoding(data: bytes, **metadata: bytes) -> Payload:
    return Payload(metadata=metadata, data=data)


NULL = of_encoding(b"", encoding=b"binary/null")
UNREADABLE = of_encoding(b"\xff", encoding=b"binary/strange")
MALFORMED: Mapping[str, list[Payload]] = {
    **{name: [json_of(text)] for name, text in read_cases(__file__, "malformed").items()},
    "null": [NULL],
    "bytes": [of_encoding(b"\x00\xff", encoding=b"binary/plain")],
    "two arguments": [json_of("{}"), json_of("{}")],
    "two, one unreadable": [json_of("{}"), UNREADABLE],
    "nested to the limit": [json_of(f'{{"request_id": "b", "payload": {"[" * 200}{"]" * 200}}}')],
    "a huge number": [json_of(f'{{"request_id": "c", "payload": {"9" * 5_000}}}')],
    "large": [json_of(f'{{"request_id": "{"h" * 1_000_000}"}}')],
    "numbers that grow": [json_of("[" + ",".join(["1e15"] * 200_000) + "]")],
    "no UTF-8": [json_of(b'{"request_id": "\xff\xfe"}')],
    "a foreign encoding": [UNREADABLE],
    "no metadata": [of_encoding(b"{}")],
    "an encoding that is no text": [of_encoding(b"{}", encoding=b"\xff\xfe")],
    "protobuf": [of_encoding(b"\xff", encoding=b"binary/protobuf", messageType=b"no.Such")],
    "protobuf that is something": [
        of_encoding(b"", encoding=b"binary/protobuf", messageType=b"google.protobuf.Empty")
    ],
}
ANY: Mapping[str, list[Payload]] = {"no argument": [], **MALFORMED}


class Stranger:
    """Sends to one workflow what no client of ours would send."""

    def __init__(self, client: MnesticClient, workflow_id: str) -> None:
        self._service, self._namespace = client.temporal.workflow_service, client.temporal.namespace
        self._execution = WorkflowExecution(workflow_id=workflow_id)
        # Temporal takes ten updates of a workflow at once, and one query.
        # What it has no room for at the moment, as while a workflow continues as new, is sent again.
        self._in_flight, self._querying = asyncio.Semaphore(5), asyncio.Semaphore(1)
        self.handle: WorkflowHandle[Any, Any] = client.temporal.get_workflow_handle(workflow_id)

    async def signal(self, name: str, payloads: list[Payload]) -> None:
        request = SignalWorkflowExecutionRequest(
            namespace=self._namespace,
            workflow_execution=self._execution,
            signal_name=name,
            input=Payloads(payloads=payloads),
        )
        await self._service.signal_workflow_execution(request, retry=True)

    async def update(self, name: str, payloads: list[Payload]) -> str | None:
        """Sends an update; returns why it failed."""
        request = UpdateWorkflowExecutionRequest(
            namespace=self._namespace,
            workflow_execution=self._execution,
            request=Request(
                meta=Meta(update_id=uuid.uuid4().hex),
                input=Input(name=name, args=Payloads(payloads=payloads)),
            ),
        )
        async with self._in_flight:
            answer = await self._sent(request)
        return answer.outcome.failure.message if answer.outcome.HasField("failure") else None

    async def _sent(
        self, request: UpdateWorkflowExecutionRequest
    ) -> UpdateWorkflowExecutionResponse:
        """Sends an update up to five times.

        A workflow task fails also of a job in good health, when a signal comes while it goes on in a new
        run. Of a job that is stuck, each one fails.
        """
        pauses_s = [0.05, 0.2, 0.5, 1]
        while True:
            try:
                return await self._service.update_workflow_execution(request, retry=True)
            except RPCError as error:
                if error.status is not RPCStatusCode.FAILED_PRECONDITION or not pauses_s:
                    raise
            await asyncio.sleep(pauses_s.pop(0))

    async def query(self, name: str, payloads: list[Payload]) -> str | None:
        """Sends a query; returns why it failed."""
        request = QueryWorkflowRequest(
            namespace=self._namespace,
            execution=self._execution,
            query=WorkflowQuery(query_type=name, query_args=Payloads(payloads=payloads)),
        )
        try:
            async with self._querying:
                await self._service.query_workflow(request, retry=True)
        except RPCError as error:
            if error.status is RPCStatusCode.INVALID_ARGUMENT:
                return error.message
            raise
        return None

    async def handlers(self) -> tuple[set[str], set[str], set[str]]:
        """The signals, updates and queries that the workflow has handlers for, by its own account."""
        found: WorkflowMetadata = await self.handle.query(
            "__temporal_workflow_metadata", result_type=WorkflowMetadata
        )
        of = found.definition
        kinds = (of.signal_definitions, of.update_definitions, of.query_definitions)
        signals, updates, queries = ({one.name for one in kind} for kind in kinds)
        return signals, updates, queries

    async def send_everything(self, *, but: Collection[str] = ()) -> None:
        """Sends all that is malformed to all handlers; all but signals are refused."""
        signals, updates, queries = await self.handlers()
        for name in sorted(signals.difference(but)):  # a job which null has paused is unpaused
            sent = (self.signal(name or "any", payloads) for payloads in MALFORMED.values())
            await asyncio.gather(*sent)
        for send, names in ((self.update, updates), (self.query, queries)):
            asked = [(name, label) for name in names for label in MALFORMED]
            whys = await asyncio.gather(*(send(name, MALFORMED[label]) for name, label in asked))
            taken = [each for each, why in zip(asked, whys, strict=True) if not why]
            ours = [(name, label) for name, label in taken if not name.startswith("__")]
            assert {label for _, label in ours} <= {"null"}, ours  # of a query: no argument
            assert send == self.query or not ours
