"""The tables of retrieval: what is set for an agent, and what was put into prompts."""

from sqlalchemy import BigInteger, Identity, Index, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB

from mnestic.stores.postgres.tables import INSTANT, key, required, tenant_table

# What is set for an agent at run time.
SETTING = tenant_table(
    "setting",
    key("agent_id"),
    key("name"),
    required("value", JSONB),
    required("updated_at", INSTANT),
)

# What auto-retrieval has put before a message.
INJECTION = tenant_table(
    "memory_retrievals",
    key("agent_id"),
    key("id", BigInteger, Identity(always=True)),
    required("channel", Text),
    required("preview", Text),
    required("memories", JSONB),
    required("notes", JSONB),
    required("skipped", JSONB),
    required("tokens", Integer),
    required("created_at", INSTANT),
    Index("memory_retrievals_by_time", "tenant_id", "agent_id", "created_at", "id"),
)
