"""Which models the settings choose."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.models.usage import Budget, ModelPrices
from mnestic.starter.extraction_wiring import log_missing_extractor
from mnestic.starter.memory_wiring import notes_of
from mnestic.starter.settings import Settings
from mnestic.stores.notes.folder import FolderVault
from mnestic.stores.notes.rest_api import RestVault
from mnestic.worker import Models, open_models
from tests.starter.case_files import read_cases

API = {"obsidian_url": "https://127.0.0.1:27124", "obsidian_fingerprint": "ab" * 32}
CASES: dict[str, Any] = read_cases(__file__, "models")
LOAD = """
import asyncio, sys
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.retrieval.query_models import QueryModels
from mnestic.starter.memory_wiring import auto_retriever
from mnestic.starter.settings import Settings

auto = auto_retriever(Settings(), QueryModels(Embedders(TokenVectorEmbedder())))
before = set(sys.modules)
asyncio.run(auto.load())
print(*sorted(set(sys.modules) - before))
"""
KEY = {"openai_api_key": SecretStr("sk-x")}


def chosen(tmp_path: Path, **fields: Any) -> Settings:
    """Settings of which only these are not the defaults."""
    nothing = {"openai_api_key": None, "openai_base_url": None}
    if isinstance(key := fields.get("openai_api_key"), str):
        fields["openai_api_key"] = SecretStr(key)
    return Settings(data_dir=tmp_path).model_copy(update=nothing | fields)


async def opened(settings: Settings) -> Models:
    async with open_models(settings) as models:
        return models


@pytest.mark.parametrize(("fields", "extractor", "embedder"), CASES["chosen"], ids=str)
async def test_a_model_is_asked_where_there_is_one(
    tmp_path: Path, fields: dict[str, Any], extractor: str, embedder: str
) -> None:
    models = await opened(chosen(tmp_path, **fields))

    assert (models["extractor"].name, models["embedders"].chosen.name) == (extractor, embedder)


@pytest.mark.parametrize(("fields", "told"), CASES["refused"], ids=str)
async def test_a_model_that_could_not_be_asked_is_refused_at_once(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        await opened(chosen(tmp_path, **fields))


async def test_limits_come_from_the_settings(tmp_path: Path) -> None:
    limits = {
        "extraction_concurrency": 9,
        "extraction_tokens_per_day": 5,
        "extraction_usd_per_day": 0.5,
    }
    prices = ModelPrices.model_validate({"reader": {"input": 1, "output": 1}})
    model = {"extraction_model": "reader", "model_prices": prices}

    none = (await opened(chosen(tmp_path, **KEY)))["limits"]
    some = (await opened(chosen(tmp_path, **KEY, **limits, **model)))["limits"]
    local = (await opened(chosen(tmp_path, extraction_usd_per_day=0.5)))["limits"]

    assert (none.concurrency, none.daily) == (4, None)
    assert (some.concurrency, some.daily) == (9, Budget(tokens=5, usd=0.5))
    assert local.daily == Budget(usd=0.5)  # whatever the price of a model that is not asked


def test_notes_come_from_the_vault_that_is_named(tmp_path: Path) -> None:
    assert notes_of(chosen(tmp_path)) is None
    assert isinstance(notes_of(chosen(tmp_path, obsidian_vault=tmp_path)), FolderVault)
    assert isinstance(notes_of(chosen(tmp_path, **API)), RestVault)


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # as Python remembers what is not there


@pytest.mark.usefixtures("no_parser")
async def test_without_parser_and_model_no_facts_are_extracted_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models = await opened(chosen(tmp_path))

    log_missing_extractor(models["extractor"])

    assert models["extractor"].name == "none"
    (record,) = [each for each in caplog.records if each.name == "mnestic.extraction"]
    assert "install mnestic[english], or set OPENAI_API_KEY" in record.__dict__["why"]
    assert (await opened(chosen(tmp_path, **KEY)))["extractor"].name == "openai-2/gpt-5-mini"


def test_the_first_message_waits_for_the_modules_of_the_stores_without_a_limit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD], capture_output=True, text=True, check=True, timeout=120
    )

    assert "mnestic.stores.postgres.table_stores" in done.stdout.split()
