"""An agent's long-term records: listed by namespace, written and deleted; writes that wait for a decision are listed beside them.

What is shared with the agent has a page of its own, which only shows.
"""

import json
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.errors import InvalidInputError, NotFoundError
from mnestic.memory.jobs.long_term.conflicts import RecordConflict, conflicts_of
from mnestic.memory.sharing.namespaces import NamespaceGrant, SharedRecord
from mnestic.starter.http.calls import AgentCall
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.page_calls import agent_page
from mnestic.starter.http.pages.rendering import back_to, back_to_list, render

router = APIRouter()
RECORDS, SHARED = f"{ROOT}/memory/records", f"{ROOT}/memory/shared"
_LIMIT = 50
ReadCall = Annotated[AgentCall, agent_page("read")]
WriteCall = Annotated[AgentCall, agent_page("write")]
NameField = Annotated[str, Form(max_length=256)]
VersionField = Annotated[int, Form(ge=0)]


@router.get(RECORDS)
async def list_records(
    request: Request,
    call: ReadCall,
    namespace: Annotated[str, Query(max_length=256)] = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """The records of the agent, or of one namespace, and the conflicts of that."""
    records = call.memory.records
    found, next_cursor = await records.list(namespace or None, limit=_LIMIT, cursor=cursor)
    waiting = (await records.list(conflicts_of(namespace), limit=_LIMIT))[0] if namespace else ()
    return render(
        request,
        "records.html",
        records=[(one, json.dumps(one.value, ensure_ascii=False)) for one in found],
        conflicts=[RecordConflict.model_validate(one.value) for one in waiting],
        namespace=namespace,
        next_cursor=next_cursor,
    )


@router.post(RECORDS)
async def write_record(
    call: WriteCall,
    namespace: NameField,
    key: NameField,
    value: Annotated[str, Form(max_length=524_288)],
    version: VersionField,
) -> Response:
    """Writes a record onto the version that was shown; 0 for a new one."""
    try:
        parsed = json.loads(value)
    except ValueError as error:
        raise InvalidInputError(what="value", why=f"is no JSON: {error}") from None
    except RecursionError:
        raise InvalidInputError(what="value", why="is nested too deep") from None
    records = call.memory.records
    metadata, ttl = None, None
    with suppress(NotFoundError):  # the page changes the value alone
        current = await records.get(namespace, key)
        metadata = current.metadata
        if current.expires_at is not None:
            ttl = current.expires_at - current.updated_at
    await records.set(namespace, key, parsed, ttl=ttl, expected_version=version, metadata=metadata)
    return back_to(RECORDS, done="record_written", agent_id=call.agent_id, namespace=namespace)


@router.post(f"{RECORDS}/delete")
async def delete_record(
    request: Request, call: WriteCall, namespace: NameField, key: NameField, version: VersionField
) -> Response:
    """Deletes a record at the version that was shown."""
    await call.memory.records.delete(namespace, key, expected_version=version)
    return back_to_list(request, RECORDS, done="record_deleted", agent_id=call.agent_id)


@router.get(SHARED)
async def list_shared(
    request: Request,
    call: ReadCall,
    namespace: Annotated[str, Query(max_length=128)] = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Who may do what in the namespaces that the agent may read, and the records of one."""
    grants: tuple[NamespaceGrant, ...] = ()
    records: tuple[SharedRecord, ...] = ()
    next_cursor = None
    with suppress(NotFoundError):  # nothing is shared with an agent that has no contract
        shared = await call.memory.contract()
        grants = await shared.list_grants(namespace or None)
        if namespace:
            records, next_cursor = await shared.list_shared(namespace, limit=_LIMIT, cursor=cursor)
    return render(
        request,
        "shared.html",
        grants=grants,
        records=records,
        namespace=namespace,
        next_cursor=next_cursor,
    )
