"""How a job has memories and notes found: for a prompt, or for a question of its own.

Plans and recalls name a selection, and know nothing else of retrieval.
"""

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.validation import Share


class AutoSelection(DeferredModel):
    """How a job has memories and notes found.

    What is not said is as the agent's settings say. With a `reader` nothing is found that this reader may not read. `asker` is whom the message means by *I*. `question` is what to look for; `max_tokens` holds for
    what is put into a prompt.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    question: str | None = Field(None, min_length=1)
    limit: int | None = Field(None, ge=1, le=100)
    min_score: Share | None = None
    max_tokens: int = Field(1000, ge=0, le=1_000_000)
    notes: bool = True
    channel: str = Field("job", min_length=1, max_length=256)
    reader: str | None = Field(None, min_length=1, max_length=256)
    asker: str | None = Field(None, min_length=1, max_length=256)


class SearchSelection(AutoSelection):
    """What a recall looks for by its meaning and words."""

    question: str = Field(min_length=1)
