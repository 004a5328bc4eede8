"""The settings of an agent, which change at run time: auto-retrieval, language and weights of retrieval.

They are stored with the agent's memory, and hold from the next message on; the settings of a process hold addresses and
secrets.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.language.languages import LANGUAGE
from mnestic.memory.retrieval.queries import (
    PRESETS,
    Archived,
    PresetName,
    Rerank,
    RetrievalPolicy,
    current_weights,
)
from mnestic.memory.validation import Share, problem_of

_TAG = r"^[^\s#,\[\]]{0,128}$"


def _in_vault(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not path.strip() or "\\" in path or "\0" in path or ".." in parts or path.startswith("/"):
        raise ValueError(f"{path!r} is no path inside the vault, such as 'People/Mara.md'")
    return path


NotePath = Annotated[str, Field(max_length=1024), AfterValidator(_in_vault)]


class AgentSettings(DeferredModel):
    """What is in force for an agent: what was set, and of the rest the defaults.

    `retrieval_policy` holds the weights that differ from the preset's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    auto_retrieve_enabled: bool = Field(
        default=True, description="Whether auto-retrieval finds memories and notes"
    )
    auto_retrieve_max_results: int = Field(
        default=4, ge=1, le=100, description="Maximum number of memories in an auto-retrieval"
    )
    auto_retrieve_min_score: Share = Field(
        default=0.5, description="Minimum score of a memory in an auto-retrieval"
    )
    obsidian_context_enabled: bool = Field(
        default=True, description="Whether auto-retrieval adds notes of the vault"
    )
    obsidian_context_notes: tuple[NotePath, ...] = Field(
        default=(),
        max_length=50,
        description="Paths of notes in the vault that auto-retrieval always adds",
    )
    obsidian_context_tag: Annotated[
        str, Field(pattern=_TAG, description="Tag of notes that auto-retrieval adds; empty: none")
    ] = "mnestic"
    language: Annotated[
        str,
        StringConstraints(to_lower=True, min_length=1, max_length=63),
        Field(description="Language of new entries, by its name in Postgres' text search"),
    ] = LANGUAGE
    retrieval_preset: PresetName = Field(
        default="mnestic", description="Preset of the weights of retrieval"
    )
    rerank: Rerank = Field(
        default="off",
        description="Reranker of the best results: local, remote or off",
    )
    archived: Archived = Field(
        default="when_empty",
        description="Whether archived entries are searched where no live one answers: when_empty or never",
    )
    retrieval_policy: Mapping[str, float] = Field(
        default={}, description="Weights that differ from the preset's"
    )

    @property
    def policy(self) -> RetrievalPolicy:
        """All weights of retrieval: the preset's, and those that were set."""
        weights = tuple(sorted(self.retrieval_policy.items()))
        given = {"rerank": self.rerank, "archived": self.archived}
        return _policy(self.retrieval_preset, tuple(given.items()), weights)

    @field_validator("retrieval_policy")
    @classmethod
    def _of_old_names(cls, weights: Mapping[str, float]) -> dict[str, float]:
        return current_weights(weights)

    @field_serializer("retrieval_policy")
    def _as_object(self, weights: Mapping[str, float]) -> dict[str, float]:
        return dict(weights)

    @model_validator(mode="after")
    def _weighs(self) -> Self:
        chosen = {"rerank", "score", "archived"}  # no weights
        weights = [name for name in RetrievalPolicy.model_fields if name not in chosen]
        unknown = self.retrieval_policy.keys() - set(weights)
        if unknown:
            known = ", ".join(weights)
            raise ValueError(f"there is no weight {', '.join(sorted(unknown))}; there are {known}")
        try:
            _ = self.policy
        except ValidationError as error:
            raise ValueError(problem_of(error)) from None
        return self


@lru_cache(1000)  # each question asks for it, and most agents have the same
def _policy(
    preset: PresetName, chosen: tuple[tuple[str, str], ...], weights: tuple[tuple[str, float], ...]
) -> RetrievalPolicy:
    given = PRESETS[preset].model_dump() | dict(chosen) | dict(weights)
    return RetrievalPolicy.model_validate(given)


def settings_of(stored: Mapping[str, Any]) -> AgentSettings:
    """The settings in force, given those that are stored; of a newer version's the known ones.

    Raises:
        StoredValueError: one is stored that cannot be.
    """
    known = {name: value for name, value in stored.items() if name in AgentSettings.model_fields}
    try:
        return AgentSettings.model_validate(known)
    except ValidationError as error:
        raise StoredValueError(what="a setting", why=problem_of(error)) from None


def changed_settings(settings: AgentSettings, changes: Mapping[str, Any]) -> AgentSettings:
    """The settings with changes.

    Raises:
        InvalidInputError: there is no such setting, or it cannot have that value.
    """
    check_names(changes)
    try:
        return AgentSettings.model_validate(settings.model_dump() | dict(changes))
    except ValidationError as error:
        what = "setting" if len(changes) > 1 else f"setting {next(iter(changes), '')}"
        place, _, why = problem_of(error).partition(": ")
        reason = why if why and place in changes and len(changes) == 1 else problem_of(error)
        raise InvalidInputError(what=what, why=reason) from None


def check_language(settings: AgentSettings, known: Collection[str]) -> None:
    """Refuses a language that the database's text search does not know.

    Raises:
        InvalidInputError: lists those that it knows.
    """
    if settings.language not in known:
        why = f"{settings.language} is not known to the database; there are {', '.join(known)}"
        raise InvalidInputError(what="setting language", why=why)


def check_names(names: Iterable[str]) -> None:
    """Refuses names of settings that there are not.

    Raises:
        InvalidInputError: names them, and lists those that there are.
    """
    for name in names:
        if name not in AgentSettings.model_fields:
            known = ", ".join(AgentSettings.model_fields)
            raise InvalidInputError(
                what=f"setting {name[:140]}", why=f"is not known; there are {known}"
            )
