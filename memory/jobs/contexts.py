"""What a job remembers beside its session: the latest episodes, and the records that it has read.

It is the same before a wait and after it: what a model is given of it, and what templates find in it, must not depend
on whether the job has waited.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.long_term.records import ReadRecord
from mnestic.memory.jobs.recalls import Recalled
from mnestic.memory.jobs.snapshots import EPISODIC_TAIL
from mnestic.memory.packing import PackedPrompt, PromptItem, Tier, pack
from mnestic.memory.quotations import quoted, quoted_block

_RECORDS_SHARE = 0.5  # of the budget, for records; episodes get what those leave
_MOST_RECORDS = 200  # far more than fit into a prompt


class PinnedEpisodes(DeferredModel):
    """The snapshot from which a job takes its episodes after a wait with the policy `pinned`, in place of the current ones."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    snapshot_id: str
    sha256: str


class ContextSelection(DeferredModel):
    """How much of it a model is given: the latest episodes, the read set, and the tokens for both.

    Episodes are `of` the agent, in whichever session, or of the job's session or the job alone.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    of: Literal["agent", "session", "job"] = "agent"
    episodes: int = Field(EPISODIC_TAIL, ge=0, le=100)
    records: bool = True
    max_tokens: int = Field(1000, ge=0, le=1_000_000)


class JobContext(DeferredModel):
    """Episodes, newest first, and the read set with the values that the job has seen."""

    model_config = ConfigDict(frozen=True)

    episodes: tuple[Episode, ...] = ()
    records: tuple[ReadRecord, ...] = ()

    def as_roots(self) -> dict[str, Any]:
        """What templates find as `${memory.episodes}` and `${memory.records.NAMESPACE.KEY}`."""
        return Recalled(records=tuple(self._live()), episodes=self.episodes).as_variable()

    def packed(self, *, count_tokens: Callable[[str], int], max_tokens: int) -> PackedPrompt:
        """The block that a model is given, within a budget."""
        records = tuple(map(_record_piece, self._live()[:_MOST_RECORDS]))
        return pack(
            (
                Tier(name="records", pieces=records, share=_RECORDS_SHARE),
                Tier(name="episodes", pieces=tuple(map(_episode_piece, self.episodes))),
            ),
            max_tokens=max_tokens,
            count_tokens=count_tokens,
            render=lambda lines: quoted_block("remembered", lines),
        )

    def _live(self) -> Sequence[ReadRecord]:
        """The records that were there; a namespace that was read whole is none."""
        return [each for each in self.records if not each.is_namespace and each.value is not None]


def _record_piece(record: ReadRecord) -> PromptItem:
    name = f"{record.namespace}/{record.key}"
    line = quoted({"record": name, "value": record.value})
    return PromptItem(kind="record", name=name, line=line, words=name)


def _episode_piece(episode: Episode) -> PromptItem:
    line = quoted({"episode": episode.summary, "date": f"{episode.created_at:%Y-%m-%d}"})
    return PromptItem(kind="episode", name=episode.id, line=line, words=episode.id)
