"""`mnestic memory settings`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")


async def test_a_setting_is_changed_for_one_agent_and_back(ask: Ask) -> None:
    first = (await ask("memory", "settings", "get", *ADA, "--json")).document
    changed = await ask("memory", "settings", "set", "auto_retrieve_max_results", "2", *ADA)
    now = (await ask("memory", "settings", "get", *ADA, "--json")).document
    others = (await ask("memory", "settings", "get", "--agent", "eve", "--json")).document
    word = ("memory", "settings", "set", "auto_retrieve_max_results", "default")
    back = (await ask(*word, *ADA, "--json")).document

    assert first["auto_retrieve_max_results"] == 4
    assert "auto_retrieve_max_results" in changed.out
    assert now == first | {"auto_retrieve_max_results": 2}
    assert others == first
    assert back == {"auto_retrieve_max_results": 4}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("auto_retrieve_enabled", "false", False),
        ("obsidian_context_notes", '["Profile.md", "Carrière.md"]', ["Profile.md", "Carrière.md"]),
        ("obsidian_context_tag", "2026/work", "2026/work"),
        ("obsidian_context_tag", "", ""),
        ("language", "German", "german"),
        ("language", "simple", "simple"),
        ("retrieval_preset", "leonidas", "leonidas"),
        ("retrieval_policy", '{"semantic": 0.9}', {"semantic": 0.9}),
    ],
)
async def test_values_are_read_as_what_the_setting_is(
    ask: Ask, name: str, text: str, value: Any
) -> None:
    said = (await ask("memory", "settings", "set", name, text, *ADA, "--json")).document
    kept = (await ask("memory", "settings", "get", name, *ADA, "--json")).document

    assert said == kept == {name: value}


async def test_all_settings_are_reset_at_once(ask: Ask) -> None:
    first = (await ask("memory", "settings", "get", *ADA, "--json")).document
    await ask("memory", "settings", "set", "auto_retrieve_enabled", "false", *ADA)
    await ask("memory", "settings", "set", "retrieval_preset", "leonidas", *ADA)

    back = (await ask("memory", "settings", "reset", "--all", *ADA, "--json")).document

    assert back == first


async def test_a_value_is_shown_as_it_can_be_set(ask: Ask) -> None:
    notes = '["Mara.md", "Größe.md"]'
    await ask("memory", "settings", "set", "obsidian_context_notes", notes, *ADA)

    shown = await ask("memory", "settings", "get", "obsidian_context_notes", *ADA)

    assert notes in shown.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("get", "colour"), "there are auto_retrieve_enabled, auto_retrieve_max_results,"),
        (("set", "colour", "red"), "there are auto_retrieve_enabled, auto_retrieve_max_results,"),
        (("set", "auto_retrieve_min_score", "2"), "less than or equal to 1"),
        (("set", "auto_retrieve_max_results", "many"), "valid integer"),
        (("set", "obsidian_context_notes", '["../secrets.md"]'), "inside the vault"),
        (("set", "obsidian_context_notes", "Mara.md"), "is no list"),
        (("set", "retrieval_policy", "x"), "is no object"),
        (("set", "language", "klingon"), "there are arabic, armenian, "),
        (("set", "language", ""), "at least 1 character"),
        (("reset", "colour"), "there are auto_retrieve_enabled"),
        (("reset",), "--all"),
    ],
)
async def test_what_cannot_be_set_is_one_clear_error(
    ask: Ask, words: tuple[str, ...], why: str
) -> None:
    done = await ask("memory", "settings", *words, *ADA)

    assert why in done.error(code=2)
