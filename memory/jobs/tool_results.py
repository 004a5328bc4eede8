"""Results of tools that are too large to travel with a job, which holds a reference instead."""

from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from mnestic.memory.deferred_model import DeferredModel


class ToolResultRef(DeferredModel):
    """A reference to a stored result, with the hash of its canonical JSON by which it is verified.

    One that is `set_aside` comes back for each node that names it; of the others, a node sees the
    reference.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str = Field(pattern=r"^[0-9a-f-]{36}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size_bytes: int = Field(ge=0)
    set_aside: bool = False

    def as_result(self) -> dict[str, Any]:
        """What a job holds in the result's place."""
        return self.model_dump(exclude_defaults=True)


def find_reference(result: Any) -> ToolResultRef | None:
    """The reference that stands in a result's place, or None if it is the result itself."""
    try:
        return ToolResultRef.model_validate(result, strict=True)
    except ValidationError:
        return None
