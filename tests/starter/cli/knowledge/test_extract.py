"""`mnestic extract` on the command line."""

import io
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.starter.cli.conftest import Cli

SAID = "I moved from Utrecht to Ghent on Monday. My sister Elin is 29."
AT = ("--at", "2024-09-07T09:12:00+02:00")


def given(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_claims_are_shown_in_json_with_their_spans(cli: Cli) -> None:
    told = cli("extract", SAID, "--speaker", "Mara", *AT, "--json").document

    claims = [
        (each["subject"], each["predicate"], each["object"])
        for each in told["claims"]
        if each["kind"] == "affirmed"
    ]
    assert told["extractor"].startswith("english-")
    assert claims == [
        ("Mara", "lived_in", "Utrecht"),
        ("Mara", "lives_in", "Ghent"),
        ("Mara", "sibling", "Elin"),
        ("Elin", "age", "29"),
    ]
    first = told["claims"][0]
    assert first["valid_from"] == "2024-09-02T00:00:00+02:00"
    assert SAID[first["span"]["start"] : first["span"]["end"]] == first["text"]
    assert first["text"] == "I moved from Utrecht to Ghent on Monday"


def test_a_message_comes_from_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "I live in Malmö.".encode())

    told = cli("extract", "-", "--json").document

    assert [each["object"] for each in told["claims"]] == ["Malmö"]
    assert told["claims"][0]["subject"] == "user"


@pytest.mark.parametrize("chosen", ["local", None])
def test_without_parser_and_model_the_remedy_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # as Python remembers what is not there
    if chosen:
        monkeypatch.setenv("MNESTIC_EXTRACTION_MODEL", chosen)

    assert "install mnestic[english]" in cli("extract", SAID).error(code=2)


@pytest.fixture
def modelled(wired: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any) -> Cli:
    """Runs a command on this test run's database, whose models are on the loopback server."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.base_url)
    return wired


def test_the_configured_model_is_asked(modelled: Cli, chat_server: Any) -> None:
    fact = {"message": 1, "words": "My sister Elin", "kind": "affirmed", "subject": "Mara"}
    fact |= {"predicate": "sibling", "object": "Elin", "confidence": 0.9}
    fact |= {"valid_from": None, "valid_to": None}
    chat_server.completes(json.dumps({"facts": [fact, fact | {"words": "My brother Elin"}]}))

    told = modelled("extract", SAID, "--speaker", "Mara", *AT, "--json").document
    shown = modelled("extract", SAID, "--speaker", "Mara", *AT)

    assert told["extractor"] == "openai-2/gpt-5-mini"
    assert [(each["object"], each["text"]) for each in told["claims"]] == [
        ("Elin", "My sister Elin")
    ]
    assert told["refused"] == 1
    assert "1 claim refused" in shown.out


def test_a_call_of_a_model_is_written_down_and_held_to_the_budget_of_the_day(
    modelled: Cli,
    monkeypatch: pytest.MonkeyPatch,
    chat_server: Any,
    rows: Callable[[], dict[str, int]],
) -> None:
    monkeypatch.setenv("MNESTIC_EXTRACTION_TOKENS_PER_DAY", "1")
    chat_server.completes(json.dumps({"facts": []}))

    assert modelled("extract", SAID).code == 0
    refusal = modelled("extract", SAID).error(code=2)

    assert "budget" in refusal
    assert len(chat_server.requests) == rows()["llm_usage"] == 1


def test_a_model_without_a_database_to_write_its_calls_down_is_not_asked(
    modelled: Cli, monkeypatch: pytest.MonkeyPatch, chat_server: Any
) -> None:
    monkeypatch.delenv("MNESTIC_DATABASE_URL")

    assert "MNESTIC_DATABASE_URL is not set" in modelled("extract", SAID).error(code=3)
    assert chat_server.requests == []
