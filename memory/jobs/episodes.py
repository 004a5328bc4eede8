"""Episodes: what happened in a job or a stretch of conversation, in a few sentences."""

from typing import Any

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel


class Episode(DeferredModel):
    """A summary with what it was made from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    agent_id: str
    session_id: str | None = None
    job_id: str | None = None
    summary: str
    payload: dict[str, Any] = Field(default_factory=dict)
    created_at: AwareDatetime
