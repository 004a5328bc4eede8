"""Facts in the records that tools return."""

import json
from pathlib import Path

import yaml

from mnestic.activities.clients.messages.tool_results import claims_of_result


def claimed(record: object) -> list[tuple[str, str, str | None]]:
    return [
        (each.subject, each.predicate, each.object) for each in claims_of_result(json.dumps(record))
    ]


RECORDS = yaml.safe_load(Path(__file__).with_name("tool_results.yaml").read_text(encoding="utf-8"))


def test_a_field_of_a_person_is_a_fact_and_a_record_that_may_not_hold_states_nothing() -> None:
    for field, value, *fact in RECORDS["fields"]:
        assert claimed({"full_name": "Ida Holm", field: value}) == [("Ida Holm", *fact)]
    for record in RECORDS["records"]:
        assert claimed(record) == [], record


def test_the_first_value_of_a_field_with_several_spellings_counts() -> None:
    record = {"full_name": "Ida Holm", "email": "n/a", "email_address": "ida@holm.example"}

    assert claimed(record) == [("Ida Holm", "email", "ida@holm.example")]
