"""Tools of memory, one after the other: `walks.yaml` has what is called, and what the result has at least or what the error says."""

import re
from typing import Any

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.case_files import at, differences, filled, read_cases
from tests.starter.mcp.conftest import Connect

WALKS: dict[str, Any] = read_cases(__file__, "walks")


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("name", WALKS)
async def test_each_call_answers_after_those_before_it(
    connect: Connect, client: MnesticClient, name: str
) -> None:
    walk, names = WALKS[name], dict[str, str]()
    for subject, predicate, value in walk.get("facts", ()):
        await client.memory("ada").facts.add(subject, predicate, value)
    async with connect("ada", walk.get("profile", "memory")) as mcp:
        for step in walk["steps"]:
            tool, *arguments = filled(step["call"], names)

            result = await mcp.call_tool(tool, (arguments or [{}])[0])

            text = str(getattr(result.content[0], "text", ""))
            assert result.is_error == ("error" in step), (step, text)
            assert re.search(filled(step.get("error", step.get("says", "")), names), text), (
                step,
                text,
            )
            document = result.structured_content
            assert differences(document, filled(step.get("is", document), names)) == [], step
            for kept, place in step.get("keep", {}).items():
                names[kept] = at(document, place)
    archived, _ = await client.memory("ada").entries.list_archived()
    assert [one.entry.content for one in archived] == walk.get("archived", [])
