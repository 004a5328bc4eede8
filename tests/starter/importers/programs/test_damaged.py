"""Exports that are damaged or made to do harm: one clear error, in little memory, or what is left of them is read and the rest is named."""

import json
import math
import os
import re
import resource
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs import json_pieces
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import ImportedMessage, ImportOptions, Unstorable
from tests.starter.importers.programs.conftest import SAMPLES, Read

MEMORY_BYTES = 2**30
READ = """
import sys
from pathlib import Path
from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.detection import find_export
from mnestic.starter.importers.programs.items import ImportOptions
try:
    export = find_export(Path(sys.argv[1]), ImportOptions(), source="file x")
    print(None if export is None else sum(1 for _ in export.items()))
except InvalidInputError as error:
    print(error)
"""
CONVERSATION = {"mapping": {"a": {"id": "a", "message": None}}, "id": "c"}
SAMPLE_FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('[{"mapping": {}, "create_time": ' + "1" * 5000 + "}]", "a number of 1000 digits or more"),
        ('[{"mapping": ' + '{"a":' * 200_000, "nested deeper than 200 levels"),
    ],
)
def test_what_no_parser_survives_is_refused_in_little_memory(
    tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(content, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", READ, path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )

    assert done.returncode == 0, done.stderr
    assert why in done.stdout


@pytest.mark.parametrize(
    "header",
    [
        "Date: Mon, 1 Jan 99999999999999999999 10:00:00 +0000",
        "Date: Mon, 1 Jan 2024 10:00:00 +99999999999999999999",
        "Subject: =?utf-8\x00?q?a?=",
        'Content-Type: text/plain; charset="utf-8\x00"',
        "\n".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}' for n in range(3000)),
    ],
)
def test_a_mail_that_cannot_be_read_hides_no_other(read: Read, header: str) -> None:
    head = "From a 2025\nFrom: Ana <ana@example.org>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
    bad = head.replace("Date: Mon, 1 Jan 2024 10:00:00 +0000\n", "") if "Date" in header else head

    *_, last = read("a.mbox", text=f"{bad}{header}\n\nHi.\n\n{head}\nIt rains.\n")

    assert isinstance(last, ImportedMessage)
    assert last.message.resource.content == "It rains."


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")

    with pytest.raises(InvalidInputError, match="is a pipe or a device"):
        find_export(tmp_path / "pipe.json", ImportOptions(), source="file pipe.json")


@pytest.mark.parametrize("other", [None, 7, "text", []])
@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize(
    ("one", "named"),
    [
        (CONVERSATION | {"mapping": {"a": {"id": "a", "message": {"author": {}}}}}, "item"),
        ({"uuid": "c", "chat_messages": [{"sender": "tool"}]}, "item"),
        ({"type": "message", "ts": "1", "text": "", "user": "U"}, "export.json, item"),
        ({"id": "m", "memory": "Likes tea", "created_at": 1}, "item"),
        ({"namespace": ["ana"], "key": "k", "value": 1}, "item"),
        ({"id": 1, "messages": [{"type": "service"}]}, "chat"),
    ],
    ids=["chatgpt", "claude", "slack", "mem0", "langgraph", "telegram"],
)
def test_what_is_no_object_is_named_and_hides_no_other(
    read: Read, one: dict[str, Any], named: str, place: int, other: Any
) -> None:
    document: Any = [one, one]
    document.insert(place - 1, other)
    if named == "chat":
        document = {"personal_information": {}, "chats": {"list": document}}

    items = read("export.json", text=json.dumps(document))

    assert items[place - 1] == Unstorable(f"{named} {place}", "is no object")
    assert len(items) == 3


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("conversations.json", ("current_node", "parent", "role", "content_type", "id")),
        ("claude/conversations.json", ("sender", "uuid", "type", "content", "name")),
        ("slack/garden-club/2025-04-07.json", ("subtype", "user", "type", "ts", "files")),
        ("telegram/result.json", ("type", "from", "id", "text", "date_unixtime")),
        ("mem0.json", ("user_id", "created_at", "id")),
        ("store.jsonl", ("namespace", "key", "updated_at")),
    ],
)
def test_a_value_of_another_kind_hides_no_other(
    read: Read, name: str, keys: tuple[str, ...]
) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    for key, value in product(keys, ([], {}, 1, None, True)):
        changed = re.sub(rf'("{key}": *)("[^"]*"|\d+|null)', rf"\g<1>{json.dumps(value)}", text)
        try:
            items = read(Path(name).name, text=changed)
        except InvalidInputError:
            continue
        assert all(items)


@given(
    sample=st.sampled_from(SAMPLE_FILES),
    changes=st.lists(
        st.tuples(st.floats(0, 0.999), st.binary(max_size=6), st.integers(0, 40)), max_size=6
    ),
)
@settings(deadline=None, max_examples=50)
def test_a_damaged_sample_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    sample: Path,
    changes: list[tuple[float, bytes, int]],
) -> None:
    content = sample.read_bytes()
    for share, inserted, removed in changes:
        place = int(share * len(content))
        content = content[:place] + inserted + content[place + removed :]
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    path = folder / sample.name
    path.write_bytes(content)

    try:
        export = find_export(path, ImportOptions(), source="file")
        for item in export.items() if export else ():
            assert item
    except InvalidInputError:
        pass


@pytest.mark.parametrize("place", [0, 1])
def test_a_conversation_without_messages_is_named(read: Read, place: int) -> None:
    document: list[Any] = [CONVERSATION, CONVERSATION]
    document.insert(place, {"id": "broken", "title": "Bread"})

    items = read("conversations.json", text=json.dumps(document))

    assert [one for one in items if isinstance(one, Unstorable)] == [
        Unstorable(f"item {place + 1}", "is no conversation: it has no `mapping` of messages")
    ]


@given(
    text=st.text(
        st.characters(exclude_characters="\ufdd0") | st.sampled_from('\\"\ud83d\ude00NaN'),
        max_size=40,
    ),
    at=st.integers(1, 60),
    chunk=st.integers(1, 9),
    deep=st.integers(0, 5),
)
@settings(deadline=None, max_examples=50)
def test_limits_are_found_wherever_a_piece_ends(
    tmp_path_factory: pytest.TempPathFactory, text: str, at: int, chunk: int, deep: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "limits.json"
    numbers = [math.inf, -math.inf, 10**30, 1.5e-7, text]
    document = json.dumps([text, {text: [text] * at}, numbers], ensure_ascii=True)
    path.write_text("[" * deep + document + "]" * deep, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_pieces, "_CHUNK", chunk)
        patched.setattr(json_pieces, "DEEPEST", 5)
        if deep <= 2:
            read = b"".join(json_pieces.read_pieces(path, "file"))
            assert json_pieces.unmarked(json.loads(read)) == json.loads(path.read_text("utf-8"))
        else:
            with pytest.raises(InvalidInputError, match="nested deeper"):
                [*json_pieces.read_pieces(path, "file")]
