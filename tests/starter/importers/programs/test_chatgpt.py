"""Conversations of ChatGPT."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import (
    ImportedMessage,
    ImportOptions,
    LeftOut,
    Unstorable,
)
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
        ({"create_time": None}, "its create_time is no ISO 8601 text such as 2025-01-18T09:30:00Z"),
        ({"create_time": math.nan}, "its create_time nan is no number of seconds since 1970"),
        ({"author": "user"}, "author: is a text, not an object"),
        ({"author": {}}, "role: is missing"),
        ({"content": "I bake."}, "content: is a text, not an object"),
        ({"content": {"content_type": "text", "parts": "I bake."}}, "parts: is a text, not a list"),
        ({"content": {"content_type": "text", "parts": [5]}}, "parts: has a part of another type"),
        ({"id": [1]}, "id: is a list, not a text"),
    ],
)
def test_a_node_that_is_no_message_is_left_out_or_named(read: Read, more: Any, left: Any) -> None:
    [item] = read("c.json", text=conversation(node("n", None, "I bake.", **more)))

    if isinstance(left, str):
        assert isinstance(item, Unstorable)
        assert item.place == "item 1, message n"
        assert item.why.startswith(left)
    else:
        assert item == left


@pytest.mark.parametrize("broken", ["broken", None, [1]])
@pytest.mark.parametrize("parent", ["b", "zzz", 5])
def test_what_is_above_a_broken_node_is_named(read: Read, parent: Any, broken: Any) -> None:
    nodes = json.loads(conversation(node("a", None, "a"), node("c", parent, "c"), current_node="c"))
    nodes[0]["mapping"]["b"] = broken
    nodes[0]["mapping"]["c"]["message"]["id"] = None

    lost, read_on, *others = read("c.json", text=json.dumps(nodes))

    assert lost.place == "item 1, parent of message c"  # type: ignore[union-attr]
    assert isinstance(read_on, ImportedMessage)
    assert read_on.message.resource.source_id == "c"
    assert others == [
        Unstorable("item 1, message a", "is on no whole branch"),
        Unstorable("item 1, message b", "is no object"),
    ]


@given(
    parents=st.lists(st.sampled_from([None, 0, 1, 2, 3, 4, "zzz", 5.5]), min_size=5, max_size=5),
    messages=st.lists(
        st.sampled_from([..., None, "oops", [1], {}, {"author": {"role": "tool"}}, {"id": 1e400}]),
        min_size=5,
        max_size=5,
    ),
    current=st.integers(0, 5),
)
@settings(deadline=None, max_examples=60)
def test_every_message_of_a_conversation_is_counted(
    tmp_path_factory: pytest.TempPathFactory, parents: Any, messages: Any, current: int
) -> None:
    nodes = {}
    for n, (parent, message) in enumerate(zip(parents, messages, strict=True)):
        one = node(f"{n}", f"{parent}" if isinstance(parent, int) else parent, "text")
        nodes[f"{n}"] = one if message is ... else one | {"message": message}
    text = json.dumps([{"mapping": nodes, "current_node": f"{current}"}])
    talk = {"uuid": "k", "chat_messages": [one["message"] for one in nodes.values()]}
    folder = tmp_path_factory.getbasetemp()
    counts = []
    for document in (text, json.dumps([talk])):
        path = folder / "counted.json"
        path.write_text(document, encoding="utf-8")
        export = find_export(path, ImportOptions(), source="file")
        assert export is not None
        counts.append([item for item in export.items() if "parent of" not in str(item)])

    assert [*map(len, counts)] == [sum(one is not None for one in messages), 5]


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
