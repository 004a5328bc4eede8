"""No plan and no payload takes a command's memory, or ends it with a foreign error."""

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
from mnestic.starter.jobs.plans import parse_plan, read_plan, require_sound
from mnestic.stores.notes.markdown import tags_of
from tests.starter.case_files import read_cases

HEAD = "name: p\nnodes:\n- id: a\n  kind: remember\n  next: end\n  variables:\n"
BOMB = "    x0: &x0 [lol]\n" + "".join(
    f"    x{level}: &x{level} [{', '.join([f'*x{level - 1}'] * 10)}]\n" for level in range(1, 30)
)
MERGES = "    x0: &x0 {a: 1}\n" + "".join(
    f"    x{level}: &x{level}\n      <<: [{', '.join([f'*x{level - 1}'] * 10)}]\n"
    for level in range(1, 30)
)
READ = "import sys; from mnestic.starter.jobs.plans import read_plan; from pathlib import Path; read_plan(Path(sys.argv[1]))"
MEMORY_BYTES = 768 * 1024**2
BAD = [*read_cases(__file__, "bad_plans"), [MERGES, "it comes to over 20000 values"]]
NO_JSON = ["[" * 100_000, "-" + "9" * 5000, '{"a": 1, "a": 2}', "[1e999]", "NaN", '"\\ud800"']
PIECES = [
    *"abxyz01:-?[]{},&*!|>'\"%@`#\n \t~.=<",
    *("name: p\nnodes:\n- ", "id: a\n  kind: wait\n  ", "kind: think\n  ", "form: {", "timeout: "),
    *("on: ", "next: ", "!!int ", "!!map ", "<<: ", "&a ", "*a ", "1e9", "0x", "\\u"),
    *("${input.x}", "\x85", "\ufeff", "---\n", "...\n"),
]


@pytest.mark.parametrize(("text", "why"), BAD, ids=lambda text: repr(text[:20]))
def test_what_is_no_plan_is_refused_by_its_line(text: str, why: str) -> None:
    began = time.process_time()

    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(HEAD + text, source="p.yaml")

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


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "p.yaml"
    large.write_bytes(b"# " + b"x" * 600_000)

    for path in (large, Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(InvalidPlanError, match="larger than 524288" if path == large else None):
            read_plan(path)


def test_an_alias_may_be_used_where_it_unfolds_to_little() -> None:
    text = HEAD + "    x: &x {a: 1}\n    y: *x\n    z: {<<: *x, b: 2}\n"

    node = parse_plan(text, source="p.yaml").nodes[0]

    assert node.model_dump()["variables"] == {"x": {"a": 1}, "y": {"a": 1}, "z": {"a": 1, "b": 2}}


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_a_plan_or_refused(text: str) -> None:
    with suppress(InvalidPlanError):
        require_sound(parse_plan(text, source="p.yaml"))


def test_a_plan_from_python_is_held_to_text_too() -> None:
    node = EmitNode(id="a", kind="emit", channel="c", content="\ud800", next="end")

    with pytest.raises(InvalidPlanError, match="half of a surrogate pair"):
        require_sound(Plan(name="p", nodes=(node,)))


@pytest.mark.parametrize("text", NO_JSON, ids=lambda text: text[:5])
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


@pytest.mark.parametrize("escape", ["\\U0011FFFF", "\\UFFFFFFFF", "\\uD800"])
def test_a_note_whose_properties_are_none_has_no_tags(escape: str) -> None:
    assert tags_of(f'---\ntags: ["{escape}"]\n---\nText\n') <= {"\ud800"}
