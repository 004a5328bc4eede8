"""The keyword arguments of the memory client that a model of `memory` describes.

An editor completes them, and a type checker refuses others, where a method takes `**arguments:
Unpack[SearchArguments]`. The models check the values and hold the defaults.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryKind, EntryStatus, EntryType
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.retrieval.queries import Archived, Mode, PresetName, Rerank


class SearchArguments(TypedDict, total=False):
    """The fields of `mnestic.memory.retrieval.queries.RetrievalQuery` beside its text."""

    mode: Mode
    limit: int
    min_score: float | None
    rerank: Rerank | None
    kinds: Sequence[EntryKind]
    entry_types: Sequence[EntryType]
    categories: Sequence[Category]
    tags: Sequence[str]
    subject: str | None
    session_id: str | None
    channel: str | None
    speaker: str | None
    statuses: Sequence[EntryStatus]
    since: datetime | None
    until: datetime | None
    as_of: datetime | None
    asked_at: datetime | None
    excluded: Collection[str]
    repeats: bool
    reader: str | None
    asker: str | None


class AutoArguments(TypedDict, total=False):
    """The fields of `mnestic.memory.retrieval.selections.AutoSelection` that override the agent's settings."""

    question: str | None
    limit: int | None
    min_score: float | None
    notes: bool
    reader: str | None
    asker: str | None


class EntryArguments(TypedDict, total=False):
    """The fields of `mnestic.memory.knowledge.entries.EntryDraft` beside the parameters of `add`."""

    tags: Sequence[str]
    aliases: Sequence[str]
    speaker: str | None
    session_id: str
    channel: str
    readers: Sequence[str] | None


class EntryChanges(TypedDict, total=False):
    """The fields of `mnestic.memory.knowledge.entries.EntryChange`."""

    content: str
    entry_type: EntryType
    subjects: Sequence[str]
    tags: Sequence[str]
    aliases: Sequence[str]
    critical: bool
    status: EntryStatus
    parent: str | None
    expires_at: datetime | None


class ImportanceChanges(TypedDict, total=False):
    """The weights of `mnestic.memory.knowledge.importance.ImportancePolicy`."""

    entry_type: float
    recency: float
    access: float
    relations: float
    richness: float
    by_type: Mapping[EntryType, float]
    recent_days: float


class SettingChanges(TypedDict, total=False):
    """The settings of `mnestic.memory.retrieval.agent_settings.AgentSettings`."""

    auto_retrieve_enabled: bool
    auto_retrieve_max_results: int
    auto_retrieve_min_score: float
    obsidian_context_enabled: bool
    obsidian_context_notes: Sequence[str]
    obsidian_context_tag: str
    language: str
    retrieval_preset: PresetName
    rerank: Rerank
    archived: Archived
    retrieval_policy: Mapping[str, float]


def check_known(names: Iterable[str], known: Collection[str], *, what: str) -> None:
    """Refuses names that are not known.

    Raises:
        InvalidInputError: names the unknown and the known ones.
    """
    unknown = sorted(set(names) - set(known))
    if unknown:
        why = f"there is no {', '.join(unknown)}; there are {', '.join(known)}"
        raise InvalidInputError(what=what, why=why)
