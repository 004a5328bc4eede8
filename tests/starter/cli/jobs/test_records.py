"""`mnestic memory record`: records on the command line."""

from pathlib import Path

from tests.starter.cli.conftest import Cli

ADA = ("--agent", "ada")


RECORD = ("memory", "record")


def test_a_record_is_written_once_read_listed_by_pages_and_deleted_at_its_version(
    wired: Cli,
) -> None:
    name = ("profile", "name", *ADA)
    write = (*RECORD, "set", "profile", "name", "Mara", *ADA, "--request-id", "r1", "--json")
    first, second = (wired(*write).document for _ in range(2))
    other = wired(*RECORD, "set", "profile", "name", "Ann", *ADA, "--request-id", "r1")
    aged = wired(*RECORD, "set", "profile", "age", "41", *ADA, "--ttl", "30d", "--json").document
    stale = wired(*RECORD, "set", "profile", "name", "Ann", *ADA, "--expected-version", "7")
    got = wired(*RECORD, "get", *name, "--json").document
    page = wired(*RECORD, "list", *ADA, "--limit", "1", "--json").document
    rest = wired(*RECORD, "list", *ADA, "--cursor", page["cursor"], "--json").document
    kept = wired(*RECORD, "delete", *name, "--expected-version", "7")
    gone = wired(*RECORD, "delete", *name, "--json").document
    again = wired(*RECORD, "delete", *name)

    assert first == second == got
    assert (first["value"], first["version"]) == ("Mara", 1)
    assert "operation client/r1 was recorded before" in other.error(code=2)
    assert (aged["value"], aged["expires_at"] is not None) == (41, True)
    for refused in (stale, kept):
        assert "is at version 1, the write expected version 7" in refused.error(code=2)
    assert [record["key"] for record in page["records"] + rest["records"]] == ["age", "name"]
    assert rest["cursor"] is None
    assert gone == {"namespace": "profile", "key": "name", "version": 2}
    assert "profile/name" in again.error(code=2)


def test_a_value_is_json_or_text_of_an_option_or_a_file_and_is_shown_as_it_is(
    wired: Cli, tmp_path: Path
) -> None:
    (tmp_path / "json").write_text('\ufeff{"a":\n 1}\n', encoding="utf-8")
    (tmp_path / "text").write_text("two\nlines", encoding="utf-8")
    markup = "a [/red] [bold]x[/bold]"
    stored: dict[str, tuple[object, bool]] = {
        "don't {brace}": ("don't {brace}", True),
        "12 eggs": ("12 eggs", True),
        markup: (markup, True),
        '"{bad"': ("{bad", False),
        "12": (12, False),
        '{"a": [1]}': ({"a": [1]}, False),
        "@json": ({"a": 1}, False),
        "@text": ("two\nlines", False),
    }
    found = {}
    for text in stored:
        done = wired(*RECORD, "set", "profile", "name", text, *ADA)
        got = wired(*RECORD, "get", "profile", "name", *ADA, "--json").document
        found[text] = (got["value"], "stored as text" in done.out)
        if text == markup:
            shown = (
                wired(*RECORD, "list", *ADA).out,
                wired(*RECORD, "get", "profile", "name", *ADA).out,
            )

    assert found == stored
    assert all("[/red] [bold]x[/bold]" in one for one in shown)
