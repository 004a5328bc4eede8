"""Commands of memory, one after the other: `walks.yaml` has what is typed, what is printed, and what the document has.

`always` stands after the words; `json` is what the document has at least; `keep` names what later commands are filled with.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.starter.case_files import at, differences, filled, read_cases
from tests.starter.cli.conftest import Ask

WALKS: dict[str, Any] = read_cases(__file__, "walks")


@pytest.mark.parametrize("name", WALKS)
async def test_each_command_answers_after_those_before_it(
    ask: Ask, tmp_path: Path, name: str
) -> None:
    names: dict[str, str] = {}
    for file, text in WALKS[name].get("files", {}).items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    for step in WALKS[name]["steps"]:
        words = filled([*step["run"], *step.get("always", WALKS[name]["always"])], names)

        done = await ask(*words, *(["--json"] if "json" in step or "keep" in step else []))

        shown = done.out + done.err
        lacking = [one for one in filled(step.get("says", []), names) if one not in shown]
        wrong = [one for one in step.get("not", []) if one in shown]
        assert (done.code, lacking, wrong) == (step.get("code", 0), [], []), (words, shown)
        if "json" in step:
            assert differences(done.document, filled(step["json"], names)) == [], (words, shown)
        for kept, place in step.get("keep", {}).items():
            names[kept] = at(done.document, place)
