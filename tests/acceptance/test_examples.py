"""Each program in `examples/` as a user runs it: a process beside `mnestic up`. `refund.py` is tried by `test_code_first.py`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnestic.starter.embedded.state import read_state

pytestmark = pytest.mark.acceptance

RunExample = Callable[..., Any]


@pytest.fixture(scope="module")
def up(start_up: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return start_up(tmp_path_factory.mktemp("examples"))


@pytest.fixture
def run_example(up: Any, processes: Any, root: Path) -> RunExample:
    """Runs an example to its end; gives its lines."""

    def run(
        name: str, *words: str, typed: str = "", env: dict[str, str] | None = None
    ) -> list[str]:
        env = {"MNESTIC_DATA_DIR": str(up.data), **(env or {})}
        done = processes.run(sys.executable, root / "examples" / name, *words, env=env, typed=typed)
        assert done.code == 0, done.err
        return [str(line) for line in done.out.splitlines()]

    return run


def test_each_example_is_in_the_list(root: Path) -> None:
    page = (root / "examples" / "README.md").read_text(encoding="utf-8")

    programs = {path.name for path in (root / "examples").glob("*.py")}

    assert len(programs) >= 6
    assert all(f"[{name}]({name})" in page for name in programs)


def test_the_quick_start_runs_as_it_stands(
    up: Any, processes: Any, root: Path, tmp_path: Path
) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    program = tmp_path / "quickstart.py"
    program.write_text(readme.split("```python\n")[1].split("```")[0], encoding="utf-8")

    done = processes.run(sys.executable, program, env={"MNESTIC_DATA_DIR": str(up.data)})

    assert done.code == 0, done.err
    first, _, block = done.out.partition("\n")
    score, _, content = first.partition(" ")
    assert float(score) > 0.9
    assert content == "Mara is allergic to peanuts."
    assert '"Mara is allergic to peanuts."' in block or '"allergic_to"' in block


def test_the_lines_for_the_shell_run_as_they_stand_at_once(
    up: Any, processes: Any, root: Path
) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    lines = readme.split("From the shell:")[1].split("```sh\n")[1].split("```")[0].splitlines()
    script = "\n".join(line for line in lines if not line.startswith("export PATH"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    done = processes.run(
        "bash", "-ec", script, env={"MNESTIC_DATA_DIR": str(up.data), "PATH": path}
    )

    assert done.code == 0, done.err
    assert "No results" not in done.out
    assert "Mara lives in Porto" in done.out or "lives_in" in done.out


def test_remember_and_ask(run_example: RunExample) -> None:
    first = run_example("remember_and_ask.py")
    again = run_example("remember_and_ask.py")

    for lines in (first, again):
        assert lines[0] == "What is Mara allergic to?"
        assert lines[1].endswith("  Mara is allergic to peanuts.")
        assert lines[3].endswith("  The office closes at six on Fridays.")
        assert lines[4:6] == ["Who won the cup?", "  nothing is known"]
        assert any('"Mara is allergic to peanuts."' in line or '"allergic_to"' in line for line in lines[6:])  # fmt: skip


def test_a_chat_is_remembered_by_the_next_one(up: Any, run_example: RunExample) -> None:
    run_example("agent_loop.py", typed="My sister Ida moved to Porto in March.\n\n")
    up.running.until(
        lambda: up.asked("memory", "facts", "list", "--agent", "companion")["facts"],
        what="a fact about Ida",
    )

    lines = run_example("agent_loop.py", typed="Where does Ida live?\n\n")

    assert lines[0].startswith("Mara: assistant (1 memories): ")
    assert "My sister Ida moved to Porto in March." in "".join(lines)


def test_a_chat_with_a_server_sends_the_memories_along(
    run_example: RunExample, chat_server: Any
) -> None:
    chat_server.completes("Bring walnuts instead.")
    typed = "Tom is allergic to hazelnuts.\nWhat is Tom allergic to?\n\n"

    lines = run_example("agent_loop.py", typed=typed, env={"OPENAI_BASE_URL": chat_server.base_url})

    sent = [request["body"]["messages"] for request in chat_server.requests]
    assert lines[0].endswith("Bring walnuts instead.")
    assert sent[0][-1]["content"] == "Tom is allergic to hazelnuts."
    assert '"Tom is allergic to hazelnuts."' in sent[1][0]["content"]
    assert sent[1][1]["content"] == "What is Tom allergic to?"
    assert '"Bring walnuts instead."' in sent[1][0]["content"]


def test_ten_turns_are_known_to_the_prompts_that_need_them(
    run_example: RunExample, chat_server: Any
) -> None:
    turns = {
        "I am allergic to peanuts.": "",
        "What am I allergic to?": "peanuts",
        "My brother Jan plays the cello.": "",
        "What does he play?": "cello",
        "I fly to Oslo on Friday.": "",
        "Where to?": "Oslo",
        "And when?": "Friday",
        "Can you say that again?": "As you like.",
        "Who is Jan?": "cello",
        "So what should I not eat?": "peanuts",
    }
    chat_server.completes("As you like.")
    env, typed = {"OPENAI_BASE_URL": chat_server.base_url}, [*turns]
    for part in (typed[:6], typed[6:]):  # the second is another process
        run_example("agent_loop.py", typed="\n".join([*part, "", ""]), env=env)

    sent = [request["body"]["messages"] for request in chat_server.requests]

    for messages, (said, needed) in zip(sent, turns.items(), strict=True):
        assert messages[-1]["content"] == said
        assert needed in messages[0]["content"]


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_a_job_waits_for_a_decision(up: Any, run_example: RunExample, outcome: str) -> None:
    order = f"order-{outcome}"

    lines = run_example("approval_job.py", order, "1900", typed=f"{outcome}\n")

    assert lines[0].startswith(f"May order {order} over 1900 EUR go out?")
    assert f"'state': '{outcome}'" in lines[-1]
    assert up.asked("job", "show", order)["state"] == "completed"


def test_an_agent_waits_for_another(run_example: RunExample) -> None:
    for _ in range(2):
        assert run_example("two_agents.py") == [
            "web.mender waits",
            "It was woken by an event: site.problem.price",
            "I mend /pricing, as web.crawler says.",
        ]


def test_facts_are_corrected_and_a_topic_is_forgotten(run_example: RunExample) -> None:
    lines = run_example("correct_and_forget.py")

    assert lines == [
        "Believed now: lives_in Porto",
        "  Lisbon: superseded",
        "  Porto: current",
        "To forget: sentence 'Project Falcon starts in August.'",
        "When does Project Falcon start? nothing is known",
        "What does Mara drink? Mara prefers tea.",
    ]


def test_an_agent_goes_on_from_what_it_has_stored_by_its_contract(
    up: Any, run_example: RunExample
) -> None:
    state = read_state(up.data)
    assert state is not None
    assert state.database_admin_url is not None
    env = {"SUPABASE_URL": state.database_admin_url}

    first = run_example("seo_audit.py", env=env)
    again = run_example("seo_audit.py", env=env)

    summary = [
        "Summary:",
        "  Audit of acme.example.",
        "  Page /tools lacks a heading and texts for images.",
        "  Page /jobs lacks a title and texts for images.",
    ]
    task = "Task: Audit acme.example, 3 pages. (9 of 50000 tokens)"
    contract = "Contract: agent.seo.*, version 1"
    known = "Known: The last audit of acme.example gave 60 of 100."
    assert first[:-1] == [contract, "Known: nothing", task, *summary]
    assert again[1].startswith("Earlier: 60 of 100 at ")
    assert [again[0], *again[2:-1]] == [contract, known, task, *summary]
    assert all(lines[-1].startswith("Stored: 60 of 100, kept until ") for lines in (first, again))
