"""Forgetting: what is to be forgotten, and what became of it.

The words of a topic never travel with a workflow: they stand in the database while it goes on, under the
id that the workflow is given, and are gone with everything else when it is done.
"""

from typing import Literal, get_args

from pydantic import AwareDatetime, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.scope import Id

CLOSE = 0.47
"""The score from which on an entry is about a topic though it has not its words."""

ItemKind = Literal["fact", "entry", "sentence"]
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
LeftKind = Literal["job", "session", "plan", "predicate", "setting", "entry", "statistics"]


class ForgetRequest(DeferredModel):
    """The input of `ForgetTopic`: whose memory, and which forgetting, whose words the database has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    forgetting_id: str


class Forgetting(DeferredModel):
    """A forgetting as it is stored; what it is about is gone once it is done.

    `entries` are those that are about the topic without having its words.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    topic: str | None
    entries: tuple[str, ...] | None = None
    purged: dict[str, int]
    requested_at: AwareDatetime
    finished_at: AwareDatetime | None


class Suppression(DeferredModel):
    """A tombstone that keeps what was forgotten out: when it was forgotten, by whom, and how many names the topic has."""

    model_config = ConfigDict(frozen=True)

    id: str
    actor: str
    requested_at: AwareDatetime
    finished_at: AwareDatetime | None
    name_count: int
    key_id: str


class ForgottenItem(DeferredModel):
    """What goes, as it stands: a fact, an entry, or a sentence out of something that stays.

    `id` is the fact's or the entry's; of a sentence it says where it stands: the table and the row's key. An entry
    that goes `by` its meaning, without the topic's words, has a score (0 to 1). A sentence of an entry or a message says
    what is left of that.
    """

    model_config = ConfigDict(frozen=True)

    kind: ItemKind
    id: str
    text: str
    at: AwareDatetime | None = None
    by: Literal["text", "meaning"] = "text"
    score: float | None = None
    left: str | None = None


class RemainingRow(DeferredModel):
    """What speaks of a topic and is not touched, or an entry that may and could not be compared with it, and why."""

    model_config = ConfigDict(frozen=True)

    kind: LeftKind
    name: str
    why: str


class Purged(DeferredModel):
    """What a forgetting has removed or redacted, by table: the result of `ForgetTopic`.

    `stale` are the tables whose planner statistics may quote it still.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    forgetting_id: str | None = None
    purged: dict[str, int] = Field(default_factory=dict)
    stale: tuple[str, ...] = ()


class TopicForgotten(Purged):
    """What forgetting a topic has removed and redacted, or would, by table.

    `entry` counts entries, `embedding` their vectors, `edge` relations between entries, `fact` facts that
    follow from nothing any more; of other tables see ARCHITECTURE.md. `items` are the facts, entries and
    sentences that go, as they were shown before; nobody else keeps them. `token` stands for them: with it a
    preview is confirmed.
    """

    dry_run: bool = False
    token: str | None = None
    items: tuple[ForgottenItem, ...] = ()
    left: tuple[RemainingRow, ...] = ()

    @property
    def by_meaning(self) -> tuple[str, ...]:
        """The ids of entries that are about the topic without having its words."""
        return tuple(item.id for item in self.items if item.by == "meaning")

    @property
    def is_nothing(self) -> bool:
        """Whether nothing speaks of the topic but what is left."""
        return not any(self.purged.values())
