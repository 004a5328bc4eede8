"""Conversations of ChatGPT."""

import json
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.items import ImportedMessage, LeftOut, Skipped
from tests.starter.importers.programs.conftest import Read, ReadMessages


def node(name: str, parent: str | None, text: Any, *, at: float | None = 1.7e9, **more: Any) -> Any:
    message = {
        "id": name,
        "author": {"role": "user"},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
    }
    return {"id": name, "parent": parent, "children": [], "message": message | more}


def conversation(*nodes: Any, **more: Any) -> str:
    mapping = {one["id"]: one for one in nodes}
    return json.dumps([{"title": "Bread", "id": "c", "mapping": mapping, **more}])


def test_the_current_branch_is_read_with_titles_and_times(read_messages: ReadMessages) -> None:
    messages = read_messages("conversations.json", speaker="Runa")

    assert [(one.channel, one.speaker, one.content) for one in messages] == [
        ("Sourdough", "Runa", "I bake with rye. How long should it rest?"),
        ("Sourdough", "assistant", "Twelve hours."),
        ("ChatGPT", "Runa", "My oven is a Vesta 60."),
    ]
    assert [(one.session_id, one.source_id) for one in messages] == [
        ("chatgpt/c-77", "q1"),
        ("chatgpt/c-77", "a2b"),
        ("chatgpt/c-78", "q"),
    ]
    assert messages[0].at.timestamp() == 1741600000.5  # the conversation's, since it has none


def test_what_the_program_says_to_itself_is_left_out_and_counted(read: Read) -> None:
    items = read("conversations.json")

    assert [item for item in items if isinstance(item, LeftOut)] == [LeftOut("internal")] * 3
    assert [item.media for item in items if isinstance(item, ImportedMessage)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({"author": {"role": "tool"}}, LeftOut("internal")),
        ({"recipient": "python"}, LeftOut("internal")),
        ({"metadata": {"is_visually_hidden_from_conversation": True}}, LeftOut("internal")),
        ({"content": {"content_type": "thoughts", "thoughts": []}}, LeftOut("internal")),
        ({"content": {"content_type": "text", "parts": ["\ue200cite\ue201"]}}, LeftOut("empty")),
        (
            {"content": {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}]}},
            LeftOut("media", 1),
        ),
        ({"create_time": None}, Skipped("item 1, message n", "has no time of creation")),
    ],
)
def test_a_node_that_is_no_message_is_left_out(read: Read, more: Any, left: Any) -> None:
    assert read("c.json", text=conversation(node("n", None, "I bake.", **more))) == [left]


@pytest.mark.parametrize("current", [None, "nowhere"])
def test_without_a_current_node_the_newest_leaf_counts(
    read_messages: ReadMessages, current: str | None
) -> None:
    old, new = node("old", "r", "old", at=1.6e9), node("new", "r", "new", at=1.7e9)
    root = node("r", None, "root") | {"children": ["old", "new"]}

    found = read_messages("c.json", text=conversation(root, old, new, current_node=current))

    assert [one.content for one in found] == ["root", "new"]


def test_a_tree_that_is_a_circle_ends(read_messages: ReadMessages) -> None:
    text = conversation(node("a", "b", "a"), node("b", "a", "b"), current_node="a")

    assert [one.content for one in read_messages("c.json", text=text)] == ["b", "a"]


def test_a_damaged_file_is_refused_with_its_item(read: Read) -> None:
    with pytest.raises(InvalidInputError, match="is cut off or not JSON after item 1; export it"):
        read("c.json", text=conversation(node("n", None, "I bake."))[:-1] + ", {]")
