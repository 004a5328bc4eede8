"""The document of a contract: what the design has, defaults, and the JSON Schema by which editors complete it."""

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import ValidationError

from mnestic.memory.contract.checks import parse
from mnestic.memory.contract.document import MemorySections, json_schema
from tests.memory.contract.seo_documents import contract, edited, seo_document


def test_the_example_of_the_design_is_read_field_for_field() -> None:
    read = contract().model_dump(mode="json")

    assert part_of(seo_document(), read)


def part_of(small: Any, large: Any) -> bool:
    """Whether all of a document is in another, which has defaults besides."""
    if isinstance(small, dict):
        return all(name in large and part_of(value, large[name]) for name, value in small.items())
    if isinstance(small, list):
        return len(small) == len(large) and all(map(part_of, small, large))
    return bool(small == large)


def test_what_is_left_out_is_disabled_and_what_is_written_says_whether_it_is() -> None:
    sections = parse({"Memory": {}}).Memory

    assert len(MemorySections.model_fields) == 5
    assert not any(getattr(sections, name).enabled for name in MemorySections.model_fields)
    with pytest.raises(ValidationError, match="enabled"):
        MemorySections.model_validate({"graph": {}})


def test_a_lock_has_a_timeout_even_if_none_is_written() -> None:
    coordination = parse({"Memory": {"shared": {"enabled": True}}}).Memory.shared.coordination

    assert coordination.lock_timeout_ms == 5000


def test_a_contract_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        contract().Memory.short_term.max_tokens = 1  # type: ignore[misc]


def test_the_json_schema_accepts_what_the_models_accept() -> None:
    schema = Draft202012Validator(json_schema())

    assert json_schema()["$schema"].endswith("2020-12/schema")
    assert schema.is_valid(seo_document())
    assert schema.is_valid({"Memory": {}})
    for edits in ({"short_term.max_tokens": 0}, {"graph": {}}, {"shared.x": 1}):
        assert not schema.is_valid(edited(edits))


def test_each_field_is_described_in_the_json_schema() -> None:
    schema = json_schema()

    fields = {
        f"{name}.{field}": definition
        for name, model in schema["$defs"].items()
        for field, definition in model["properties"].items()
    }
    assert len(fields) > 50
    assert [name for name, definition in fields.items() if "description" not in definition] == []
