"""The errors of language models and their servers; `memory/errors.py` draws them in the tree of all errors.

They name what a failed call took.
"""

from typing import TYPE_CHECKING

from mnestic.memory.errors import RefusedError, UnavailableError

if TYPE_CHECKING:
    from mnestic.memory.models.messages import TokenUsage


class ModelRefusedError(RefusedError):
    """A language model, or its server, will not answer this request, or not in a usable form.

    `usage` is what the answer took, when there was one, and `search_units` what some servers bill instead of
    tokens; it was paid for all the same.
    """

    def __init__(
        self, *, model: str, why: str, usage: "TokenUsage | None" = None, search_units: int = 0
    ) -> None:
        self.model, self.usage, self.search_units = model, usage, search_units
        super().__init__(f"model {model} refused: {why}")


class ModelMisconfiguredError(ModelRefusedError):
    """A model's server takes no request of this kind: the key, the model's name or the address is wrong."""


class ModelUnavailableError(UnavailableError):
    """A language model does not answer, or not within its limits.

    `retry_after_s` is what the server asked for, in seconds, when it said so.
    """

    def __init__(self, *, model: str, why: str, retry_after_s: float | None = None) -> None:
        self.model, self.retry_after_s = model, retry_after_s
        super().__init__(f"model {model} does not answer: {why}")
