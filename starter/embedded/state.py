"""The state file of a runtime, for other commands and for the next runtime.

Commands read it without starting or importing any part.
"""

import os
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from mnestic.starter.embedded.process_mark import ProcessMark

FILE_NAME = "runtime.json"


class RuntimeState(BaseModel):
    """A runtime, and where its parts answer.

    `create_time` is the start of the process `pid`, in seconds since the epoch. Addresses may hold
    a password (of a database of your own), so the file is for its owner only. `given_up` says of parts
    that ended again and again why; the others go on.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    create_time: float
    started_at: AwareDatetime
    ready: bool = False
    database_url: str | None = None
    database_admin_url: str | None = None
    temporal_address: str | None = None
    temporal_ui: str | None = None
    temporal_port: int | None = None
    ui_port: int | None = None
    api_url: str | None = None
    api_port: int | None = None
    parts: tuple[ProcessMark, ...] = ()
    given_up: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        """Whether the runtime's process still runs."""
        mark = ProcessMark("runtime", self.pid, self.create_time, 0, 0, 0.0)
        return mark.find() is not None


def read_state(data_dir: Path) -> RuntimeState | None:
    """The runtime that serves a data directory now; None if none is ready."""
    state = read_last_state(data_dir)
    return state if state is not None and state.ready and state.alive else None


def read_last_state(data_dir: Path) -> RuntimeState | None:
    """The state of the last runtime of a data directory, whether it runs or not."""
    try:
        return RuntimeState.model_validate_json((data_dir / FILE_NAME).read_bytes())
    except (FileNotFoundError, ValidationError):  # absent, or of a version that wrote otherwise
        return None


def write_state(data_dir: Path, state: RuntimeState) -> None:
    """Writes the state so that a reader sees the old one or the new one, never half of one."""
    path = data_dir / FILE_NAME
    draft = path.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(state.model_dump_json(indent=2))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
