"""Calls: a request whose key allows what its route does, with the client to do it.

Every route takes one: `AgentCall` for the memory of one agent, `JobCall` for a job, `TenantCall` for the whole tenant.
"""

import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar, get_origin

from fastapi import Depends, Header, Path, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from mnestic.memory.access.api_keys import Action
from mnestic.memory.jobs.agent_job import JobDescription
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.memory.scope import EVERY_AGENT, Id
from mnestic.starter.access.idempotency import ReservedRequest
from mnestic.starter.client.keyword_arguments import SearchArguments
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.metrics import MetricsOfTenants, TenantMetrics
from mnestic.starter.tenants import Access, Tenants

VERSION = "/v1"  # what the paths of the API begin with
_ONCE_OF_API = (
    *("/memory/", "/jobs", "/agents", "/schedules", "/audit", "/maintenance/"),
    "/contract/events",
)
Result = TypeVar("Result", bound=BaseModel)
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,128}$",
        description="Of a write: the same key with the same request is done once; with another request it is a conflict.",
        examples=["b0a7c1e2"],
    ),
]
AgentId = Annotated[
    Id | None,
    Query(
        description="The agent whose memory it is; by default the one that the key is for.",
        examples=["ada"],
    ),
]


ReaderId = Annotated[
    Id | None,
    Query(
        description="Who reads: nothing that this reader may not read is returned; by default the agent itself reads.",
        examples=["user.anna"],
    ),
]


class TenantCall:
    """A request about the whole tenant."""

    agent_id = EVERY_AGENT

    def __init__(self, access: Access, *, route: str, idempotency_key: str | None) -> None:
        self.access, self._key = access, idempotency_key
        self._route = stored_name(route)

    @property
    def client(self) -> MnesticClient:
        """The client of the key's tenant."""
        return self.access.client

    async def reserve(self, request: Mapping[str, Any]) -> ReservedRequest:
        """The id under which Temporal does the request once; it follows from the `Idempotency-Key`.

        Raises:
            IdempotencyConflictError: the key came with another request.
        """
        if self._key is None:
            return ReservedRequest(id=uuid.uuid4().hex, is_new=True)
        return await self.client.reserve_request_id(
            self._key,
            request={"route": self._route, **request},
            agent_id=self.agent_id,
            actor=self.access.actor,
        )

    async def act_once(
        self,
        request: Mapping[str, Any],
        result_type: type[Result],
        act: Callable[[str], Awaitable[Result]],
    ) -> Result:
        """Acts on Temporal with the id of the request, once for an `Idempotency-Key`.

        Raises:
            IdempotencyConflictError: the key came with another request.
        """
        if self._key is None:
            return await act(uuid.uuid4().hex)
        return await self.client.act_once(
            self._key,
            request={"route": self._route, **request},
            result_type=result_type,
            act=act,
            agent_id=self.agent_id,
            actor=self.access.actor,
        )

    async def steer_once(
        self, request: Mapping[str, Any], steer: Callable[[], Awaitable[None]]
    ) -> None:
        """Does what has no result, once for an `Idempotency-Key`; it raises what `act_once` does."""

        async def act(_: str) -> _Done:
            await steer()
            return _Done()

        await self.act_once(request, _Done, act)


class _Done(BaseModel):
    """The result of what has none."""


class AgentCall(TenantCall):
    """A request about the memory of one agent."""

    def __init__(
        self,
        access: Access,
        *,
        agent_id: str,
        route: str,
        idempotency_key: str | None,
        metrics: TenantMetrics,
        reader: str | None = None,
    ) -> None:
        super().__init__(access, route=route, idempotency_key=idempotency_key)
        self.agent_id, self._metrics, self._reader = agent_id, metrics, reader

    @property
    def memory(self) -> MemoryClient:
        """The agent's memory, with the key as the actor, and as the request's reader may read it."""
        return self.client.memory(self.agent_id, actor=self.access.actor, reader=self._reader)

    async def retrieve(self, text: str, arguments: SearchArguments) -> Retrieval:
        """Searches the agent's memory, and counts that."""
        return await self._metrics.retrieve(self.memory, text, arguments)

    async def once(
        self,
        request: Mapping[str, Any],
        result_type: type[Result],
        work: Callable[[MemoryClient], Awaitable[Result]],
    ) -> Result:
        """Does a write, once for an `Idempotency-Key`: work, result and key are one transaction.

        Raises:
            IdempotencyConflictError: the key came with another request.
        """
        if self._key is None:
            return await work(self.memory)
        return await self.client.write_once(
            self.agent_id,
            self._key,
            request={"route": self._route, **request},
            result_type=result_type,
            work=work,
            actor=self.access.actor,
        )


class JobCall(TenantCall):
    """A request about one job."""

    def __init__(
        self, access: Access, *, job: JobDescription, route: str, idempotency_key: str | None
    ) -> None:
        super().__init__(access, route=route, idempotency_key=idempotency_key)
        self.job, self.agent_id = job, job.agent_id

    @property
    def job_id(self) -> str:
        """The job."""
        return self.job.job_id


def agent_call(action: Action) -> Any:
    """The dependency of a route that reads the memory of one agent."""

    async def make(
        request: Request, agent_id: AgentId = None, reader: ReaderId = None
    ) -> AgentCall:
        return await _agent_call(request, action, agent_id=agent_id, reader=reader)

    return Depends(make)


def agent_write(action: Action) -> Any:
    """The dependency of a route that changes the memory of one agent."""

    async def make(
        request: Request, agent_id: AgentId = None, idempotency_key: IdempotencyKey = None
    ) -> AgentCall:
        return await _agent_call(
            request, action, agent_id=agent_id, idempotency_key=idempotency_key
        )

    return Depends(make)


