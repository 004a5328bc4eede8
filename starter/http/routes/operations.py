"""The operations of an agent's contract: a route for each of the table."""

import json
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import create_model

from mnestic.memory.jobs.memory_operations import (
    OPERATIONS,
    MemoryOperation,
    OperationName,
    access_of,
)
from mnestic.memory.operation_arguments import OperationArguments
from mnestic.memory.scope import Id
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.values import RequestBody


class _OperationRoute(APIRoute):
    """A route whose malformed requests leave an audit row; that of what the key does not allow says what was named."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def noting(request: Request) -> Response:
            request.state.named = await self._named(request)
            try:
                return await handle(request)
            except RequestValidationError as error:
                call = getattr(request.state, "call", None)
                if isinstance(call, AgentCall):
                    await call.memory.operations.note_malformed(
                        cast(OperationName, self.name),
                        error.body,
                        session_id=request.query_params.get("session_id"),
                    )
                raise

        return noting

    async def _named(self, request: Request) -> str:
        """What the arguments name, for the log of what is denied before they are read."""
        try:
            arguments = json.loads(await request.body())
        except (ValueError, RecursionError):  # the route says so
            return ""
        return access_of(cast(OperationName, self.name), arguments)[1]


router = APIRouter(prefix=VERSION, tags=["contracts"], route_class=_OperationRoute)
ReadCall = Annotated[AgentCall, agent_call("read")]
WriteCall = Annotated[AgentCall, agent_write("write")]
SessionId = Annotated[Id, Query(description="The session whose segment it is", examples=["monday"])]


def _add(operation: MemoryOperation) -> None:
    """Adds the route of an operation."""
    body_type = create_model(
        operation.arguments.__name__,
        __base__=(RequestBody, operation.arguments),
        __cls_kwargs__={"defer_build": False},
        __doc__=operation.arguments.__doc__,
    )

    async def run(body: OperationArguments, call: AgentCall, session_id: str | None = None) -> Any:
        arguments = body.model_dump(exclude_unset=True)

        async def work(memory: MemoryClient) -> Any:
            return await memory.operations.do(operation.name, arguments, session_id=session_id)

        if not operation.writes:
            return await work(call.memory)
        request = {"session_id": session_id, **body.model_dump(mode="json")}
        return await call.once(request, operation.result, work)

    async def of_agent(body: OperationArguments, call: AgentCall) -> Any:
        return await run(body, call)

    async def of_session(body: OperationArguments, call: AgentCall, session_id: str) -> Any:
        return await run(body, call, session_id)

    route = of_session if operation.of_session else of_agent
    route.__annotations__ |= {
        "body": body_type,
        "call": WriteCall if operation.writes else ReadCall,
        "session_id": SessionId,
    }
    router.add_api_route(
        f"/contract/{operation.name}",
        route,
        methods=["POST"],
        name=operation.name,
        status_code=HTTPStatus.OK,
        response_model=operation.result,
        summary=operation.summary.rstrip("."),
        description=operation.summary,
    )


for _operation in OPERATIONS.values():
    _add(_operation)
