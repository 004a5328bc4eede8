"""Resources: raw messages as they came in, append-only, before anybody made sense of them."""

from pydantic import AwareDatetime, BaseModel, ConfigDict


class Resource(BaseModel):
    """One raw message. The same `source_id` in the same session is the same message."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    session_id: str
    source_id: str
    channel: str
    speaker: str
    content: str
    at: AwareDatetime
