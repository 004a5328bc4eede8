from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from mnestic.memory.errors import InvalidPlanError
from mnestic.memory.jobs.plans import Plan, RememberNode
from mnestic.starter.jobs.plans import GivenPlan, parse_plan, read_given_plan, read_plan
from tests.starter.case_files import read_cases

SOUND = Path(__file__).with_name("sound_plan.yaml").read_text("utf-8")


def read_plan_text(text: str) -> Plan:
    return parse_plan(text, source="p.yaml")


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(text, source="p.yaml")
    assert caught.value.source == "p.yaml"
    return caught.value.problems


def test_on_and_yes_are_words_and_true_is_not() -> None:
    text = """\
name: no
nodes:
  - id: keep
    kind: remember
    next: {on: "${input.x}", cases: {yes: end, off: end}, otherwise: end}
    variables: {answer: yes, right: true, wrong: false, day: 2026-03-01, n: 3, nothing: null}
"""

    plan = parse_plan(text, source="p.yaml")

    node = plan.nodes[0]
    assert isinstance(node, RememberNode)
    assert plan.name == "no"
    assert node.variables == {
        "answer": "yes",
        "right": True,
        "wrong": False,
        "day": "2026-03-01",
        "n": 3,
        "nothing": None,
    }


@pytest.mark.parametrize(
    "given", [str, yaml.safe_load, read_plan_text], ids=["YAML", "object", "plan"]
)
def test_a_plan_is_given_as_text_as_an_object_or_as_such(given: Callable[[str], GivenPlan]) -> None:
    text = SOUND.replace(" on: {resumed", " outcomes: {resumed")  # YAML 1.1 reads `on` as true

    assert text != SOUND
    assert read_given_plan(given(text)) == read_plan_text(SOUND)


@pytest.mark.parametrize(("before", "after", "told"), read_cases(__file__, "problems"))
def test_a_problem_names_its_node_and_its_line(before: str, after: str, told: str) -> None:
    assert before in SOUND

    found = problems(SOUND.replace(before, after, 1))

    assert any(problem.startswith(told) for problem in found), found


def test_problems_of_shape_and_of_the_graph_are_told_at_once() -> None:
    broken = (
        SOUND.replace("content: hello", "content: 3")
        .replace("timeout: 21d", "timeout: soon")
        .replace("resumed: hello", "resumed: nowhere")
    ) + (
        "  - {id: more, kind: think, prompt: '${imput.x}', next: gone, catch: approval}\n"
        "  - {id: more, kind: emit, chanel: c, content: hi, next: end}\n"
    )

    found = problems(broken)

    assert found == (
        "line 6: node 'hello': content: Input should be a valid string, not 3",
        "line 11: node 'approval': timeout: 'soon' is not a duration; write it as 30s, 15m, 2h, 21d or 1d12h",
        "line 13: node 'more' goes on to 'gone', which is not a node; there are more, hello, approval, end",
        "line 13: node 'more' has a template ${imput...}; templates begin with input, job, memory, results",
        "line 14: node 'more': channel: is missing",
        "line 14: node 'more': chanel: 'chanel' is not a field here; there are id, next, retry, catch, kind, channel, content",
    )


def test_all_that_json_cannot_hold_is_told_at_once() -> None:
    broken = SOUND.replace("name: greeting", "name: greeting\nname: again").replace(
        "channel: chat", "3: chat\n    channel: !!binary x"
    )

    found = problems(broken)

    assert found == (
        "line 2: 'name' is there twice",
        "line 6: the key '3' is not text; put it in quotes",
        "line 7: the tag !!binary is not allowed; write text, numbers, lists and objects",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    read_cases(__file__, "no_plans"),
    ids=lambda text: text[:30],
)
def test_what_is_no_plan_is_refused_in_words(text: str, told: str) -> None:
    found = problems(text)

    assert told in found[0], found


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    files = {"plan": SOUND.replace("21d", "soon").encode(), "latin": "name: grün".encode("latin-1")}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    refused = {
        "plan": "plan.*line 11.*soon",
        "latin": "not UTF-8",
        "gone.yaml": r"gone\.yaml.*No such file",
        ".": "Is a directory",
    }
    for name, why in refused.items():
        with pytest.raises(InvalidPlanError, match=why):
            read_plan(tmp_path / name)
