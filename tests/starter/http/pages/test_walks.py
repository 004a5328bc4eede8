"""Pages one after the other, without a browser: `walks.yaml` has what a form sends, and what the page shows or leads to.

`keep` names what later requests are filled with: what a pattern finds in the page.
"""

import asyncio
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.starter.case_files import filled, read_cases
from tests.starter.http.conftest import NewKey
from tests.starter.http.pages.conftest import SERVER, Browse

WALKS: dict[str, Any] = read_cases(__file__, "walks")


@pytest.fixture
def settings(new_settings: Callable[[Path], Settings], tmp_path: Path) -> Settings:
    """Settings with a vault of notes."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Mara.md").write_text("Mara plays the cello.", encoding="utf-8")
    (tmp_path / "vault" / "Tagged.md").write_text("#mnestic Tea is at five.", encoding="utf-8")
    vault = {"obsidian_vault": tmp_path / "vault"}
    return new_settings(tmp_path / "data").model_copy(update=vault)


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("name", WALKS)
async def test_each_page_shows_what_was_done_before(
    browser: httpx2.AsyncClient, browse: Browse, new_key: NewKey, client: MnesticClient, name: str
) -> None:
    names = {"server": SERVER}
    for number, entry in enumerate(WALKS[name].get("entries", ())):
        memory = client.memory(entry.pop("agent", "ada"))
        names[f"e{number}"] = (await memory.add(**entry)).id
    async with browse(await new_key(agents=("bert",))) as other, asyncio.timeout(60):
        for step in WALKS[name]["steps"]:
            method, path, *form = filled(step["send"], names)
            status, *texts = filled(step["is"], names)
            http = other if step.get("by") == "bert" else browser
            while True:
                answer = await http.request(
                    method,
                    path,
                    data=(form or [None])[0],
                    headers=filled(step.get("headers", {}), names),
                )
                shown = f"{answer.headers.get('Location', '')} {answer.text}"
                lacking = [one for one in texts if one not in shown]
                if not lacking or not step.get("until"):
                    break
                # Neither Postgres nor Temporal's visibility sets an event.
                await asyncio.sleep(0.05)

            wrong = [one for one in step.get("not", []) if one in shown]
            assert (answer.status_code, lacking, wrong) == (status, [], []), (step["send"], shown)
            for kept, pattern in step.get("keep", {}).items():
                found = re.search(pattern, shown)
                assert found is not None, (pattern, shown)
                names[kept] = found[1]


async def test_the_page_changes_the_value_of_a_record_alone(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    records = client.memory("ada").records
    lives = timedelta(hours=1)
    await records.set("preferences", "theme", "dark", ttl=lives, metadata={"source": "mail"})
    form = {"namespace": "preferences", "key": "theme", "value": '"light"', "version": "1"}

    answer = await browser.post("/ui/memory/records?agent_id=ada", data=form)
    changed = await records.get("preferences", "theme")
    deep = {**form, "value": "[" * 100_000, "version": "2"}
    refused = await browser.post("/ui/memory/records?agent_id=ada", data=deep)

    assert answer.status_code == 303
    assert (changed.value, changed.metadata) == ("light", {"source": "mail"})
    assert changed.expires_at == changed.updated_at + lives
    assert (refused.status_code, "nested too deep" in refused.text) == (422, True)
