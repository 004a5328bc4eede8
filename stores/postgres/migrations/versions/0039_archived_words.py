"""The words of archived entries, so that these are found where nothing live answers; and what runs of maintenance did of an agent.

Revision ID: 0039
Revises: 0038
"""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

WORDS = """
CREATE FUNCTION mnestic.words_of(language text, content text) RETURNS tsvector
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT to_tsvector(language::regconfig, mnestic.words_apart(content))
$$;
ALTER TABLE mnestic.archived_entry
    ADD COLUMN words tsvector GENERATED ALWAYS AS (mnestic.words_of(entry ->> 'language', entry ->> 'content')) STORED;
CREATE INDEX operation_of_maintenance ON mnestic.operation (tenant_id, agent_id) WHERE name = 'maintenance';
"""


def upgrade() -> None:
    op.execute(WORDS)
