"""Facts in the records that tools return."""

import json

import pytest

from mnestic.activities.clients.messages.tool_results import claims_of_result


def claimed(record: object) -> list[tuple[str, str, str | None]]:
    return [
        (each.subject, each.predicate, each.object) for each in claims_of_result(json.dumps(record))
    ]


@pytest.mark.parametrize(
    ("field", "value", "fact"),
    [
        ("language", "sk", ("preferred_language", "Slovak")),
        ("language", "pt-BR", ("preferred_language", "Portuguese")),
        ("nationality", "german", ("nationality", "german")),
        ("jobTitle", "Welder", ("job_title", "Welder")),
        ("date_of_birth", "1990-02-03T00:00:00", ("birthday", "1990-02-03")),
        ("age", 41, ("age", "41")),
    ],
)
def test_a_field_of_a_person_is_a_fact(field: str, value: object, fact: tuple[str, str]) -> None:
    assert claimed({"full_name": "Ida Holm", field: value}) == [("Ida Holm", *fact)]


@pytest.mark.parametrize(
    "record",
    [
        {"full_name": "Ida Holm", "city": "unknown"},
        {"full_name": "Ida Holm", "city": "Oslo", "deleted": True},
        {"full_name": "Ida Holm", "city": "Oslo", "is_active": "no"},
        {"full_name": "Ida Holm", "age": "maybe 40"},
        {"full_name": "Ida Holm", "language": "Klingon"},
        {"name": "Hotel Adler", "city": "Oslo"},
        {"full_name": "John Doe", "city": "Oslo"},
        {"filter": {"full_name": "Ida Holm", "city": "Oslo"}},
    ],
)
def test_a_record_that_may_not_hold_states_nothing(record: object) -> None:
    assert claimed(record) == []


def test_the_first_value_of_a_field_with_several_spellings_counts() -> None:
    record = {"full_name": "Ida Holm", "email": "n/a", "email_address": "ida@holm.example"}

    assert claimed(record) == [("Ida Holm", "email", "ida@holm.example")]
