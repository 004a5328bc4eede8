"""The secret of keep-outs: from a setting, or a file that is made once."""

import base64
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr

from mnestic.memory.errors import ConfigurationError
from mnestic.starter.settings import Settings
from mnestic.starter.suppression_secret import SuppressionSecret

GIVEN = base64.b64encode(b"s" * 32).decode()


def test_a_setting_is_taken_and_no_file_made(tmp_path: Path) -> None:
    secret = SuppressionSecret(Settings(data_dir=tmp_path, keep_out_key=SecretStr(GIVEN)))

    assert secret.find() == secret.find_or_make() == b"s" * 32
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new")

    none_yet = SuppressionSecret(settings).find()
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: SuppressionSecret(settings).find_or_make(), range(8)))

    assert none_yet is None
    assert made == {SuppressionSecret(settings).find()}
    (file,) = (tmp_path / "new").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", ["short", "not base64 at all", base64.b64encode(b"x" * 31).decode()]
)
def test_a_malformed_secret_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "keep_out.key").write_text(text)
    given = Settings(data_dir=tmp_path, keep_out_key=SecretStr(text))

    for settings in (given, Settings(data_dir=tmp_path)):
        with pytest.raises(ConfigurationError, match="openssl rand -base64 32") as refused:
            SuppressionSecret(settings).find()
        assert text not in str(refused.value)
