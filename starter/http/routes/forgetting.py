"""Forgetting in two steps: a preview, whose token confirms it."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from mnestic.memory.forgetting.requests import TopicForgotten
from mnestic.starter.http.calls import VERSION, AgentCall, agent_call, agent_write
from mnestic.starter.http.values import RequestBody

router = APIRouter(prefix=VERSION, tags=["forgetting"])


class TopicIn(RequestBody):
    """What to forget."""

    topic: str = Field(
        min_length=1,
        description="A few words; a text matches if it has all of them",
        examples=["Porto flat"],
    )


class Confirmation(TopicIn):
    """A topic, and the token of its preview."""

    token: str = Field(
        description="The `token` of the preview", examples=["3f8c0d1e9a7b4c2d8e6f1a0b5c4d3e2f"]
    )
    keep_out: bool = Field(False, description="Do not learn it again when somebody repeats it")


@router.post("/memory/forget/preview")
async def preview(
    body: TopicIn, call: Annotated[AgentCall, agent_call("forget")]
) -> TopicForgotten:
    """Lists what forgetting a topic would remove and what it would leave; it removes nothing."""
    return await call.memory.preview_forget(body.topic)


@router.post("/memory/forget")
async def forget(
    body: Confirmation, call: Annotated[AgentCall, agent_write("forget")]
) -> TopicForgotten:
    """Forgets a topic permanently, as its preview showed; it answers, with counts alone, when everything is removed."""
    seal = (
        call.access.seal
    )  # the topic is forgotten: what is stored of the request must not tell it
    reserved = await call.reserve(
        {"topic": seal(body.topic), "token": seal(body.token), "keep_out": body.keep_out}
    )
    forgetting = call.memory.forgetting
    started = await forgetting.start(
        body.topic, confirm=body.token, keep_out=body.keep_out, request_id=reserved.id
    )
    return await forgetting.report(body.topic, await started.result())
