"""The command on a job's card resumes the job when somebody pastes it into a shell."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata

from mnestic.memory.names import job_workflow_id
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.usefixtures("worker")
StartWaiting = Callable[..., Awaitable[str]]
FORMS: dict[str, tuple[str, dict[str, Any] | None]] = {
    "no form": ("resumed", None),
    "an approval": (
        "approved",
        {
            "type": "object",
            "properties": {"by": {"type": "string"}, "amount": {"type": "number", "minimum": 0}},
            "required": ["by"],
        },
    ),
    "quotes and a dollar": ("it's `done` $HOME", {"const": 'it\'s "$HOME" `x` \\ ü\n'}),
    "a number": ("counted", {"type": "integer", "minimum": 7}),
    "a reference": (
        "resumed",
        {
            "$defs": {"who": {"type": "object", "required": ["name"]}},
            "oneOf": [{"type": "null", "const": 1}, {"$ref": "#/$defs/who"}],
        },
    ),
}


@pytest.mark.parametrize(
    ("outcome", "form"),
    [
        pytest.param(*terms, id=name, marks=() if "quotes" in name else pytest.mark.acceptance)
        for name, terms in FORMS.items()  # a shell and a command take seconds
    ],
)
async def test_the_command_on_the_card_resumes_the_job(
    client: MnesticClient,
    start_waiting: StartWaiting,
    tmp_path: Path,
    outcome: str,
    form: dict[str, Any] | None,
) -> None:
    job_id = await start_waiting(_plan(outcome, form))
    (command,) = re.findall(
        r"^(`{3,})sh\n(.*?)\n\1$", await _card(client, job_id), re.DOTALL | re.MULTILINE
    )

    shell = await asyncio.create_subprocess_shell(
        command[1], env=_environment(client), cwd=tmp_path, stdout=-1, stderr=-1
    )
    async with asyncio.timeout(120):
        out, err = await shell.communicate()
        result = await client.wait_for_result(job_id)

    assert shell.returncode == 0, out + err
    assert result.results["ask"]["outcome"] == outcome


async def test_where_no_example_is_found_the_card_shows_the_form(
    client: MnesticClient, start_waiting: StartWaiting
) -> None:
    form = {"type": "string", "pattern": "^zq[0-9]{7}$"}
    job_id = await start_waiting(_plan("resumed", form))

    card = await _card(client, job_id)

    assert "Resume it with a payload that fits this form" in card
    assert '"pattern": "^zq[0-9]{7}$"' in card


def _plan(outcome: str, form: dict[str, Any] | None) -> str:
    wait = {
        "id": "ask",
        "kind": "wait",
        "key": "ask",
        "timeout": "1d",
        "on": {outcome: "end", "timeout": "end"},
        **({} if form is None else {"form": form}),
    }
    return json.dumps({"name": "paste", "nodes": [wait]}, ensure_ascii=False)


async def _card(client: MnesticClient, job_id: str) -> str:
    name = job_workflow_id(client.settings.tenant_id, job_id)
    handle = client.temporal.get_workflow_handle(name)
    metadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return metadata.current_details


def _environment(client: MnesticClient) -> dict[str, str]:
    """Where a person's shell finds the command and the servers; the tenant is on the card."""
    settings = client.settings
    assert settings.database_url is not None
    assert settings.temporal_address is not None
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "TEMPORAL_ADDRESS": settings.temporal_address,
    }
