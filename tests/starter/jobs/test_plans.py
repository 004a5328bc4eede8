from pathlib import Path

import pytest

from mnestic.memory.errors import InvalidPlanError
from mnestic.memory.jobs.plans import EmitNode, Plan, RememberNode, WaitNode
from mnestic.starter.jobs.plans import parse_plan, read_plan, require_sound

SOUND = """\
name: greeting
nodes:
  - id: hello
    kind: emit
    channel: chat
    content: hello
    next: approval
  - id: approval
    kind: wait
    key: approval
    timeout: 21d
    on: {resumed: hello, timeout: end}
"""


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(InvalidPlanError) as caught:
        parse_plan(text, source="p.yaml")
    assert caught.value.source == "p.yaml"
    return caught.value.problems


def test_a_sound_plan_is_read() -> None:
    plan = parse_plan(SOUND, source="p.yaml")

    hello, approval = plan.nodes
    assert isinstance(hello, EmitNode)
    assert isinstance(approval, WaitNode)
    assert approval.on == {"resumed": "hello", "timeout": "end"}


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
    ("before", "after", "told"),
    [
        (
            "kind: emit",
            "kind: shout",
            "line 3: node 'hello': kind 'shout' is unknown; a node is of kind think, tool, recall, remember, emit or wait",
        ),
        (
            "    kind: emit\n",
            "",
            "line 3: node 'hello': names no kind; a node is of kind think, tool, recall, remember, emit or wait",
        ),
        ("    channel: chat\n", "", "line 3: node 'hello': channel: is missing"),
        (
            "channel: chat",
            "channel: chat\n    volume: 11",
            "line 6: node 'hello': volume: 'volume' is not a field here; there are id, next, retry, catch, kind, channel, content",
        ),
        (
            "timeout: 21d",
            "timeout: 3 weeks",
            "line 11: node 'approval': timeout: '3 weeks' is not a duration; write it as 30s, 15m, 2h, 21d or 1d12h",
        ),
        (
            "timeout: 21d",
            "timeout: 999999999999d",
            "line 11: node 'approval': timeout: a duration is at least a second and at most 3650 days",
        ),
        (
            "timeout: 21d",
            "timeout: [1]",
            "line 11: node 'approval': timeout: Input should be a valid timedelta",
        ),
        (
            "next: approval",
            "next: aproval",
            "line 7: node 'hello' goes on to 'aproval', which is not a node; there are hello, approval, end",
        ),
        (
            "resumed: hello",
            "resumed: nowhere",
            "line 12: node 'approval' goes on to 'nowhere', which is not a node",
        ),
        ("id: approval", "id: hello", "line 8: node 'hello' is there twice"),
        ("next: approval", "next: hello", "line 3: node 'hello' is in a loop without a wait"),
        (", timeout: end", "", "line 8: wait 'approval' names no successor for 'timeout'"),
        ("id: hello", "id: end", "line 3: 'end' is the name of the plan's end, not of a node"),
        (
            "content: hello",
            "content: ${imput.x}",
            "line 3: node 'hello' has a template ${imput...}; templates begin with input, job, memory, results",
        ),
        ("    key: approval", "    key: approval\n    key: again", "line 11: 'key' is there twice"),
        (
            "    channel: chat",
            "    channel: chat\n    catch: gone",
            "line 6: node 'hello' goes on to 'gone', which is not a node",
        ),
        (
            "    channel: chat",
            "    channel: chat\n    retry:\n      attempts: 3\n      backoff: 0",
            "line 8: node 'hello': retry.backoff: ",
        ),
        (
            "    channel: chat",
            "    channel: chat\n    retry:\n      times: 3",
            "line 7: node 'hello': retry.times: 'times' is not a field here; there are attempts, ",
        ),
        (
            "    channel: chat",
            "    channel: chat\n    retry: {first_delay: 2s, max_delay: 1s}",
            "line 6: node 'hello': retry: max_delay is shorter than first_delay",
        ),
        (
            "    key: approval",
            "    key: approval\n    retry: {attempts: 3}",
            "line 11: node 'approval': retry: 'retry' is not a field here",
        ),
        (
            "    key: approval",
            "    key: approval\n    form:\n      type: strng",
            "line 8: wait 'approval': form.type: ",
        ),
        (
            "    key: approval",
            "    key: approval\n    form: text",
            "line 11: node 'approval': form: ",
        ),
        (
            "    kind: emit\n    channel: chat\n    content: hello",
            "    kind: tool\n    activity: x\n    heartbeat: 2m",
            "line 3: node 'hello': heartbeat is longer than timeout",
        ),
        ("name: greeting", "name: greeting\nname: again", "line 2: 'name' is there twice"),
        ("name: greeting\n", "", "line 1: name: is missing"),
        (
            "name: greeting",
            "name: greeting\nbudget: {}",
            "line 2: budget: a budget gives tokens, usd or both",
        ),
        (
            "name: greeting",
            "name: greeting\nbudget:\n  tokens: 0",
            "line 3: budget.tokens: Input should be greater than or equal to 1, not 0",
        ),
        (
            "name: greeting",
            "name: greeting\nbudget:\n  eur: 1",
            "line 3: budget.eur: 'eur' is not a field here; there are tokens, usd",
        ),
        (
            "kind: emit\n    channel: chat\n    content: hello",
            "kind: think\n    prompt: hello\n    max_input_tokens: 0",
            "line 6: node 'hello': max_input_tokens: Input should be greater than or equal to 1",
        ),
        (
            "name: greeting",
            "name: greeting\nauthor: me",
            "line 2: author: 'author' is not a field here; there are name, nodes, budget",
        ),
        ("key: approval", "key: 'approval", "line 13: found unexpected end of stream"),
        ("    key: approval", "   key: approval", "line 10: "),
    ],
)
def test_a_problem_names_its_node_and_its_line(before: str, after: str, told: str) -> None:
    assert before in SOUND

    found = problems(SOUND.replace(before, after, 1))

    assert any(problem.startswith(told) for problem in found), found


