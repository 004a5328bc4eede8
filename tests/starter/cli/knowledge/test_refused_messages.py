"""`mnestic memory ingest` of files with messages that cannot be kept: each is named, the rest is learned from."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.starter.importers.conversation_files import line, write

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """A conversation in a file."""
    said = ("I live in Utrecht.", "How is the flat?")
    lines = (line(text, f"2026-01-05T12:0{n}:00Z") for n, text in enumerate(said))
    return write(tmp_path / "conversation.jsonl", *lines)


@pytest.mark.usefixtures("worker")
async def test_lines_that_cannot_be_kept_are_named_and_the_rest_is_learned_from(
    ask: Ask, conversation: Path
) -> None:
    with conversation.open("a", encoding="utf-8") as file:
        file.write('{"role": "Mara", "content": "I own a cat.", "timestamp": "9999-01-01"}\n')

    done = await ask("memory", "ingest", str(conversation), *ADA, "--json")
    listed = (await ask("memory", "list", *ADA, "--json")).document["entries"]

    assert "1 of its messages cannot be stored" in done.err
    assert "line 3: timestamp: is of the year 9999" in done.err
    assert done.code == 2
    told = json.loads(done.out)
    assert (told["messages"], told["learned"]) == (2, 2)
    assert [error["what"] for error in told["refused"]] == [f"conversation {conversation}, line 3"]
    assert len(listed) == 2


@pytest.mark.usefixtures("worker")
async def test_a_line_may_say_what_its_entry_is_and_an_unknown_type_is_named(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "notes.jsonl"
    types = ("insight", "rumour", "error")
    path.write_text(
        "\n".join(
            json.dumps(
                {"role": "ada", "content": f"Said {number}.", "entry_type": name}
                | {"timestamp": f"2026-01-05T12:0{number}:00Z"}
            )
            for number, name in enumerate(types)
        ),
        encoding="utf-8",
    )

    done = await ask("memory", "ingest", str(path), *ADA, "--json")
    listed = (await ask("memory", "list", *ADA, "--json")).document["entries"]

    assert done.code == 2
    assert "line 2: entry_type: Input should be 'interaction', 'insight'" in done.err
    assert [entry["entry_type"] for entry in listed] == ["error", "insight"]


@pytest.mark.usefixtures("worker")
async def test_a_line_that_is_mended_is_the_only_new_one(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [
        json.dumps({"role": "Mara", "content": text, "timestamp": f"2026-01-{day}T12:00:00Z"})
        for day, text in (("05", "I live in Ghent."), ("07", "I own a cat."), ("09", "Bye."))
    ]

    path.write_text("\n".join((lines[0], lines[1][:-1], lines[2])), encoding="utf-8")
    partly = await ask("memory", "ingest", str(path), *ADA, "--json")
    path.write_text("\n".join(lines), encoding="utf-8")
    mended = await ask("memory", "ingest", str(path), *ADA, "--json")

    assert partly.code == 2
    assert json.loads(partly.out)["learned"] == 2
    assert (mended.document["messages"], mended.document["new"]) == (3, 1)


@pytest.mark.usefixtures("worker")
async def test_a_turn_of_locomo_that_cannot_be_kept_is_named_and_the_rest_is_learned_from(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "locomo.json"
    good = {"speaker": "Mara", "dia_id": "D1:1", "text": "I live in Ghent."}
    bad = {"speaker": "Mara", "dia_id": "D1:2", "text": "a\0b"}
    began = {"session_1_date_time": "1:56 pm on 8 May, 2023"}
    path.write_text(json.dumps(began | {"session_1": [bad, good]}), encoding="utf-8")

    done = await ask("memory", "ingest", str(path), *ADA, "--json")
    again = await ask("memory", "ingest", str(path), *ADA)

    told = json.loads(done.out)
    assert done.code == 2
    assert "1 of its messages cannot be stored" in done.err
    assert (told["messages"], told["learned"]) == (1, 1)
    assert "1 message, 0 of them new" in again.out
    assert "'D1:2'" in told["refused"][0]["why"]


@pytest.mark.usefixtures("worker")
async def test_a_message_that_the_database_cannot_keep_is_named_and_the_rest_is_learned_from(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "chat.jsonl"
    words = " ".join(f"w{number}q" for number in range(110_000))  # more than can be indexed
    texts = ("I live in Ghent.", words, "I own a cat.")
    write(path, *(line(text, f"2026-01-05T12:0{n}:00Z") for n, text in enumerate(texts)))

    done = await ask("memory", "ingest", str(path), *ADA, "--json")
    listed = (await ask("memory", "list", *ADA, "--json")).document["entries"]

    told = json.loads(done.out)
    assert done.code == 2
    assert "turn L2 of session_1: a text: is more than can be indexed" in done.err
    assert (told["messages"], told["new"], told["learned"]) == (2, 2, 2)
    assert [error["what"] for error in told["refused"]] == ["turn L2 of session_1"]
    assert [entry["content"] for entry in listed] == ["I own a cat.", "I live in Ghent."]


async def test_a_file_of_which_nothing_can_be_kept_is_told_line_by_line(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "Mara"}\n{"content": "hi"}\n', encoding="utf-8")

    done = await ask("memory", "ingest", str(path), *ADA, "--json")

    assert (done.code, done.out) == (2, "")
    assert "line 1: content: is missing" in done.err
    assert "line 2: timestamp: is missing" in done.err
    assert "has no message that can be stored" in done.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.md", b""),
        ("a.md", b"\x89PNG\n\xff\xfe\n"),
        ("a.png", bytes(range(256))),
    ],
)
async def test_a_file_without_any_message_keeps_nothing(
    ask: Ask, tmp_path: Path, *, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    done = await ask("memory", "ingest", str(path), *ADA, "--json")

    assert (done.code, done.out) == (2, "")
    assert str(path) in done.err
    assert (await ask("memory", "list", *ADA, "--json")).document["entries"] == []


async def test_a_file_that_holds_no_conversation_is_one_clear_error(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the sort", encoding="utf-8")

    done = await ask("memory", "ingest", str(path), *ADA)

    assert "expected JSON lines" in done.error(code=2)
