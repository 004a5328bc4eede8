"""What can be set for an agent, and what each setting is without being set."""

from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError, StoredValueError
from mnestic.memory.retrieval.agent_settings import (
    AgentSettings,
    changed_settings,
    check_names,
    settings_of,
)
from mnestic.memory.retrieval.queries import PRESETS, RetrievalPolicy
from tests.memory.tables import not_refused, tables


def test_what_is_not_set_has_its_default() -> None:
    assert settings_of({}).model_dump(mode="json") == {
        "auto_retrieve_enabled": True,
        "auto_retrieve_max_results": 4,
        "auto_retrieve_min_score": 0.5,
        "obsidian_context_enabled": True,
        "obsidian_context_notes": [],
        "obsidian_context_tag": "mnestic",
        "language": "english",
        "retrieval_preset": "mnestic",
        "rerank": "off",
        "archived": "when_empty",
        "retrieval_policy": {},
    }


def test_what_is_set_is_read_and_what_a_newer_version_set_is_left() -> None:
    settings = settings_of({"auto_retrieve_max_results": 2, "of_a_newer_version": 1})

    assert settings == AgentSettings(auto_retrieve_max_results=2)
    with pytest.raises(StoredValueError, match="auto_retrieve_max_results"):
        settings_of({"auto_retrieve_max_results": "many"})


def test_weights_are_those_of_the_preset_but_for_what_was_set() -> None:
    settings = AgentSettings(retrieval_preset="leonidas", retrieval_policy={"semantic": 0.9})

    assert settings.policy == PRESETS["leonidas"].model_copy(update={"semantic": 0.9})
    assert AgentSettings().policy == RetrievalPolicy()


def test_weights_stored_by_earlier_names_are_read_and_those_that_are_gone_left_out() -> None:
    gone = {"alike": 0.9, "full_cosine": 0.8, "slope": 1}
    stored = {"retrieval_policy": {**gone, "least_cosine": 0.2, "semantic": 0.2}}

    settings = settings_of(stored)

    weights = {"min_cosine": 0.2, "semantic": 0.2}
    assert settings.model_dump(mode="json")["retrieval_policy"] == weights
    assert settings.policy == RetrievalPolicy.model_validate(weights)
    assert RetrievalPolicy.model_validate({"lending": 9}) == RetrievalPolicy(propagation_seeds=9)


def test_a_value_that_cannot_be_is_refused_with_what_is_allowed() -> None:
    nan = ("auto_retrieve_min_score", float("nan"), "is nan, which is no number from 0 to 1")
    rows = [*tables(__file__)["refused"], nan]
    names = [(name, value, f"setting {name}: ") for name, value, _ in rows]

    def change(name: str, value: Any) -> AgentSettings:
        return changed_settings(AgentSettings(), {name: value})

    assert not_refused(rows, change) == not_refused(names, change) == []


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInputError, match="is not known; there are auto_retrieve_enabled, "):
        check_names(["auto_retrieve"])


def test_changes_leave_the_other_settings_as_they_are() -> None:
    first = changed_settings(AgentSettings(), {"obsidian_context_notes": ["Profile.md"]})

    second = changed_settings(first, {"auto_retrieve_min_score": 0.25})

    assert second.obsidian_context_notes == ("Profile.md",)
    assert second.auto_retrieve_min_score == 0.25
