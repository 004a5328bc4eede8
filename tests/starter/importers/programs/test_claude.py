"""Conversations of Claude."""

import json

from mnestic.starter.importers.programs.items import ImportedMessage, LeftOut, Skipped
from tests.starter.importers.programs.conftest import Read, ReadMessages


def test_conversations_are_read_without_thoughts_and_tools(read_messages: ReadMessages) -> None:
    messages = read_messages("claude", speaker="Runa")

    assert [(one.channel, one.speaker, one.content) for one in messages] == [
        ("Bee keeping", "Runa", "I keep six hives."),
        ("Bee keeping", "assistant", "Feed them.\nIn autumn."),
        ("Claude", "Runa", "My oven is a Vesta 60."),
    ]
    assert [(one.session_id, one.source_id) for one in messages][1:] == [
        ("claude/k1", "m2"),
        ("claude/k2", "m4"),
    ]
    assert f"{messages[1].at:%Y-%m-%d %H:%M:%S}" == "2025-05-01 08:00:09"


def test_what_is_attached_is_counted_and_what_is_broken_is_named(read: Read) -> None:
    broken = [
        {"uuid": "k", "chat_messages": [{"sender": "human", "text": "Hi."}, 7, {}, {"sender": []}]},
        {"uuid": "j"},
    ]

    items = read("claude")
    of_broken = read("conversations.json", text=json.dumps(broken))

    assert [one.media for one in items if isinstance(one, ImportedMessage)] == [1, 0, 0]
    assert [one for one in items if isinstance(one, LeftOut)] == [LeftOut("media", 1)]
    assert [one.place for one in of_broken if isinstance(one, Skipped)] == [
        *(f"item 1, message {number}" for number in (1, 2, 3, 4)),
        "item 2",
    ]
