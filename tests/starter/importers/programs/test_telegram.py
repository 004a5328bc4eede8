"""Chats of Telegram."""

import json
from zoneinfo import ZoneInfo

from mnestic.starter.importers.programs.items import LeftOut, Skipped
from tests.starter.importers.programs.conftest import SAMPLES, Read, ReadMessages

CHAT = (SAMPLES / "telegram" / "result.json").read_text(encoding="utf-8")


def test_a_chat_is_read_with_who_wrote_it_first(read_messages: ReadMessages) -> None:
    messages = read_messages("telegram", timezone=ZoneInfo("Europe/Berlin"))

    assert [(one.channel, one.speaker, one.content) for one in messages] == [
        ("Rowing", "Ana", "We row at six."),
        ("Rowing", "Club", "The boathouse is closed on Friday."),
    ]
    assert [f"{one.at:%d %H:%M}" for one in messages] == ["07 09:01", "07 09:02"]
    assert {one.session_id for one in messages} == {"telegram/77/2025-04-07"}


def test_an_account_has_all_its_chats(read: Read) -> None:
    account = {
        "personal_information": {"user_id": 1},
        "chats": {"about": "", "list": [json.loads(CHAT), {"name": "Broken"}]},
    }

    items = read("result.json", text=json.dumps(account))

    assert [type(one).__name__ for one in items] == [
        *("LeftOut", "ImportedMessage", "ImportedMessage", "LeftOut", "Skipped")
    ]
    assert items[0] == LeftOut("notice")
    assert items[3] == LeftOut("media", 1)
    assert items[4] == Skipped("chat 2", "has no messages")
