"""`mnestic memory record`: records on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
ADA = ("--agent", "ada")


def test_a_record_is_written_read_and_listed_in_json(wired: Cli) -> None:
    first = wired("memory", "record", "set", "profile", "name", "Mara", *ADA, "--json").document
    second = wired(
        "memory", "record", "set", "profile", "age", "41", *ADA, "--ttl", "30d", "--json"
    ).document
    got = wired("memory", "record", "get", "profile", "name", *ADA, "--json").document
    listed = wired("memory", "record", "list", *ADA, "--json").document

    assert (first["value"], first["version"]) == ("Mara", 1)
    assert second["value"] == 41
    assert second["expires_at"] is not None
    assert got == first
    assert [record["key"] for record in listed["records"]] == ["age", "name"]


def test_a_list_goes_on_where_its_page_ended(wired: Cli) -> None:
    for key in ("a", "b", "c"):
        wired("memory", "record", "set", "n", key, "1", *ADA)

    page = wired("memory", "record", "list", *ADA, "--limit", "2", "--json").document
    rest = wired("memory", "record", "list", *ADA, "--cursor", page["cursor"], "--json").document

    assert [record["key"] for record in page["records"] + rest["records"]] == ["a", "b", "c"]
    assert rest["cursor"] is None


def test_values_are_shown_to_a_person_as_they_are(wired: Cli) -> None:
    wired("memory", "record", "set", "notes", "markup", "a [/red] [bold]x[/bold]", *ADA)

    listed = wired("memory", "record", "list", *ADA)
    got = wired("memory", "record", "get", "notes", "markup", *ADA)

    assert listed.code == got.code == 0, listed.err
    assert "[/red] [bold]x[/bold]" in listed.out
    assert "[/red] [bold]x[/bold]" in got.out


def test_a_stale_write_is_refused_with_both_versions(wired: Cli) -> None:
    wired("memory", "record", "set", "profile", "name", "Mara", *ADA)
    wired("memory", "record", "set", "profile", "name", "Maria", *ADA)

    refused = wired(
        "memory", "record", "set", "profile", "name", "Ann", *ADA, "--expected-version", "1"
    )

    assert "is at version 2, the write expected version 1" in refused.error(code=2)
    assert (
        wired("memory", "record", "get", "profile", "name", *ADA, "--json").document["value"]
        == "Maria"
    )


def test_the_same_request_is_written_once(wired: Cli) -> None:
    write = ("memory", "record", "set", "profile", "name")

    first = wired(*write, "Mara", *ADA, "--request-id", "r1", "--json").document
    second = wired(*write, "Mara", *ADA, "--request-id", "r1", "--json").document
    other = wired(*write, "Ann", *ADA, "--request-id", "r1")

    assert first == second
    assert "operation client/r1 was recorded before" in other.error(code=2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("get", "profile", "nothing", *ADA), "nothing"),
        (("set", "profile", "name", "null", *ADA), "profile/name: has no value"),
        (("set", "profile", "name", "1", *ADA, "--ttl", "soon"), "--ttl: 'soon' is not a duration"),
        (("set", "profile", "", "1", *ADA), "key"),
        (("set", "p" * 300, "name", "1", *ADA), "namespace"),
        (("set", "profile", "name", "NaN", *ADA), "value: holds NaN"),
        (("set", "profile", "name", "[" * 100_000, *ADA), "nested too deep"),
        (("set", "profile", "name", "{bad", *ADA), "value: is not JSON: Expecting property name"),
        (("set", "profile", "name", "{bad", *ADA), """write it as a JSON string: '"{bad"'"""),
        (("set", "profile", "name", "[1, 2", *ADA), "is not JSON: Expecting ',' delimiter at char"),
        (("set", "profile", "name", '"a" b', *ADA), "is not JSON: Extra data at character 5"),
        (("set", "profile", "name", "@gone.json", *ADA), "value @gone.json: there is no such file"),
        (("set", "profile", "name", "@.", *ADA), "value @.: is not a file"),
        (("get", "profile", "name", "--agent", "a/b"), "agent"),
        (("list", *ADA, "--cursor", "nowhere!"), "cursor"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else value,
)
def test_what_cannot_be_is_refused_in_a_line(
    wired: Cli, rows: Callable[[], dict[str, int]], words: tuple[str, ...], told: str
) -> None:
    refused = wired("memory", "record", *words)

    assert told in refused.error(code=2)
    assert rows()["long_term_record"] == 0


@pytest.mark.parametrize(
    ("value", "stored", "is_text"),
    [
        ("plain words", "plain words", True),
        ("don't {brace}", "don't {brace}", True),
        ("12 eggs", "12 eggs", True),
        ('"{bad"', "{bad", False),
        ("12", 12, False),
        ('{"a": [1]}', {"a": [1]}, False),
    ],
)
def test_what_is_stored_as_text_is_said(
    wired: Cli, value: str, stored: object, is_text: bool
) -> None:
    done = wired("memory", "record", "set", "profile", "name", value, *ADA)

    assert done.code == 0
    assert ("stored as text" in done.out) is is_text
    got = wired("memory", "record", "get", "profile", "name", *ADA, "--json").document
    assert got["value"] == stored


@pytest.mark.parametrize(
    ("content", "stored"), [('\ufeff{"a":\n 1}\n', {"a": 1}), ("two\nlines", "two\nlines")]
)
def test_a_value_is_read_from_a_file(
    wired: Cli, tmp_path: Path, content: str, stored: object
) -> None:
    (tmp_path / "value").write_text(content, encoding="utf-8")

    done = wired("memory", "record", "set", "profile", "name", "@value", *ADA, "--json")

    assert done.document["value"] == stored


def test_a_record_is_deleted_at_its_version_alone(wired: Cli) -> None:
    wired("memory", "record", "set", "profile", "name", "Mara", *ADA)
    path = ("memory", "record", "delete", "profile", "name", *ADA)

    stale = wired(*path, "--expected-version", "7")
    gone = wired(*path, "--json").document
    again = wired(*path)

    assert "is at version 1, the write expected version 7" in stale.error(code=2)
    assert gone == {"namespace": "profile", "key": "name", "version": 2}
    assert "profile/name" in again.error(code=2)
