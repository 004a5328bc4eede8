"""The command that resumes a waiting job, as one pastes it into a shell.

The card of a job and the command line show the same one.
"""

import json
import shlex
from typing import Any

from mnestic.memory.jobs.forms.form_examples import find_example
from mnestic.memory.jobs.waits import RESUMED, TIMEOUT

DEFAULT_TENANT = "default"


def resume_command(
    job_id: str,
    *,
    outcomes: tuple[str, ...],
    form: dict[str, Any] | None,
    tenant_id: str,
    data_dir: str | None = None,
) -> str | None:
    """A command with the first outcome and a payload that fits; None if no such payload was found."""
    outcome = next((name for name in outcomes if name != TIMEOUT), RESUMED)
    example = None if form is None else find_example(form)
    if form is not None and example is None:
        return None
    payload = {} if example is None else example.payload
    words = [
        "mnestic",
        *(() if data_dir is None else ("--data", data_dir)),
        *(() if tenant_id == DEFAULT_TENANT else ("--tenant", tenant_id)),
        "job",
        "resume",
        job_id,
        *(() if outcome == RESUMED else ("--outcome", outcome)),
        "--payload",
        json.dumps(payload, ensure_ascii=False),
    ]
    return shlex.join(words)
