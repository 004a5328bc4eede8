"""All that a database knows of a tenant, so that two can be compared."""

from collections import Counter
from pathlib import Path

import psycopg
from psycopg import sql
from pydantic import SecretStr

from mnestic.starter.settings import Settings

ROWS = Path(__file__).with_name("known_rows.sql").read_text("utf-8")
TABLES = """
SELECT table_name FROM information_schema.columns
 WHERE table_schema = 'mnestic' AND column_name = 'tenant_id'
"""
LEFT_OUT = [
    *("number", "context", "entry_number", "complete_to", "first_number", "postings"),  # numbers
    *("created_at", "updated_at", "recorded_at", "switched_at"),
]
NO_KNOWLEDGE = {"audit_log", "agent_revision", "operation", "llm_usage", "memory_event"}
Knowledge = dict[str, Counter[str]]


def read_knowledge(settings: Settings) -> Knowledge:
    """All rows of a tenant by table, but those that tell how it came to them."""
    with psycopg.connect(admin_url(settings)) as connection:
        names = {name for (name,) in connection.execute(TABLES)} - NO_KNOWLEDGE
        return {
            name: Counter(
                row
                for (row,) in connection.execute(
                    sql.SQL(ROWS).format(table=sql.Identifier(name)),
                    {"tenant": settings.tenant_id, "left_out": LEFT_OUT},
                )
            )
            for name in sorted(names)
        }


def in_database(settings: Settings, url: str, *, queue: str = "") -> Settings:
    """The settings of the same tenant in another database, and on another task queue."""
    return settings.model_copy(
        update={
            "task_queue": settings.task_queue + queue,
            "database_url": SecretStr(url.replace("postgres@", "mnestic_app@")),
            "database_admin_url": SecretStr(url),
        }
    )


def admin_url(settings: Settings) -> str:
    assert settings.database_admin_url is not None
    return settings.database_admin_url.get_secret_value()
