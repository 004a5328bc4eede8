"""No setting that is a secret, and no part of an address that may be one, is shown."""

import io
import logging

import httpx2
import pytest

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.logs import configure_logs
from mnestic.starter.setting_secrecy import HOW_SHOWN, shown_value
from mnestic.starter.settings import Settings, environment_name, load_settings
from tests.starter.case_files import read_cases
from tests.starter.cli.conftest import Cli
from tests.starter.cli.conftest import cli as cli  # noqa: PLC0414 - a fixture

MARK = "S3CRET"
_READ = read_cases(__file__, "secrets")
HIDDEN, BESIDE, ADDRESSES = set(_READ["hidden"]), _READ["beside"], _READ["addresses"]


def test_every_setting_is_shown_an_address_or_hidden_by_decision() -> None:
    settings = set(Settings.model_fields)

    assert settings == set(HOW_SHOWN) | HIDDEN
    assert not set(HOW_SHOWN) & HIDDEN
    assert shown_value("a_new_setting", MARK) == "***"


def test_no_command_shows_a_secret_of_the_settings_or_of_an_address(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in (*map(environment_name, HIDDEN), *BESIDE):
        monkeypatch.setenv(name, MARK)

    for address in ADDRESSES:
        for name in (name for name, how in HOW_SHOWN.items() if how == "address"):
            monkeypatch.setenv(environment_name(name), address)
        for words in (("config",), ("config", "--json")):
            done = cli(*words)
            assert (done.code, MARK in done.out + done.err) == (0, False), words


@pytest.mark.parametrize("address", ADDRESSES)
def test_commands_that_cannot_connect_show_no_secret(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("MNESTIC_DATABASE_URL", address.replace("db.example", "127.0.0.1"))
    for name in ("OPENAI_BASE_URL", "MNESTIC_RERANK_URL", "MNESTIC_OBSIDIAN_URL"):
        monkeypatch.setenv(name, address.replace("models.example", "127.0.0.1:9"))

    for words in (("job", "list"), ("migrate",), ("doctor",)):
        done = cli(*words)
        assert done.code != 0
        assert MARK not in done.out + done.err, words


def test_a_value_that_is_malformed_is_shown_only_where_it_is_no_secret() -> None:
    for setting in Settings.model_fields:
        with pytest.raises(ConfigurationError) as caught:
            load_settings(**{setting: {MARK: MARK}})
        assert (MARK in str(caught.value)) == (HOW_SHOWN.get(setting) == "plain"), setting


def test_clients_of_models_log_no_addresses_and_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    configure_logs(load_settings(log_level="DEBUG"))
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200))

    with httpx2.Client(transport=transport) as client:
        client.post(f"https://models.example/v1?key={MARK}", content=MARK)

    root.setLevel(before[0])
    root.handlers[:] = before[1]
    assert MARK not in stream.getvalue()
