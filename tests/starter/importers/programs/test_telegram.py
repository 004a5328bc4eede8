"""Chats of Telegram."""

import json

from mnestic.starter.importers.programs.items import LeftOut, Unstorable
from tests.starter.importers.programs.conftest import SAMPLES, Read

CHAT = (SAMPLES / "telegram" / "result.json").read_text(encoding="utf-8")


def test_an_account_has_all_its_chats(read: Read) -> None:
    account = {
        "personal_information": {"user_id": 1},
        "chats": {"about": "", "list": [json.loads(CHAT), {"name": "Broken"}]},
    }

    items = read("result.json", text=json.dumps(account))

    assert [type(one).__name__ for one in items] == [
        *("LeftOut", "ImportedMessage", "ImportedMessage", "LeftOut", "Unstorable")
    ]
    assert items[0] == LeftOut("notice")
    assert items[3] == LeftOut("media", 1)
    assert items[4] == Unstorable("chat 2", "has no messages")
