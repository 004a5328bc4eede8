"""Which earlier entries a message replaces, ends or corrects, as a model names them.

Revision ID: 0036
Revises: 0035
"""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

REPLACES = """
ALTER TABLE mnestic.entry ADD COLUMN replaces jsonb NOT NULL DEFAULT '[]';
ALTER TABLE mnestic.ingest_state ADD COLUMN replaces jsonb NOT NULL DEFAULT '[]';
ALTER TABLE mnestic.entry_term DROP CONSTRAINT entry_term_kind,
    ADD CONSTRAINT entry_term_kind
        CHECK (kind IN ('keyword', 'tag', 'alias', 'subject', 'related', 'replaced', 'ended', 'corrected'));
ALTER TABLE mnestic.supersession DROP CONSTRAINT supersession_why,
    ADD CONSTRAINT supersession_why CHECK (why IN ('superseded', 'replaced', 'ended', 'corrected', 'withdrawn'));
"""


def upgrade() -> None:
    op.execute(REPLACES)
