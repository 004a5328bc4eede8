"""The pages about contracts, events and collections: what they show is applied and run in its order, and gives what its comments say."""

import re
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from mnestic.memory.contract.document import json_schema
from mnestic.memory.jobs.plans import WaitNode
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.contract.documents import parse_contract
from mnestic.starter.jobs.plans import parse_plan

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "contract.md"
_BLOCK = re.compile(r"^```(yaml|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENT, SESSION = "agent.seo.audit", "monday"


def test_each_field_of_the_document_is_on_the_page() -> None:
    schema = json_schema()
    fields = {name for part in schema["$defs"].values() for name in part["properties"]}
    shown = {*re.findall(r"\w+", PAGE.read_text(encoding="utf-8"))}

    assert "conflict_resolution" in fields
    assert fields - shown == set()


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("name", "sections_shown"),
    [
        ("contract.md", {"short_term", "long_term", "shared", "vector", "graph"}),
        ("sharing.md", {"shared"}),
        ("graph.md", {"graph"}),
        ("collections.md", {"vector"}),
    ],
)
async def test_each_block_of_the_page_does_what_it_says(
    name: str,
    sections_shown: set[str],
    client: MnesticClient,
    admin_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    blocks = _BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))
    monkeypatch.setenv("SUPABASE_URL", admin_url)
    names: dict[str, Any] = {"client": client}
    sections: dict[str, Any] = {}  # the documents of the page are parts of one
    for language, text in blocks:
        if language == "python":
            code = compile(text, name, "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)
            await FunctionType(code, names)()
            printed = capsys.readouterr().out.splitlines()
            assert printed == re.findall(r"^print\(.*\)  # (.+)$", text, re.MULTILINE)
        elif text.startswith("Memory:"):
            sections |= parse_contract(text, source=name)["Memory"]
            await client.contracts().apply("agent.seo.*", {"Memory": sections})
        else:
            plan = parse_plan(text, source=name)
            if any(isinstance(node, WaitNode) for node in plan.nodes):
                continue  # nobody answers it here
            site = {"site": "site-7"}
            job = await client.start_job(plan, agent_id=AGENT, session_id=SESSION, inputs=site)
            await client.wait_for_result(job)  # which fails if the job has

    assert {*sections} == sections_shown