def test_all_problems_are_told_at_once() -> None:
    broken = SOUND.replace("kind: emit", "kind: shout").replace("21d", "soon")

    found = problems(broken)

    assert [problem.split(":")[0] for problem in found] == ["line 3", "line 11"]


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
    [
        ("", "it is empty"),
        ("# only a comment\n", "it is empty"),
        ("just text", "line 1: "),
        ("- a\n- list", "line 1: "),
        ("name: x\nnodes: none", "line 2: "),
        ("name: x\nnodes: [text]", "line 2: "),
        ("name: x\nnodes: []", "a plan has at least one node"),
        ("a: 1\n---\nb: 2", "line 2: "),
        ("name: !!python/object/apply:os.system [ls]", "line 1: "),
        ("name: *unknown", "line 1: "),
        ("name: &a [*a]\nnodes: []", "refers to itself"),
        ("? [1, 2]\n: 3", "line 1: "),
        ("name: \x07", "unacceptable character"),
        ("\ttab: 1", "line 1: "),
        ("name: " + "[" * 2000 + "]" * 2000, "nested too deep"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_plan_is_refused_in_words(text: str, told: str) -> None:
    found = problems(text)

    assert told in found[0], found


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(SOUND.replace("21d", "soon"), encoding="utf-8")

    with pytest.raises(InvalidPlanError, match=r"plan\.yaml.*line 11.*soon"):
        read_plan(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidPlanError, match=r"gone\.yaml.*No such file"):
        read_plan(tmp_path / "gone.yaml")
    with pytest.raises(InvalidPlanError, match="Is a directory"):
        read_plan(tmp_path)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_bytes("name: grün".encode("latin-1"))

    with pytest.raises(InvalidPlanError, match="not UTF-8"):
        read_plan(path)


def test_a_plan_made_in_python_is_held_to_the_same_rules() -> None:
    plan = parse_plan(SOUND, source="p.yaml")
    require_sound(plan)
    broken = Plan(name="broken", nodes=(plan.nodes[0],))

    with pytest.raises(InvalidPlanError, match=r"broken.*'approval', which is not a node"):
        require_sound(broken)
