"""No plan, payload or file of another kind takes a command's memory, or ends it with a foreign error."""

import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.errors import InvalidInputError, InvalidPlanError
from mnestic.memory.jobs.plans import EmitNode, Plan
from mnestic.starter.cli.values import parse_json, parse_value
from mnestic.starter.importers.conversations import read_conversation
from mnestic.starter.jobs.plans import parse_plan, read_plan, require_sound
from mnestic.stores.notes.markdown import tags_of

HEAD = """\
name: p
nodes:
- id: a
  kind: remember
  next: end
  variables:
"""
BOMB = "".join(
    f"    x{level}: &x{level} [{', '.join([f'*x{level - 1}' if level else 'lol'] * 10)}]\n"
    for level in range(30)
)
MERGES = "".join(
    f"    x{level}: &x{level}\n      <<: [{', '.join([f'*x{level - 1}'] * 10)}]\n"
    if level
    else "    x0: &x0 {a: 1}\n"
    for level in range(30)
)
READ = "import sys; from mnestic.starter.jobs.plans import read_plan; from pathlib import Path; read_plan(Path(sys.argv[1]))"
MEMORY_BYTES = 768 * 1024**2

BAD = {
    "aliases that unfold": (HEAD + BOMB, "line 11: it comes to over 20000 values"),
    "merges that unfold": (HEAD + MERGES, "it comes to over 20000 values"),
    "an alias of itself": (HEAD + "    x: &x [*x]\n", "line 7: it refers to itself"),
    "deep lists": (
        HEAD + f"    x: {'[' * 100}{']' * 100}\n",
        "it is nested too deep, at most 60 levels",
    ),
    "very deep lists": (
        HEAD + "    x: " + "[" * 50_000,
        "it is nested too deep, at most 60 levels",
    ),
    "a long integer": (HEAD + "    x: " + "9" * 5000, "line 7: a number has 5000 characters"),
    "an integer over the bits": (HEAD + "    x: " + "9" * 1300, "is an integer of over 4096 bits"),
    "a long number of base 60": (HEAD + "    x: 1" + ":1" * 5000, "line 7: a number has 10001"),
    "no binary number": (HEAD + "    x: 0b_\n", "line 7: '0b_' is no int"),
    "no number at all": (HEAD + '    x: !!int ""\n', "line 7: '' is no int"),
    "no decimal number": (HEAD + "    x: !!float abc\n", "line 7: 'abc' is no float"),
    "no boolean": (HEAD + "    x: !!bool maybe\n", "line 7: 'maybe' is no bool"),
    "not a number": (HEAD + "    x: .nan\n", "line 7: '.nan' is nan, which JSON does not have"),
    "infinity": (HEAD + "    x: -.inf\n", "line 7: '-.inf' is -inf"),
    "a float that is too large": (HEAD + "    x: 1.0e+999\n", "line 7: '1.0e+999' is inf"),
    "a date": (HEAD + "    x: !!timestamp 2026-02-30\n", "line 7: the tag !!timestamp is not"),
    "bytes": (HEAD + "    x: !!binary aGk=\n", "line 7: the tag !!binary is not allowed"),
    "a set": (HEAD + "    x: !!set {a, b}\n", "line 7: the tag !!set is not allowed"),
    "an object of Python": (
        HEAD + "    x: !!python/object/apply:os.system [ls]\n",
        "line 7: the tag !!python/object/apply:os.system is not allowed",
    ),
    "a tag of its own": (HEAD + "    x: !mine 3\n", "line 7: the tag !mine is not allowed"),
    "a number as key": (HEAD + "    1: x\n", "line 7: the key '1' is not text; put it in quotes"),
    "a boolean as key": (HEAD + "    true: x\n", "line 7: the key 'true' is not text"),
    "a list as key": (HEAD + "    ? [a]\n    : x\n", "line 7: the key a list or an object is not"),
    "a key that is there twice": (HEAD + "    x: 1\n    x: 2\n", "line 8: 'x' is there twice"),
    "half of a pair": (HEAD + '    x: "\\uD800"\n', "line 7: found invalid Unicode"),
    "a NUL in an escape": (HEAD + '    x: "\\0"\n', "line 7: a text holds a NUL"),
    "a character that is none": (HEAD + '    x: "\\U0011FFFF"\n', "line 7: found invalid Unicode"),
    "an escape too large": (HEAD + '    x: "\\UFFFFFFFF"\n', "line 7: found invalid Unicode"),
    "a NUL": (HEAD + "    x: a\0b\n", "line 7: unacceptable character U+0000"),
    "a half pair": (HEAD + "    x: \ud800\n", "line 7: unacceptable character U+D800"),
    "an escape of a terminal": (HEAD + "    x: \x1b[2J\n", "line 7: unacceptable character U+001B"),
    "two documents": (HEAD + "    x: 1\n---\nname: q\n", "line 8: expected a single document"),
    "an empty file": ("", "it is empty"),
    "a comment alone": ("# nothing\n", "it is empty"),
    "a list": ("- a\n", "line 1: "),
    "a text": ("hello", "line 1: "),
    "a null": ("null", "line 1: "),
    "no YAML": ("name: [", "line 2: did not find"),
    "another version": ("%YAML 9.9\n---\nname: p\n", "line 1: "),
    "an endless duration": (
        "name: p\nnodes:\n- {id: a, kind: wait, key: k, timeout: 1.0e+300, on: {timeout: end}}\n",
        "line 3: node 'a': timeout: ",
    ),
}


