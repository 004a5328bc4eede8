"""Texts that are data, and what they say in lines of keys and values."""

import json

from mnestic.memory.language.data_texts import flat_text, is_data

INNER = json.dumps({"guest": "Ida Holm", "rooms": [{"no": 12}, {"no": 14}]})


def test_json_and_lines_of_keys_and_values_are_data() -> None:
    data = ['{"a": 1}', " [1, 2] ", INNER, "guest: Ida Holm\nroom: 12", "- dog-tag: 7\n- age: 3\n"]
    said = ["", "Note: bring milk", "[laughs] so do I", "{hi}", "Ida: hello\nsee you then"]

    assert list(map(is_data, data)) == [True] * len(data)
    assert list(map(is_data, [*said, "[" * 100_000])) == [False] * (len(said) + 1)


def test_keys_stand_before_their_values_however_deep_they_are() -> None:
    text = json.dumps({"content": [{"type": "text", "text": INNER}], "ok": True})

    assert flat_text(text).splitlines() == [
        "type text",
        "guest Ida Holm",
        "no 12",
        "no 14",
        "ok True",
    ]
    assert flat_text("no {data}") == "no {data}"
