"""No form and no payload takes a worker's memory or time, when a plan is checked or a payload comes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.forms.forms import check_form, check_payload

ATTACKS = Path(__file__).with_name("form_attacks.py")
MOST_CPU_S = 1.5  # Temporal takes a workflow's task for dead after 2 s; on an idle core it is 0.6
MOST_KB = 300_000  # of a process that takes 40,000 by itself


@pytest.mark.acceptance
def test_no_form_that_is_taken_holds_a_worker_for_long_whatever_the_payload() -> None:
    """Each form has a process of its own, whose memory and time are limited."""
    done = subprocess.run(
        [sys.executable, ATTACKS, "41,16384,1000000", "41,2000,1000000"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    ended = {line["form"]: line["ended"] for line in told if "ended" in line}
    payloads = [line for line in told if "payload" in line]
    assert payloads
    assert set(ended.values()) == {0}, {name: code for name, code in ended.items() if code}
    assert not [line for line in payloads if line["cpu_s"] > MOST_CPU_S]
    assert not [line for line in payloads if line["peak_kb"] > MOST_KB]


@pytest.mark.parametrize(
    ("form", "place"),
    [
        (
            {
                "$defs": {
                    name: {"anyOf": [{"$ref": f"#/$defs/{following}"}] * 3}
                    for name, following in zip("abcdefgh", "bcdefghi", strict=True)
                }
                | {"i": {"type": "object"}},
                "items": {"$ref": "#/$defs/a"},
            },
            r"^form\.\$defs\.b: takes \d+ steps",
        ),
        (
            {"properties": {"a": {"pattern": r"(?:\p{L}{20}){9}"}}},
            r"^form\.properties\.a\.pattern: .* compiles to more",
        ),
        ({"pattern": "a" * 1001}, "^form: takes .* at most 1000 characters together"),
        (
            {"allOf": [{"pattern": f"((a{{1,99}}){{1,99}}){{1,99}}b{n}"} for n in range(320)]},
            r"^form\.allOf\.0: takes",
        ),
    ],
    ids=["references", "pattern", "a long pattern", "patterns too large to compile"],
)
def test_a_form_that_costs_too_much_is_refused_by_its_place(
    form: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInputError, match=place):
        check_form(form)


def test_the_first_problem_of_many_is_told_with_its_place() -> None:
    form = {"properties": {"rows": {"items": {"properties": {"a": {"type": "integer"}}}}}}
    rows: list[Any] = [{"a": 1}] * 20_000

    check_payload(form, {"rows": rows})
    with pytest.raises(InvalidInputError) as caught:
        check_payload(form, {"rows": [*rows, {"a": "x"}, {"a": "y"}]})

    assert str(caught.value) == 'payload.rows[20000].a: "x" is not of type "integer"'