@pytest.mark.parametrize(("text", "why"), BAD.values(), ids=BAD)
def test_what_is_no_plan_is_refused_by_its_line(text: str, why: str) -> None:
    began = time.process_time()

    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(text, source="p.yaml")

    assert str(caught.value).startswith("plan p.yaml: ")
    assert why in str(caught.value)
    assert time.process_time() - began < 5


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.yaml"
    bomb.write_text(HEAD + BOMB)

    done = subprocess.run(
        [sys.executable, "-c", READ, bomb],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )

    assert "InvalidPlanError" in done.stderr
    assert "over 20000 values" in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"name: \xff", "it is not UTF-8 text"),
        (b"\xfe\xff\x00n", "it is not UTF-8 text"),
        (b"# " + b"x" * 600_000, "it is larger than 524288 bytes"),
    ],
)
def test_a_file_that_is_no_text_or_too_large_is_refused(
    tmp_path: Path, content: bytes, why: str
) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(content)

    with pytest.raises(InvalidPlanError, match=why):
        read_plan(path)


@pytest.mark.parametrize(
    "path", [Path("/dev/zero"), Path("/tmp"), Path("/nowhere/p.yaml"), Path("a\0b")]
)
def test_what_is_no_file_is_refused(path: Path) -> None:
    with pytest.raises(InvalidPlanError):
        read_plan(path)


def test_an_alias_may_be_used_where_it_unfolds_to_little() -> None:
    text = HEAD + "    x: &x {a: 1}\n    y: *x\n    z: {<<: *x, b: 2}\n"

    node = parse_plan(text, source="p.yaml").nodes[0]

    assert node.model_dump()["variables"] == {"x": {"a": 1}, "y": {"a": 1}, "z": {"a": 1, "b": 2}}


@given(
    st.lists(
        st.sampled_from(
            [
                *"abxyz01:-?[]{},&*!|>'\"%@`#\n \t~.=<",
                "name: p\nnodes:\n- ",
                "id: a\n  kind: wait\n  ",
                "kind: think\n  ",
                "form: {",
                "timeout: ",
                "on: ",
                "next: ",
                "!!int ",
                "!!map ",
                "<<: ",
                "&a ",
                "*a ",
                "1e9",
                "0x",
                "\\u",
                "${input.x}",
                "\x85",
                "\ufeff",
                "---\n",
                "...\n",
            ]
        ),
        max_size=40,
    ).map("".join)
    | st.text(max_size=60)
)
def test_any_text_is_a_plan_or_refused(text: str) -> None:
    with suppress(InvalidPlanError):
        require_sound(parse_plan(text, source="p.yaml"))


def test_a_plan_from_python_is_held_to_text_too() -> None:
    node = EmitNode(id="a", kind="emit", channel="c", content="\ud800", next="end")

    with pytest.raises(InvalidPlanError, match="half of a surrogate pair"):
        require_sound(Plan(name="p", nodes=(node,)))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 5000,
        "-" + "9" * 5000,
        '{"a": 1, "a": 2}',
        "[1e999]",
        "NaN",
        "[Infinity]",
        "-Infinity",
        '"\\ud800"',
    ],
)
def test_json_on_the_command_line_is_what_can_be_stored(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--payload"):
        parse_json(text, what="--payload")
    with pytest.raises(InvalidInputError, match="--input x"):
        parse_value(text, what="--input x")


@given(st.text() | st.binary().map(lambda content: content.decode(errors="surrogateescape")))
def test_any_text_on_the_command_line_is_a_value_or_refused(text: str) -> None:
    with suppress(InvalidInputError):
        parse_value(text, what="--input x")
    with suppress(InvalidInputError):
        parse_json(text, what="--payload")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"role": NaN}',
        b"\xff\xfe",
        b'{"role": ' + b"9" * 5000 + b"}",
        b"null",
        b"[[]]",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_conversation_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError, match=r"talk\.jsonl"):
        read_conversation(path)


@pytest.mark.parametrize("escape", ["\\U0011FFFF", "\\UFFFFFFFF", "\\uD800"])
def test_a_note_whose_properties_are_none_has_no_tags(escape: str) -> None:
    assert tags_of(f'---\ntags: ["{escape}"]\n---\nText\n') <= {"\ud800"}
