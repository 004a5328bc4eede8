"""Recalls: what a job asks its memory for, and what it gets."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.retrieval.selections import SearchSelection
from mnestic.memory.validation import Name


class RecordSelection(DeferredModel):
    """Long-term records by namespace, all of them or some keys."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    namespace: Name
    keys: tuple[Name, ...] | None = None
    limit: int = Field(100, ge=1, le=1000)


class EpisodeSelection(DeferredModel):
    """The latest episodes of the agent, the session or the job."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    of: Literal["agent", "session", "job"] = "agent"
    limit: int = Field(5, ge=1, le=100)


class RecallQuery(DeferredModel):
    """What to recall: by name, the latest episodes, and what is found for a question; for a reader this alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[RecordSelection, ...] = ()
    episodes: EpisodeSelection | None = None
    search: SearchSelection | None = None

    @model_validator(mode="after")
    def _a_reader_only_searches(self) -> Self:
        check_reader(self)
        return self


def check_reader(query: Any) -> None:
    """Refuses to recall for a reader what none of them sees.

    Raises:
        ValueError: The query has records or episodes beside a search for a reader.
    """
    if query.search and query.search.reader and (query.records or query.episodes):
        raise ValueError(
            "search has a reader, who sees no records and no episodes; recall these without it"
        )


class Recalled(DeferredModel):
    """What was recalled.

    `missing` are keys that were named and do not exist; `namespaces` were read as a whole.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    records: tuple[ReadRecord, ...] = ()
    missing: tuple[ReadRecord, ...] = ()
    namespaces: tuple[ReadRecord, ...] = ()
    episodes: tuple[Episode, ...] = ()

    def as_variable(self) -> dict[str, Any]:
        """What a variable of working memory holds: values by namespace and key, and summaries."""
        records: dict[str, dict[str, Any]] = {}
        for record in self.records:
            records.setdefault(record.namespace, {})[record.key] = record.value
        episodes = [{"summary": e.summary, "at": e.created_at.isoformat()} for e in self.episodes]
        return {"records": records, "episodes": episodes}
