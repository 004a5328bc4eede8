"""Contracts of agents: those in force, their documents and versions, and what a new document would change."""

from http import HTTPStatus
from typing import Annotated

import yaml
from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.contract.versions import ContractPreview
from mnestic.memory.errors import InvalidContractError, RefusedError
from mnestic.starter.contract.contracts import ContractsClient
from mnestic.starter.contract.documents import parse_contract
from mnestic.starter.http.calls import TenantCall, tenant_call
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.rendering import back_to, render

router = APIRouter()
CONTRACTS = f"{ROOT}/contracts"
_VERSIONS = 20
_MOST_CHARS = 524_288
ContractCall = Annotated[TenantCall, tenant_call("admin")]
SelectorField = Annotated[str, Form(max_length=128)]
DocumentField = Annotated[str, Form(max_length=_MOST_CHARS)]


@router.get(CONTRACTS)
async def list_contracts(
    request: Request, call: ContractCall, selector: Annotated[str, Query(max_length=128)] = ""
) -> Response:
    """The contracts in force; with a selector, its document and versions."""
    contracts = _contracts(call)
    document = ""
    if selector:
        latest = await contracts.get(selector)
        document = yaml.safe_dump(latest.document, sort_keys=False, allow_unicode=True)
    return await _show(request, contracts, selector=selector, document=document)


@router.post(f"{CONTRACTS}/preview")
async def preview(
    request: Request, call: ContractCall, selector: SelectorField, document: DocumentField
) -> Response:
    """The problems of a document, or what it would change, drop and refuse."""
    contracts = _contracts(call)
    try:
        found = await contracts.preview(selector, parse_contract(document, source="as written"))
    except RefusedError as error:
        return await _refused(request, contracts, error, selector=selector, document=document)
    return await _show(request, contracts, selector=selector, document=document, preview=found)


@router.post(f"{CONTRACTS}/apply")
async def apply(
    request: Request,
    call: ContractCall,
    selector: SelectorField,
    document: DocumentField,
    base_version: Annotated[int, Form(ge=0)],
) -> Response:
    """Applies a document that was previewed."""
    contracts = _contracts(call)
    try:
        await contracts.apply(
            selector,
            parse_contract(document, source="as written"),
            expected_version=base_version,
        )
    except RefusedError as error:
        return await _refused(request, contracts, error, selector=selector, document=document)
    return back_to(CONTRACTS, selector=selector, done="contract_applied")


@router.post(f"{CONTRACTS}/rollback")
async def rollback(
    call: ContractCall, selector: SelectorField, version: Annotated[int, Form(ge=1)]
) -> Response:
    """Applies an earlier version again."""
    await _contracts(call).rollback(selector, version)
    return back_to(CONTRACTS, selector=selector, done="contract_applied")


async def _refused(
    request: Request,
    contracts: ContractsClient,
    error: RefusedError,
    *,
    selector: str,
    document: str,
) -> Response:
    problems = error.problems if isinstance(error, InvalidContractError) else (str(error),)
    return await _show(request, contracts, selector=selector, document=document, problems=problems)


async def _show(
    request: Request,
    contracts: ContractsClient,
    *,
    selector: str,
    document: str,
    preview: ContractPreview | None = None,
    problems: tuple[str, ...] = (),
) -> Response:
    current = await contracts.list()
    versions = (
        (await contracts.history(selector, limit=_VERSIONS))[0]
        if any(one.selector == selector for one in current)
        else ()
    )
    return render(
        request,
        "contracts.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        contracts=current,
        selector=selector,
        document=document,
        versions=versions,
        preview=preview,
        problems=problems,
    )


def _contracts(call: TenantCall) -> ContractsClient:
    return call.client.contracts(actor=call.access.actor)
