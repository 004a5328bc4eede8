from typing import Any

import pytest

from mnestic.memory.jobs.tool_results import ToolResultRef, find_reference

REF = ToolResultRef(ref="6c1f8f0e-3a1b-4d55-9b57-6d6e65737469", sha256="a" * 64, size_bytes=20_000)


def test_a_reference_is_found_in_what_a_job_holds() -> None:
    found = find_reference(REF.model_dump(mode="json"))

    assert found == REF


@pytest.mark.parametrize(
    "result",
    [
        None,
        7,
        "ref",
        [],
        {},
        REF.model_dump() | {"more": 1},
        {"ref": REF.ref},
        REF.model_dump() | {"ref": "../secret"},
        REF.model_dump() | {"sha256": "a"},
        REF.model_dump() | {"size_bytes": -1},
        REF.model_dump() | {"size_bytes": "20000"},
    ],
)
def test_all_else_is_a_result_itself(result: Any) -> None:
    found = find_reference(result)

    assert found is None
