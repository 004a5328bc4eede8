"""Where the runtime's own programs, the worker and the HTTP API, find its servers."""

import os
from dataclasses import dataclass
from pathlib import Path

from mnestic.starter.embedded.connection import environment_for_embedded


@dataclass(frozen=True, kw_only=True)
class ProcessWiring:
    """The environment of a program. `embedded` means that Temporal is the runtime's, not the user's."""

    database_url: str
    database_admin_url: str  # maintenance builds indexes as the owner of the tables
    temporal_address: str
    temporal_ui: str | None
    embedded: bool
    task_queue: str
    data_dir: Path

    def environment(self) -> dict[str, str]:
        """The environment of the process: ours, and where its servers are."""
        inherited = environment_for_embedded() if self.embedded else os.environ
        ui = {"MNESTIC_TEMPORAL_UI_URL": self.temporal_ui} if self.temporal_ui else {}
        return {
            **inherited,
            **ui,
            "MNESTIC_DATABASE_URL": self.database_url,
            "MNESTIC_DATABASE_ADMIN_URL": self.database_admin_url,
            "MNESTIC_DATA_DIR": str(self.data_dir),
            "MNESTIC_TASK_QUEUE": self.task_queue,
            "TEMPORAL_ADDRESS": self.temporal_address,
        }
