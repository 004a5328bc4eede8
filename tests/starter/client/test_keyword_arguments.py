"""Keyword arguments of the memory client: typed for editors and checkers, in step with the models that check them."""

from inspect import Parameter, signature
from pathlib import Path

import pytest
from mypy import api
from pydantic import BaseModel

from mnestic.memory.knowledge.entries import EntryChange, EntryDraft
from mnestic.memory.retrieval.agent_settings import AgentSettings
from mnestic.memory.retrieval.queries import RetrievalQuery
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.starter.client import keyword_arguments as typed
from mnestic.starter.client.memory_client import MemoryClient
from tests.starter.case_files import read_cases

PROJECT = Path(__file__).parents[3]
CASES = read_cases(__file__, "keyword_arguments")


@pytest.mark.parametrize(
    ("arguments", "model", "elsewhere"),
    [
        (typed.SearchArguments, RetrievalQuery, {"text"}),
        (typed.AutoArguments, AutoSelection, {"channel", "max_tokens"}),
        (
            typed.EntryArguments,
            EntryDraft,
            {
                name
                for name, one in signature(MemoryClient.add).parameters.items()
                if one.kind is not Parameter.VAR_KEYWORD
            },
        ),
        (typed.EntryChanges, EntryChange, set()),
        (typed.SettingChanges, AgentSettings, set()),
    ],
)
def test_the_arguments_are_those_that_the_model_knows(
    arguments: type, model: type[BaseModel], elsewhere: set[str]
) -> None:
    assert arguments.__annotations__.keys() == model.model_fields.keys() - elsewhere


@pytest.mark.acceptance
def test_a_type_checker_refuses_what_is_misspelt_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / f"{name}.py" for name in ("right", "wrong")]
    for file in files:
        file.write_text(CASES["snippet"].format(**CASES[file.stem]), encoding="utf-8")
    monkeypatch.chdir(PROJECT)

    told, problems, _ = api.run([*map(str, files), "--follow-imports=silent"])

    lines = [line for line in told.splitlines() if ": error:" in line]
    assert problems == ""
    assert [line for line in lines if "right.py" in line] == [], told
    assert sum("wrong.py" in line for line in lines) == len(CASES["wrong"]), told
