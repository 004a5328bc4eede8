"""What a process of the HTTP API needs to serve a test's tenant."""

import pytest

from mnestic.starter.settings import Settings


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """The environment of a process that serves this test's tenant."""
    assert settings.database_url is not None
    return {
        "MNESTIC_DATABASE_URL": settings.database_url.get_secret_value(),
        "TEMPORAL_ADDRESS": str(settings.temporal_address),
        "MNESTIC_TENANT_ID": settings.tenant_id,
        "MNESTIC_TASK_QUEUE": settings.task_queue,
        "MNESTIC_DATA_DIR": str(settings.data_dir),
    }