def tenant_call(action: Action) -> Any:
    """The dependency of a route that reads what belongs to the whole tenant."""

    async def make(request: Request) -> TenantCall:
        return await _tenant_call(request, action)

    return Depends(make)


def tenant_write(action: Action) -> Any:
    """The dependency of a route that changes what belongs to the whole tenant."""

    async def make(request: Request, idempotency_key: IdempotencyKey = None) -> TenantCall:
        return await _tenant_call(request, action, idempotency_key)

    return Depends(make)


def agents_call(action: Action) -> Any:
    """The dependency of a route about one agent or, if none is named and the key is for all, about all of them."""

    async def make(request: Request, agent_id: AgentId = None) -> TenantCall:
        access, route = access_of(request), route_of(request)
        chosen = agent_id if agent_id is not None else access.key.scope.only_agent
        await tenants_of(request).require(access, action, agent_id=chosen, target=route)
        call = TenantCall(access, route=route, idempotency_key=None)
        call.agent_id = chosen or EVERY_AGENT
        return call

    return Depends(make)


async def _agent_call(
    request: Request,
    action: Action,
    *,
    agent_id: str | None,
    idempotency_key: str | None = None,
    reader: str | None = None,
) -> AgentCall:
    access, route = access_of(request), route_of(request)
    chosen = agent_id if agent_id is not None else access.key.scope.only_agent
    if chosen is None:
        raise _invalid("query.agent_id", "name an agent; the API key is for several")
    named = getattr(request.state, "named", "")
    target = f"{route}: {named}" if named else route
    await tenants_of(request).require(access, action, agent_id=chosen, target=target)
    call = AgentCall(
        access,
        agent_id=chosen,
        route=route,
        idempotency_key=idempotency_key,
        metrics=_metrics_of(request).of(access.client.settings.tenant_id),
        reader=reader,
    )
    request.state.call = call  # for whoever answers a request whose body is malformed
    return call


async def _tenant_call(
    request: Request, action: Action, idempotency_key: str | None = None
) -> TenantCall:
    access, route = access_of(request), route_of(request)
    await tenants_of(request).require(access, action, agent_id=None, target=route)
    return TenantCall(access, route=route, idempotency_key=idempotency_key)


JobId = Annotated[Id, Path(description="The job", examples=["order-4711"])]


async def _job_call(request: Request, job_id: JobId) -> JobCall:
    return await _make_job_call(request, job_id)


async def _job_write(
    request: Request, job_id: JobId, idempotency_key: IdempotencyKey = None
) -> JobCall:
    return await _make_job_call(request, job_id, idempotency_key)


async def _make_job_call(
    request: Request, job_id: str, idempotency_key: str | None = None
) -> JobCall:
    access, route = access_of(request), route_of(request)
    job = await tenants_of(request).require_job(access, job_id, target=route)
    return JobCall(access, job=job, route=route, idempotency_key=idempotency_key)


OfJob = Annotated[JobCall, Depends(_job_call)]
ChangesJob = Annotated[JobCall, Depends(_job_write)]


def access_of(request: Request) -> Access:
    """The access that the request's key gives."""
    access = request.state.access
    assert isinstance(access, Access)
    return access


def tenants_of(request: Request) -> Tenants:
    """The clients of all tenants."""
    tenants = request.app.state.tenants
    assert isinstance(tenants, Tenants)
    return tenants


def _metrics_of(request: Request) -> MetricsOfTenants:
    metrics = request.app.state.metrics
    assert isinstance(metrics, MetricsOfTenants)
    return metrics


def route_of(request: Request) -> str:
    """The route of a request, without the values in its path."""
    return f"{request.method} {request.scope['route'].path}"


def stored_name(route: str) -> str:
    """The name of a route in requests that are stored: that of before there were versions, so that a key outlives the change."""
    method, path = route.split(" ")
    if path == f"{VERSION}/maintenance/runs/{{kind}}":
        return f"{method} /jobs/{{kind}}"
    rest = path.removeprefix(VERSION)
    return f"{method} /api{rest}" if rest.startswith(_ONCE_OF_API) else f"{method} {rest}"


def refuse_unknown_parameters(request: Request) -> None:
    """Refuses parameters that the route does not have, such as misspelt ones, which would change nothing, and a second value.

    Every router depends on it (`CHECKED`). A person who follows an old link to a page sees the page, unless it would show a reader more than theirs.
    """
    takes_several = _query_parameters(request.scope["route"].dependant)
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if request.state.is_page and name != "reader":
            continue
        if name not in takes_several:
            allowed = ", ".join(sorted(takes_several))
            there = f"there are {allowed}" if allowed else "this request takes none"
            raise _invalid(f"query.{name[:80]}", f"is not known; {there}")
        if times > 1 and not takes_several[name]:
            raise _invalid(f"query.{name}", f"has {times} values; give one")


CHECKED = (Depends(refuse_unknown_parameters),)
"""What all routes depend on."""


def _query_parameters(dependant: Dependant) -> dict[str, bool]:
    """The names of a route's parameters, each with whether it takes several values."""
    own = {
        field.alias: get_origin(field.field_info.annotation) is list
        for field in dependant.query_params
    }
    for one in dependant.dependencies:
        own |= _query_parameters(one)
    return own


def _invalid(path: str, why: str) -> RequestValidationError:
    return RequestValidationError([{"loc": (path,), "msg": why, "type": "value_error"}])
