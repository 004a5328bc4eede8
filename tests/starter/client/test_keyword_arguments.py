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

PROJECT = Path(__file__).parents[3]
SNIPPET = """\
from mnestic.starter.client.memory_client import MemoryClient


async def use(memory: MemoryClient) -> None:
    await memory.retrieve("Tea?", {retrieve})
    await memory.add("Tea.", {add})
    await memory.entries.change("e", {change_entry})
    await memory.settings.change({change_settings})
    await memory.auto_retrieve("Tea?", "chat", {auto_retrieve})
    await memory.context_for_query("Tea?", {context})
"""
RIGHT = {
    "retrieve": "limit=3, tags=['a'], entry_types=('insight',)",
    "add": "tags=['a'], speaker='Mara'",
    "change_entry": "critical=True, parent=None",
    "change_settings": "rerank='local', auto_retrieve_max_results=3",
    "auto_retrieve": "limit=3, notes=False",
    "context": "limit=3, mode='text'",
}
WRONG = {
    "retrieve": "limt=3",
    "add": "entry_typ='insight'",
    "change_entry": "contnt='x'",
    "change_settings": "nonsense=3",
    "auto_retrieve": "min_scor=0.5",
    "context": "limit='three'",
}


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
@pytest.mark.parametrize(("given", "errors"), [(RIGHT, 0), (WRONG, len(WRONG))])
def test_a_type_checker_refuses_what_is_misspelt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], errors: int
) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET.format(**given), encoding="utf-8")
    monkeypatch.chdir(PROJECT)

    told, problems, _ = api.run([str(snippet), "--follow-imports=silent"])

    assert problems == ""
    lines = [line for line in told.splitlines() if "snippet.py" in line and ": error:" in line]
    assert len(lines) == errors, told
