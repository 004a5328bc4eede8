"""Forgetting a topic: a person sees everything that would go, and confirms exactly that."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.starter.http.calls import AgentCall
from mnestic.starter.http.pages.facts import MEMORY
from mnestic.starter.http.pages.page_calls import agent_page
from mnestic.starter.http.pages.rendering import render

router = APIRouter()
PATH = f"{MEMORY}/forget"
ForgetCall = Annotated[AgentCall, agent_page("forget")]
Topic = Annotated[str, Form(max_length=1000)]


@router.get(PATH)
async def form(request: Request, call: ForgetCall) -> Response:
    """The form, and what is kept out."""
    return await _page(request, call, topic="", preview=None, done=None)


@router.post(f"{PATH}/preview")
async def preview(request: Request, call: ForgetCall, topic: Topic) -> Response:
    """What would go."""
    found = await call.memory.preview_forget(topic)
    return await _page(request, call, topic=topic, preview=found, done=None)


@router.post(PATH)
async def forget(
    request: Request,
    call: ForgetCall,
    topic: Topic,
    token: Annotated[str, Form(max_length=1000)],
    keep_out: Annotated[bool, Form()] = False,
) -> Response:
    """Forgets what the preview has shown."""
    forgotten = await call.memory.forget(topic, confirm=token, keep_out=keep_out)
    return await _page(request, call, topic="", preview=None, done=forgotten)


@router.post(f"{PATH}/lift")
async def lift(
    request: Request, call: ForgetCall, keep_out: Annotated[str, Form(max_length=300)]
) -> Response:
    """Lets what was kept out be learned again."""
    await call.memory.forgetting.lift_keep_out(keep_out)
    return await _page(request, call, topic="", preview=None, done=None)


async def _page(
    request: Request,
    call: AgentCall,
    *,
    topic: str,
    preview: TopicForgotten | None,
    done: TopicForgotten | None,
) -> Response:
    return render(
        request,
        "forget.html",
        topic=topic,
        preview=preview,
        forgotten=done,
        keep_outs=await call.memory.forgetting.keep_outs(),
    )
