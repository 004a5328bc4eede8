"""`mnestic config`: what is in force, from where, with secrets masked."""

from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.embedded.connection import load_profile
from mnestic.starter.settings import Settings, environment_name, load_settings, source_of
from tests.starter.cli.conftest import Cli


def in_force(cli: Cli, *words: str) -> dict[str, Any]:
    """The settings that the command prints, by name."""
    return {row["setting"]: row for row in cli(*words, "config", "--json").document}


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {field: environment_name(field) for field in Settings.model_fields}
    monkeypatch.chdir(tmp_path)
    for name in names.values():
        monkeypatch.delenv(name, raising=False)
    unset = load_settings()
    for name in names.values():
        monkeypatch.setenv(name, "")
    lines = "".join(f"{name}=\n" for name in names.values())
    (tmp_path / ".env").write_text(lines, encoding="utf-8")

    settings = load_settings()

    assert settings == unset
    assert {field: source_of(settings, field) for field in names} == dict.fromkeys(names, "default")


def test_an_old_name_of_a_setting_is_read_with_a_warning(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = "MNESTIC_LEARNING_CONCURRENCY", "MNESTIC_EXTRACTION_CONCURRENCY"
    monkeypatch.setenv(old, "7")

    settings, done = load_settings(), cli("config")
    source = source_of(settings, "extraction_concurrency")
    monkeypatch.setenv(new, "9")

    assert (settings.extraction_concurrency, source) == (7, f"environment ({old})")
    assert load_settings().extraction_concurrency == 9
    assert done.err == f"warning: {old} is an old name; set {new} instead\n"


def test_a_bad_value_under_an_old_name_is_told_by_that_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MNESTIC_LEARNING_CONCURRENCY", "many")

    with pytest.raises(ConfigurationError, match=r"^MNESTIC_LEARNING_CONCURRENCY: .*not 'many'"):
        load_settings()


def test_every_setting_has_a_source_and_a_meaning_and_what_is_none_is_warned_of(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = "# MNESTIC_LOG_LEVEL=nobody\nMNESTIC_EMBEDDING_MODEL=of-the-file\nMNESTIC_LOGLEVEL=x\n"
    (tmp_path / ".env").write_text(lines, encoding="utf-8")
    variables = {
        "MNESTIC_CHAT_MODEL": "mine",
        "MNESTIC_TENANT_ID": "of the environment",
        "MNESTIC_EMBEDDING_MODEL": "",
        "MNESTIC_TENNANT_ID": "very-secret",
        "mnestic_datadir": "very-secret",
        "MNESTIC_OPENAI_API_KEY": "very-secret",
        "MNESTIC_QQQ": "very-secret",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    rows = in_force(cli, "--tenant", "acme")
    warned = cli("--tenant", "acme", "config").err

    assert len(rows) == len(Settings.model_fields)
    assert all(row["about"] for row in rows.values())
    sources = {name: (rows[name]["value"], rows[name]["source"]) for name in list(variables)[:3]}
    assert sources == {
        "MNESTIC_CHAT_MODEL": ("mine", "environment (MNESTIC_CHAT_MODEL)"),
        "MNESTIC_TENANT_ID": ("acme", "option"),
        "MNESTIC_EMBEDDING_MODEL": ("of-the-file", ".env (MNESTIC_EMBEDDING_MODEL)"),
    }
    assert rows["MNESTIC_LOG_LEVEL"]["source"] == "default"
    hints = {
        "MNESTIC_TENNANT_ID": "did you mean MNESTIC_TENANT_ID?",
        "mnestic_datadir": "did you mean MNESTIC_DATA_DIR?",
        "MNESTIC_OPENAI_API_KEY": "did you mean OPENAI_API_KEY?",
        "MNESTIC_QQQ": "`mnestic config` lists those that there are",
        "MNESTIC_LOGLEVEL in .env": "did you mean MNESTIC_LOG_LEVEL?",
    }
    assert sorted(warned.splitlines()) == sorted(
        f"warning: {name} is no setting and has no effect; {hint}" for name, hint in hints.items()
    )


def test_an_empty_variable_of_temporal_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_TLS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    unset = load_profile()
    for name in names:
        monkeypatch.setenv(name, "")

    assert load_profile() == unset
