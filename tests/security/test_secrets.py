"""No setting that is a secret, and no part of an address that may be one, is shown."""

import io
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.cli.app import run_command_line
from mnestic.starter.logs import configure_logs
from mnestic.starter.setting_secrecy import HOW_SHOWN, shown_value
from mnestic.starter.settings import Settings, environment_name, load_settings

Cli = Callable[..., tuple[int, str]]

MARK = "S3CRET"
HIDDEN = {
    "openai_api_key",
    "rerank_api_key",
    "obsidian_api_key",
    "payload_keys",
    "keep_out_key",
}  # a secret as a whole
ADDRESSES = (
    f"postgresql://ada:{MARK}@db.example:5432/mnestic",
    f"postgresql://ada:x{MARK}@y@db.example/mnestic",
    f"postgresql://db.example/mnestic?user=ada&password={MARK}",
    f"postgresql://db.example/mnestic?sslpassword={MARK}",
    f"postgresql://db.example/mnestic?options=-c%20mine.key%3D{MARK}",
    f"postgresql://ada:p@db.example/mnestic?passfile=/{MARK}#{MARK}",
    f"host=db.example password={MARK}",
    f"https://{MARK}@models.example/v1",
    f"https://ada:{MARK}@models.example/v1?key={MARK}",
    f"https://models.example/hooks/{MARK}",
    f"{MARK}@127.0.0.1:7233",
)
BESIDE = (
    "TEMPORAL_API_KEY",
    "TEMPORAL_TLS_CLIENT_KEY_DATA",
    "TEMPORAL_CODEC_AUTH",
    "TEMPORAL_GRPC_META_AUTHORIZATION",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "PGPASSWORD",
    "OPENAI_ADMIN_KEY",
)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command, and gives its exit code and all that it printed."""
    monkeypatch.setenv("MNESTIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["mnestic", *words])
        capsys.readouterr()
        code = run_command_line()
        return code, "".join(capsys.readouterr())

    return run


@pytest.fixture(autouse=True)
def _loggers_as_they_were() -> Iterator[None]:
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    yield
    root.setLevel(before[0])
    root.handlers[:] = before[1]


def test_every_setting_is_shown_an_address_or_hidden_by_decision() -> None:
    settings = set(Settings.model_fields)

    assert settings == set(HOW_SHOWN) | HIDDEN
    assert not set(HOW_SHOWN) & HIDDEN


def test_a_setting_that_nobody_has_classified_is_hidden() -> None:
    assert shown_value("a_new_setting", MARK) == "***"


@pytest.mark.parametrize("words", [("config",), ("config", "--json")], ids=str)
def test_the_settings_in_force_show_no_secret(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    for name in HIDDEN:
        monkeypatch.setenv(environment_name(name), MARK)
    for name in BESIDE:
        monkeypatch.setenv(name, MARK)

    for address in ADDRESSES:
        for name in (name for name, how in HOW_SHOWN.items() if how == "address"):
            monkeypatch.setenv(environment_name(name), address)
        code, shown = cli(*words)

        assert code == 0
        assert MARK not in shown


@pytest.mark.parametrize("address", ADDRESSES)
def test_commands_that_cannot_connect_show_no_secret(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("MNESTIC_DATABASE_URL", address.replace("db.example", "127.0.0.1"))
    for name in ("OPENAI_BASE_URL", "MNESTIC_RERANK_URL", "MNESTIC_OBSIDIAN_URL"):
        monkeypatch.setenv(name, address.replace("models.example", "127.0.0.1:9"))

    for words in (("job", "list"), ("migrate",), ("doctor",)):
        code, shown = cli(*words)

        assert code != 0
        assert MARK not in shown, words


@pytest.mark.parametrize("setting", sorted(Settings.model_fields))
def test_a_value_that_is_malformed_is_shown_only_where_it_is_no_secret(setting: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(**{setting: {MARK: MARK}})

    assert (MARK in str(caught.value)) == (HOW_SHOWN.get(setting) == "plain")


def test_clients_of_models_log_no_addresses_and_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    configure_logs(load_settings(log_level="DEBUG"))
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200))

    with httpx2.Client(transport=transport) as client:
        client.post(f"https://models.example/v1?key={MARK}", content=MARK)

    assert MARK not in stream.getvalue()
