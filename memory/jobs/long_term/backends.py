"""Backends of records: where a schema's records are stored beside Mnestic's own database, and what is sent there."""

from datetime import timedelta
from typing import Any, Literal

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

FLUSH_DELAY = timedelta(seconds=10)
"""How soon a backend that answers has what was written under `write_back`."""
STALENESS = timedelta(seconds=30)
"""How old a read under `read_through` is at most."""
ANSWER_LIMIT = timedelta(seconds=2)
"""How long a backend may take for one call, with all that it waits for."""


class RemoteBackend(DeferredModel):
    """A backend as the contract in force names it; `connection_string` has its secrets as `${NAME}`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    backend_id: str
    type: Literal["postgres", "supabase", "redis"]
    connection_string: str
    table_prefix: str | None = None
    strategy: Literal["write_through", "write_back", "read_through"] = "write_through"

    @property
    def place(self) -> tuple[str, str, str | None]:
        """Where it is, whatever it is called."""
        return self.type, self.connection_string, self.table_prefix


class RecordPlace(DeferredModel):
    """Whose record it is, and its name."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: str
    agent_id: str
    schema_id: str
    key: str


class BackendRecord(RecordPlace):
    """A record as a backend has it; without a value it is to be removed there."""

    version: int
    value: Any = None
    metadata: dict[str, Any] | None = None
    updated_at: AwareDatetime
    expires_at: AwareDatetime | None = None
