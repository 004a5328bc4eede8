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
    stored = {"retrieval_policy": {"alike": 0.9, "least_cosine": 0.2, "semantic": 0.2, "slope": 1}}

    settings = settings_of(stored)

    weights = {"min_cosine": 0.2, "semantic": 0.2}
    assert settings.model_dump(mode="json")["retrieval_policy"] == weights
    assert settings.policy == RetrievalPolicy.model_validate(weights)
    assert RetrievalPolicy.model_validate({"lending": 9}) == RetrievalPolicy(propagation_seeds=9)


def test_a_weight_is_given_by_one_of_its_names() -> None:
    with pytest.raises(InvalidInputError, match="lending is the old name of propagation_seeds"):
        changed_settings(
            AgentSettings(), {"retrieval_policy": {"lending": 0, "propagation_seeds": 1}}
        )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("auto_retrieve_max_results", 0, "greater than or equal to 1"),
        ("auto_retrieve_min_score", 1.5, "less than or equal to 1"),
        ("auto_retrieve_min_score", float("nan"), "is nan, which is no number from 0 to 1"),
        ("auto_retrieve_enabled", "perhaps", "valid boolean"),
        ("obsidian_context_notes", ["../../etc/passwd"], "inside the vault"),
        ("obsidian_context_notes", ["/etc/passwd"], "inside the vault"),
        ("obsidian_context_notes", "Profile.md", "is no list"),
        ("obsidian_context_tag", "two words", "match pattern"),
        ("retrieval_preset", "best", "'mnestic' or 'leonidas'"),
        (
            "retrieval_policy",
            {"semantics": 1},
            "there is no weight semantics; there are intercept, semantic,",
        ),
        ("retrieval_policy", {"semantic": -101}, "semantic: Input should be greater"),
        ("retrieval_policy", {"full_cosine": 0.0}, "full_cosine is above min_cosine"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_what_is_allowed(
    name: str, value: Any, told: str
) -> None:
    with pytest.raises(InvalidInputError, match=told) as caught:
        changed_settings(AgentSettings(), {name: value})

    assert str(caught.value).startswith(f"setting {name}: ")


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInputError, match="is not known; there are auto_retrieve_enabled, "):
        check_names(["auto_retrieve"])


def test_changes_leave_the_other_settings_as_they_are() -> None:
    first = changed_settings(AgentSettings(), {"obsidian_context_notes": ["Profile.md"]})

    second = changed_settings(first, {"auto_retrieve_min_score": 0.25})

    assert second.obsidian_context_notes == ("Profile.md",)
    assert second.auto_retrieve_min_score == 0.25
