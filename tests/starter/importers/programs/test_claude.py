"""Conversations of Claude."""

import json

from mnestic.starter.importers.programs.items import ImportedMessage, LeftOut, Unstorable
from tests.starter.importers.programs.conftest import Read


def test_what_is_attached_is_counted_and_what_is_broken_is_named(read: Read) -> None:
    broken = [
        {"uuid": "k", "chat_messages": [{"sender": "human", "text": "Hi."}, 7, {}, {"sender": []}]},
        {"uuid": "j"},
    ]

    items = read("claude")
    of_broken = read("conversations.json", text=json.dumps(broken))

    assert [one.media for one in items if isinstance(one, ImportedMessage)] == [1, 0, 0]
    assert [one for one in items if isinstance(one, LeftOut)] == [LeftOut("media", 1)]
    assert [one.place for one in of_broken if isinstance(one, Unstorable)] == [
        *(f"item 1, message {number}" for number in (1, 2, 3, 4)),
        "item 2",
    ]
