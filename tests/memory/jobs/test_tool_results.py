from typing import Any

from mnestic.memory.jobs.tool_results import ToolResultRef, find_reference

REF = ToolResultRef(ref="6c1f8f0e-3a1b-4d55-9b57-6d6e65737469", sha256="a" * 64, size_bytes=20_000)


def test_a_reference_is_told_from_a_result_itself() -> None:
    reference = REF.model_dump(mode="json")
    results: list[Any] = [None, 7, "ref", [], {}, {"ref": REF.ref}]
    changes: list[dict[str, Any]] = [
        {"more": 1},
        {"ref": "../secret"},
        {"sha256": "a"},
        {"size_bytes": -1},
        {"size_bytes": "20000"},
    ]

    assert find_reference(reference) == REF
    assert [one for one in results if find_reference(one)] == []
    assert [one for one in changes if find_reference(reference | one)] == []
