"""An agent's facts: listed, stated, changed, deleted, and traced back to the messages that they follow from."""

from datetime import UTC, date, datetime, time
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from mnestic.memory.knowledge.facts import FactStatus
from mnestic.memory.knowledge.predicates import predicate_of
from mnestic.starter.http.calls import AgentCall
from mnestic.starter.http.pages.access import ROOT
from mnestic.starter.http.pages.page_calls import agent_page
from mnestic.starter.http.pages.rendering import back_to, back_to_list, render

router = APIRouter()
MEMORY = f"{ROOT}/memory"
FACTS = f"{MEMORY}/facts"
_LIMIT = 50
ReadCall = Annotated[AgentCall, agent_page("read")]
WriteCall = Annotated[AgentCall, agent_page("write")]
Text = Annotated[str, Query(max_length=1000)]
Written = Annotated[str, Form(max_length=1000)]


@router.get(MEMORY)
async def list_facts(
    request: Request,
    call: ReadCall,
    subject: Text = "",
    predicate: Text = "",
    status: FactStatus = "active",
    on: Annotated[date | Literal[""], Query(description="Valid on this day")] = "",
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Lists facts."""
    as_of = None if on == "" else datetime.combine(on, time(12), UTC)
    facts, next_cursor = await call.memory.facts.list(
        subject=subject or None,
        predicate=predicate_of(predicate) if predicate.strip() else None,
        statuses=None if as_of else (status,),
        as_of=as_of,
        limit=_LIMIT,
        cursor=cursor,
    )
    return render(
        request,
        "facts.html",
        facts=facts,
        next_cursor=next_cursor,
        cursor=cursor,
        query={"subject": subject, "predicate": predicate, "status": status, "on": str(on)},
    )


@router.post(FACTS)
async def add_fact(
    call: WriteCall,
    subject: Written,
    predicate: Written,
    value: Written,
) -> Response:
    """States a fact."""
    await call.memory.facts.add(subject, predicate_of(predicate), value)
    return back_to(MEMORY, done="added", agent_id=call.agent_id)


@router.get(f"{FACTS}/{{key}}")
async def show_fact(request: Request, key: str, call: ReadCall) -> Response:
    """A fact, what was so before and after it, and who said so in which message."""
    fact, _ = await call.memory.facts.why(key)
    history = await call.memory.facts.history(fact.subject, fact.predicate)
    claims = [claim for version in history.facts for claim in version.said]
    return render(
        request,
        "fact.html",
        fact=fact,
        history=history,
        messages=await call.memory.facts.messages(claims),
    )


@router.post(f"{FACTS}/{{key}}")
async def change_fact(request: Request, key: str, call: WriteCall, value: Written) -> Response:
    """Changes the object of a fact, as of now."""
    await call.memory.facts.change(key, value.strip())
    return back_to_list(request, MEMORY, done="changed", agent_id=call.agent_id)


@router.post(f"{FACTS}/{{key}}/{{action}}")
async def decide(
    request: Request, key: str, action: Literal["delete", "reactivate"], call: WriteCall
) -> Response:
    """Deletes a fact, or has an archived one hold again."""
    facts = call.memory.facts
    await (facts.delete(key) if action == "delete" else facts.reactivate(key))
    return back_to_list(request, MEMORY, done=f"{action}d", agent_id=call.agent_id)
