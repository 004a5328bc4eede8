"""`mnestic extract` on the command line."""

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

Cli = Callable[..., Any]
SAID = "I moved from Utrecht to Ghent on Monday. My sister Elin is 29."
AT = ("--at", "2024-09-07T09:12:00+02:00")


def given(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_claims_are_shown_in_json_with_their_spans(cli: Cli) -> None:
    told = cli("extract", SAID, "--speaker", "Mara", *AT, "--json").document

    claims = [(each["subject"], each["predicate"], each["object"]) for each in told["claims"]]
    assert told["extractor"] == "rules-1"
    assert claims == [
        ("Mara", "lives_in", "Ghent"),
        ("Mara", "lived_in", "Utrecht"),
        ("Mara", "sibling", "Elin"),
        ("Elin", "age", "29"),
    ]
    first = told["claims"][0]
    assert first["valid_from"] == "2024-09-02T00:00:00+02:00"
    assert SAID[first["span"]["start"] : first["span"]["end"]] == first["text"]
    assert first["text"] == "I moved from Utrecht to Ghent on Monday"


def test_claims_are_shown_to_a_person(cli: Cli) -> None:
    done = cli("extract", SAID, *AT)

    assert done.code == 0
    assert "lives_in" in done.out
    assert "2024-09-02" in done.out


def test_a_message_comes_from_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "I live in Malmö.".encode())

    told = cli("extract", "-", "--json").document

    assert [each["object"] for each in told["claims"]] == ["Malmö"]
    assert told["claims"][0]["subject"] == "user"


def test_nothing_is_said_as_such(cli: Cli) -> None:
    assert cli("extract", "Do I live in Ghent?").out == "Nothing would be learned.\n"
    assert cli("extract", "Do I live in Ghent?", "--json").document["claims"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((" ",), "text: is empty"),
        (("I live in Ghent.", "--speaker", ""), "--speaker: is empty"),
        (("I live in Ghent.", "--at", "yesterday"), "--at: "),
        (("I live in Ghent.", "--at", "2024-09-07T09:12:00"), "--at: "),
    ],
)
def test_bad_input_is_refused_in_a_line(cli: Cli, words: tuple[str, ...], told: str) -> None:
    assert told in cli("extract", *words).error(code=2)


def test_bytes_that_are_no_text_are_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, b"I live in \xff")

    assert "standard input: is not UTF-8: byte 10" in cli("extract", "-").error(code=2)
