"""`mnestic config`: what is in force, from where, with secrets masked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.embedded.connection import load_profile
from mnestic.starter.settings import Settings, environment_name, load_settings, source_of

Cli = Callable[..., Any]

SECRETS = {
    "OPENAI_API_KEY": "sk-very-secret",
    "OPENAI_BASE_URL": "https://me:very-secret@models.example/v1",
    "MNESTIC_DATABASE_URL": "postgresql://ada:very-secret@db.example:5432/mnestic",
    "MNESTIC_DATABASE_ADMIN_URL": "host=db.example password=very-secret",
}


def in_force(cli: Cli, *words: str) -> dict[str, Any]:
    """The settings that the command prints, by name."""
    return {row["setting"]: row for row in cli(*words, "config", "--json").document}


def test_every_setting_is_there_with_its_source_and_its_meaning(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNESTIC_CHAT_MODEL", "mine")

    rows = in_force(cli, "--tenant", "acme")

    assert len(rows) == len(Settings.model_fields)
    assert all(row["about"] for row in rows.values())
    assert (rows["MNESTIC_CHAT_MODEL"]["value"], rows["MNESTIC_CHAT_MODEL"]["source"]) == (
        "mine",
        "environment (MNESTIC_CHAT_MODEL)",
    )
    assert (rows["MNESTIC_TENANT_ID"]["value"], rows["MNESTIC_TENANT_ID"]["source"]) == (
        "acme",
        "option",
    )
    assert rows["MNESTIC_LOG_LEVEL"]["source"] == "default"


def test_an_option_that_wins_over_the_environment_is_the_source(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNESTIC_TENANT_ID", "of the environment")
    (tmp_path / ".env").write_text("MNESTIC_TENANT_ID=of-the-file\n", encoding="utf-8")

    row = in_force(cli, "--tenant", "acme")["MNESTIC_TENANT_ID"]

    assert (row["value"], row["source"]) == ("acme", "option")


def test_a_setting_of_the_file_is_told_from_one_that_is_commented_out(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text(
        "# MNESTIC_TENANT_ID=nobody\nMNESTIC_CHAT_MODEL=of-the-file\n", encoding="utf-8"
    )

    rows = in_force(cli)

    assert rows["MNESTIC_TENANT_ID"]["source"] == "default"
    assert rows["MNESTIC_CHAT_MODEL"]["value"] == "of-the-file"
    assert rows["MNESTIC_CHAT_MODEL"]["source"] == ".env (MNESTIC_CHAT_MODEL)"


def test_secrets_are_masked_in_both_forms(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)

    table = cli("config")
    rows = in_force(cli)

    assert table.code == 0
    assert "very-secret" not in table.out + str(rows)
    assert rows["MNESTIC_DATABASE_URL"]["value"] == "postgresql://ada:***@db.example:5432/mnestic"
    assert rows["OPENAI_API_KEY"]["value"] == "***"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:very/secret@db.example/mnestic",
        "postgresql://ada:very@secret@db.example/mnestic",
        "postgresql://db.example/mnestic?user=ada&password=very-secret",
        "postgres//ada:very-secret@db.example/mnestic",
    ],
)
def test_a_password_is_masked_however_the_address_is_written(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("MNESTIC_DATABASE_URL", url)
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")

    shown = cli("config")
    listed = cli("job", "list")
    looked = cli("doctor")

    told = shown.out + shown.err + listed.out + listed.err + looked.out + looked.err
    assert "secret" not in told
    assert listed.code != 0
    assert looked.code == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MNESTIC_MODEL_TIMEOUT_S", "abc"),
        ("MNESTIC_MODEL_TIMEOUT_S", "0"),
        ("MNESTIC_TEMPORAL_PORT", "99999"),
        ("MNESTIC_LOG_LEVEL", "LOUD"),
        ("MNESTIC_MAX_PAYLOAD_BYTES", "-1"),
    ],
)
def test_a_malformed_setting_is_named_with_its_value(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    refused = cli("job", "list")

    error = refused.error(code=2)
    assert f"{name}: " in error
    assert value in error


def test_a_malformed_option_names_its_variable(cli: Cli) -> None:
    refused = cli("up", "--port", "99999")

    assert "MNESTIC_TEMPORAL_PORT: " in refused.error(code=2)


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


def test_an_empty_variable_leaves_the_setting_to_the_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNESTIC_TENANT_ID", "")
    (tmp_path / ".env").write_text("MNESTIC_TENANT_ID=of-the-file\n", encoding="utf-8")

    row = in_force(cli)["MNESTIC_TENANT_ID"]

    assert (row["value"], row["source"]) == ("of-the-file", ".env (MNESTIC_TENANT_ID)")


@pytest.mark.parametrize("name", ["TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "TEMPORAL_TLS"])
def test_an_empty_variable_of_temporal_counts_as_unset(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    unset = load_profile()
    monkeypatch.setenv(name, "")

    assert load_profile() == unset


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("MNESTIC_TENNANT_ID", "did you mean MNESTIC_TENANT_ID?"),
        ("mnestic_datadir", "did you mean MNESTIC_DATA_DIR?"),
        ("MNESTIC_OPENAI_API_KEY", "did you mean OPENAI_API_KEY?"),
        ("MNESTIC_QQQ", "`mnestic config` lists those that there are"),
    ],
)
def test_an_unknown_variable_is_a_warning_that_names_the_nearest(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.setenv(name, "very-secret")
    monkeypatch.setenv("MNESTIC_CHAT_MODEL", "known")

    done = cli("config", "--json")

    assert done.document
    assert done.err == f"warning: {name} is no setting and has no effect; {told}\n"


def test_an_unknown_variable_of_the_file_is_named_with_the_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MNESTIC_LOGLEVEL=DEBUG\nOTHER=1\n", encoding="utf-8")

    done = cli("config")

    assert done.code == 0
    assert done.err == (
        "warning: MNESTIC_LOGLEVEL in .env is no setting and has no effect; "
        "did you mean MNESTIC_LOG_LEVEL?\n"
    )


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
