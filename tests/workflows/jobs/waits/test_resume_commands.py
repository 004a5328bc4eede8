"""The command on a job's card resumes the job when somebody pastes it into a shell."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata

from tests.workflows.conftest import Jobs

pytestmark = pytest.mark.usefixtures("worker")


async def test_the_command_on_the_card_resumes_the_job_whatever_it_quotes(
    jobs: Jobs, tmp_path: Path
) -> None:
    outcome = "it's `done` $HOME"
    job_id = await jobs.start_waiting(_plan(outcome, {"const": 'it\'s "$HOME" `x` \\ ü\n'}))
    (command,) = re.findall(
        r"^(`{3,})sh\n(.*?)\n\1$", await _card(jobs, job_id), re.DOTALL | re.MULTILINE
    )
    settings = jobs.settings
    assert settings.database_url is not None
    assert settings.temporal_address is not None
    environment = {  # where a person's shell finds the command and the servers; the tenant is on the card
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "TEMPORAL_ADDRESS": settings.temporal_address,
    }

    shell = await asyncio.create_subprocess_shell(
        command[1], env=environment, cwd=tmp_path, stdout=-1, stderr=-1
    )
    async with asyncio.timeout(120):
        out, err = await shell.communicate()
        result = await jobs.wait_for_result(job_id)

    assert shell.returncode == 0, out + err
    assert result.results["ask"]["outcome"] == outcome


def _plan(outcome: str, form: dict[str, Any]) -> str:
    ways = {outcome: "end", "timeout": "end"}
    wait = {"id": "ask", "kind": "wait", "key": "ask", "timeout": "1d", "on": ways, "form": form}
    return json.dumps({"name": "paste", "nodes": [wait]}, ensure_ascii=False)


async def _card(jobs: Jobs, job_id: str) -> str:
    metadata = await jobs.handle(job_id).query(
        "__temporal_workflow_metadata", result_type=WorkflowMetadata
    )
    return metadata.current_details
