"""Where the database and Temporal are, and the connections to them.

One of the two composition roots: it and `worker.py` alone name concrete stores.
"""

from pydantic import BaseModel, ConfigDict, SecretStr
from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime

from mnestic.activities.clients.rules.extractor import LocalExtractor
from mnestic.memory.errors import ConfigurationError
from mnestic.memory.ports import Extractor
from mnestic.starter.embedded.connection import connect, load_profile
from mnestic.starter.embedded.state import read_state
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.memory import PostgresMemory
from mnestic.workflows.plugin import MnesticPlugin


class Endpoints(BaseModel):
    """The addresses in force: settings first, then the runtime that is up on the data directory."""

    model_config = ConfigDict(frozen=True)

    database_url: SecretStr
    database_admin_url: SecretStr
    temporal_address: str
    temporal_namespace: str = "default"
    temporal_ui: str | None = None
    embedded_temporal: bool

    def link_to(self, workflow_id: str) -> str | None:
        """The page of a workflow in the Temporal UI, if the UI's address is known."""
        if self.temporal_ui is None:
            return None
        name = workflow_id.replace("/", "%2F")
        return f"{self.temporal_ui}/namespaces/{self.temporal_namespace}/workflows/{name}"


def find_endpoints(settings: Settings) -> Endpoints:
    """The addresses to use.

    Raises:
        ConfigurationError: neither the settings nor a running runtime tell them, or Temporal's own
            settings cannot be read.
    """
    state = read_state(settings.data_dir)
    database, admin = find_database(settings)
    temporal = settings.temporal_address or (state.temporal_address if state else None)
    if temporal is None:
        raise _unknown("TEMPORAL_ADDRESS", settings)
    embedded = settings.temporal_address is None
    return Endpoints(
        database_url=database,
        database_admin_url=admin,
        temporal_address=temporal,
        temporal_namespace="default" if embedded else load_profile().get("namespace", "default"),
        temporal_ui=settings.temporal_ui_url or (state.temporal_ui if state and embedded else None),
        embedded_temporal=embedded,
    )


def find_database(settings: Settings) -> tuple[SecretStr, SecretStr]:
    """The addresses of the database for the application and for the schema's owner.

    Raises:
        ConfigurationError: neither the settings nor a running runtime tell them.
    """
    state = read_state(settings.data_dir)
    url, admin_url = settings.database_url, settings.database_admin_url
    if url is None and state is not None and state.database_url is not None:
        url = SecretStr(state.database_url)
        admin_url = admin_url or SecretStr(state.database_admin_url or state.database_url)
    if url is None:
        raise _unknown("MNESTIC_DATABASE_URL", settings)
    return url, admin_url or url


def _unknown(setting: str, settings: Settings) -> ConfigurationError:
    why = f"is not set, and no runtime is up on {settings.data_dir}; run `mnestic up`, or set it"
    return ConfigurationError(setting=setting, why=why)


def local_extractor() -> Extractor:
    """The extractor that asks no model."""
    return LocalExtractor()


async def connect_temporal(
    endpoints: Endpoints, *, plugins: tuple[SimplePlugin, ...] = (), runtime: Runtime | None = None
) -> Client:
    """Connects to Temporal with everything that jobs need.

    Raises:
        TemporalUnavailableError: it does not answer.
        ConfigurationError: Temporal's own settings cannot be read.
    """
    return await connect(
        endpoints.temporal_address,
        embedded=endpoints.embedded_temporal,
        plugins=[MnesticPlugin(), *plugins],
        runtime=runtime,
    )


def open_memory(endpoints: Endpoints) -> PostgresMemory:
    """The memory in Postgres; the caller closes it."""
    return open_database(endpoints.database_url)


def open_database(url: SecretStr) -> PostgresMemory:
    """The memory in the database at an address; the caller closes it."""
    return PostgresMemory(url.get_secret_value())
