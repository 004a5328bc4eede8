"""Entries have a key that others which may say the same have as well, so that a night need not read all of their words.

Revision ID: 0031
Revises: 0030
"""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

# The words are those of memory/maintenance/duplicates.yaml; a test holds both to each other.
KEY = r"""
CREATE FUNCTION mnestic.duplicate_key(
    kind text, entry_type text, content text, speaker text, channel text, parent text, subjects jsonb, tags jsonb, aliases jsonb,
    expires_at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT hash_array_extended(ARRAY[words, entry_type, speaker, channel, parent, CAST(subjects AS text), CAST(tags AS text),
                                     CAST(aliases AS text), CAST(EXTRACT(epoch FROM expires_at) AS text)], 0)
      FROM (SELECT regexp_replace(
            lower(content),
            '\m(?\:actually|basically|hello|hey|hi|hm|hmm|oh|please|really|the|uh|um|very)\M|[[:space:][:punct:]]+',
            '', 'g') AS words
             WHERE kind = 'message' AND entry_type <> 'correction' OFFSET 0) AS left_over
     WHERE words <> ''
$$;
"""

COLUMN = """
ALTER TABLE mnestic.entry ADD COLUMN duplicate_key bigint GENERATED ALWAYS AS (
    mnestic.duplicate_key(kind, entry_type, content, speaker, channel, parent, subjects, tags, aliases, expires_at)) STORED
"""

INDEX = """
CREATE INDEX entry_by_duplicate_key ON mnestic.entry (tenant_id, agent_id, duplicate_key, number)
 WHERE duplicate_key IS NOT NULL AND status = 'active' AND merged_into IS NULL
"""


def upgrade() -> None:
    for statement in (KEY, COLUMN, INDEX):
        op.execute(statement)
