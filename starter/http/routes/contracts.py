"""Contracts: what an agent's memory is, as a document that is checked, applied, compared and taken back."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, StrictInt

from mnestic.memory.contract.checks import ContractProblem, check
from mnestic.memory.contract.differences import Change
from mnestic.memory.contract.document import json_schema
from mnestic.memory.contract.versions import ContractPreview, ContractVersion
from mnestic.memory.errors import NotFoundError
from mnestic.starter.contract.contracts import ContractsClient
from mnestic.starter.http.calls import (
    VERSION,
    AgentCall,
    TenantCall,
    agent_call,
    agents_call,
    tenant_call,
    tenant_write,
)
from mnestic.starter.http.paging import Cursor, Page, PageLimit, page_of
from mnestic.starter.http.values import RequestBody

router = APIRouter(prefix=VERSION, tags=["contracts"])
ReadCall = Annotated[TenantCall, agents_call("read")]
AdminCall = Annotated[TenantCall, tenant_call("admin")]
AdminWrite = Annotated[TenantCall, tenant_write("admin")]
Selector = Annotated[
    str,
    Path(
        description="An agent's id, or a pattern of ids in which `*` stands for any characters",
        examples=["agent.seo.*"],
    ),
]
VersionNumber = Annotated[int, Query(ge=1, description="A version")]
_EXAMPLE = {
    "Memory": {
        "short_term": {
            "enabled": True,
            "max_tokens": 100000,
            "segments": [{"segment_id": "conversation", "max_tokens": 30000}],
        }
    }
}


class ContractIn(RequestBody):
    """A contract as a document."""

    document: dict[str, Any] = Field(examples=[_EXAMPLE])


class ContractToApply(ContractIn):
    """A contract to apply. `expected_version` is the version that it follows, 0 for the first."""

    expected_version: StrictInt | None = Field(None, ge=0)


class RollbackIn(RequestBody):
    """The version to apply again."""

    version: StrictInt = Field(ge=1, examples=[1])


class Contracts(BaseModel):
    """The contracts in force, by selector."""

    items: tuple[ContractVersion, ...]


class ContractProblems(BaseModel):
    """The problems of a document; a sound one has none."""

    problems: tuple[ContractProblem, ...]


class ContractChanges(BaseModel):
    """What changed from one version to another."""

    changes: tuple[Change, ...]


@router.get("/contract/schema")
async def schema(call: ReadCall) -> dict[str, Any]:  # noqa: ARG001 - the key is checked
    """The JSON Schema of the document."""
    return json_schema()


@router.post("/contract/check")
async def check_document(body: ContractIn, call: ReadCall) -> ContractProblems:  # noqa: ARG001 - the key is checked
    """Checks a document; each problem has its path, and says what is allowed."""
    return ContractProblems(problems=check(body.document))


@router.get("/contract")
async def contract(call: Annotated[AgentCall, agent_call("read")]) -> ContractVersion:
    """The contract in force for an agent: its own one, or that of the most specific pattern."""
    found = await _contracts(call).find_for(call.agent_id)
    if found is None:
        raise NotFoundError(what="contract for agent", name=call.agent_id)
    return found


@router.get("/contracts")
async def list_contracts(call: AdminCall) -> Contracts:
    """Lists the contracts in force."""
    return Contracts(items=await _contracts(call).list())


@router.get("/contracts/{selector}")
async def get_contract(
    selector: Selector, call: AdminCall, version: VersionNumber | None = None
) -> ContractVersion:
    """The contract of a selector in force, or one of its versions."""
    return await _contracts(call).get(selector, version=version)


@router.get("/contracts/{selector}/versions")
async def list_versions(
    selector: Selector, call: AdminCall, *, limit: PageLimit = 100, cursor: Cursor = None
) -> Page[ContractVersion]:
    """Lists the versions of a contract, the latest first."""
    return page_of(await _contracts(call).history(selector, limit=limit, cursor=cursor))


@router.get("/contracts/{selector}/diff")
async def diff(
    selector: Selector,
    call: AdminCall,
    *,
    before: VersionNumber,
    after: VersionNumber | None = None,
) -> ContractChanges:
    """What changed from one version to another, by default to the latest."""
    return ContractChanges(
        changes=await _contracts(call).diff(selector, before=before, after=after)
    )


@router.post("/contracts/{selector}/preview")
async def preview(selector: Selector, body: ContractIn, call: AdminCall) -> ContractPreview:
    """What a document would change, and what it would drop or refuse; nothing is changed."""
    return await _contracts(call).preview(selector, body.document)


@router.put("/contracts/{selector}")
async def apply(selector: Selector, body: ContractToApply, call: AdminWrite) -> ContractVersion:
    """Makes a document the contract of an agent or a pattern; the same document again changes nothing."""

    async def act(_: str) -> ContractVersion:
        return await _contracts(call).apply(
            selector, body.document, expected_version=body.expected_version
        )

    return await call.act_once({"selector": selector, **body.model_dump()}, ContractVersion, act)


@router.post("/contracts/{selector}/rollback")
async def rollback(selector: Selector, body: RollbackIn, call: AdminWrite) -> ContractVersion:
    """Applies an earlier version again, as a new one."""

    async def act(_: str) -> ContractVersion:
        return await _contracts(call).rollback(selector, body.version)

    return await call.act_once({"selector": selector, **body.model_dump()}, ContractVersion, act)


@router.delete("/contracts/{selector}", status_code=HTTPStatus.NO_CONTENT)
async def remove(selector: Selector, call: AdminWrite) -> None:
    """Takes a contract away; its versions stay."""

    async def steer() -> None:
        await _contracts(call).remove(selector)

    await call.steer_once({"selector": selector}, steer)


def _contracts(call: TenantCall) -> ContractsClient:
    return call.client.contracts(actor=call.access.actor)
