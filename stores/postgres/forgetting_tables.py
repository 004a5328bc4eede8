"""The table of forgettings."""

from sqlalchemy import CheckConstraint, Column, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from mnestic.stores.postgres.tables import INSTANT, key, required, tenant_table

# Who had what forgotten, and how much that was; once it is done, a tombstone without a word of it.
FORGETTING = tenant_table(
    "forgetting",
    key("agent_id"),
    key("id"),
    required("actor", Text),
    Column("topic", Text),
    Column("entries", JSONB(none_as_null=True)),
    required("purged", JSONB, server_default=text("'{}'")),
    required("asked_at", INSTANT),
    Column("finished_at", INSTANT),
    CheckConstraint(
        "(finished_at IS NULL) = (topic IS NOT NULL) AND (finished_at IS NULL OR entries IS NULL)",
        name="forgetting_finished",
    ),
)
