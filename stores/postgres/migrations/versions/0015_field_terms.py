"""Tables and columns by the field's terms; nothing but names changes, and no row is written.

Revision ID: 0015
Revises: 0014
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

INGEST_STATE = """
ALTER TABLE mnestic.learning RENAME TO ingest_state;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_pkey TO ingest_state_pkey;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_state TO ingest_state_state;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_kind TO ingest_state_kind;
ALTER TABLE mnestic.ingest_state RENAME CONSTRAINT learning_parked TO ingest_state_parked;
ALTER INDEX mnestic.learning_by_state RENAME TO ingest_state_by_state;
ALTER SEQUENCE mnestic.learning_number_seq RENAME TO ingest_state_number_seq;
"""
MEMORY_EVENT = """
ALTER TABLE mnestic.signal RENAME TO memory_event;
ALTER TABLE mnestic.memory_event RENAME CONSTRAINT signal_pkey TO memory_event_pkey;
ALTER TABLE mnestic.memory_event RENAME CONSTRAINT signal_target TO memory_event_target;
ALTER TABLE mnestic.agent_revision RENAME COLUMN signals TO events;
"""
COLUMNS = """
ALTER TABLE mnestic.agent_revision RENAME COLUMN knowledge TO knowledge_revision;
ALTER TABLE mnestic.entry RENAME COLUMN marks TO features;
ALTER TABLE mnestic.forgetting RENAME COLUMN asked_at TO requested_at;
"""


def upgrade() -> None:
    op.execute(INGEST_STATE)
    op.execute(MEMORY_EVENT)
    op.execute(COLUMNS)
