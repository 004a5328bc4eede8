"""Dumps of other memories: mem0, and the store of LangGraph."""

import json
import math
from typing import Any

import pytest

from mnestic.starter.importers.programs.items import (
    ImportedMessage,
    ImportedRecord,
    Unstorable,
)
from tests.starter.importers.programs.conftest import Read

MEMORY = {
    "id": "m",
    "memory": "Keeps bees",
    "created_at": "2025-02-03T10:00:00Z",
    "user_id": "yara",
}
ITEM = {"namespace": ["a", "b"], "key": "k", "value": {"n": 1.5}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([MEMORY]),
        json.dumps({"results": [MEMORY]}),
        json.dumps({"count": 1, "memories": [MEMORY]}),
        json.dumps(MEMORY) + "\n",
        "\ufeff" + json.dumps([MEMORY], indent=2),
    ],
)
def test_a_dump_may_be_a_list_a_result_or_lines(read: Read, text: str) -> None:
    [item] = read("dump.json", text=text)

    assert isinstance(item, ImportedMessage)
    assert item.message.resource.source_id == "m"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"key": ""}, "key has 0 characters"),
        ({"namespace": []}, "namespace has 0 characters"),
        ({"key": "k" * 300}, "key has 300 characters"),
        ({"value": "a\x00b"}, "value"),
        ({"value": "half \ud83d"}, "value: holds half of a surrogate pair"),
        ({"value": {"\ude00": 1}}, "value: holds half of a surrogate pair"),
        ({"value": {"n": math.nan}}, "value.n: is nan, which JSON does not have"),
        ({"namespace": [{}]}, "namespace: has a part of another type"),
        ({"key": [1]}, "key: is a list, not a text"),
    ],
)
def test_an_item_that_cannot_be_a_record_is_skipped(
    read: Read, fields: dict[str, Any], why: str
) -> None:
    item, other = read("store.json", text=json.dumps([ITEM | fields, ITEM]))

    assert isinstance(item, Unstorable)
    assert item.why.startswith(why)
    assert isinstance(other, ImportedRecord)


def test_a_number_that_json_readers_differ_in_hides_no_other(read: Read) -> None:
    numbers = json.dumps([ITEM, ITEM | {"value": [2**63, "\U0001f600"]}, ITEM])[:-1]

    items = read("store.json", text=numbers + ', {"prefix": "a", "key": "k", "value": 1e99999999}]')

    assert [one.value for one in items[:3]] == [{"n": 1.5}, [2**63, "\U0001f600"], {"n": 1.5}]  # type: ignore[union-attr]
    assert items[3:] == [Unstorable("item 4", "value: is inf, which JSON does not have")]


def test_an_object_in_another_place_is_named(read: Read) -> None:
    first, second = read("dump.json", text=json.dumps([[MEMORY], MEMORY]))

    assert first == Unstorable("item 1", "is no object")
    assert isinstance(second, ImportedMessage)
