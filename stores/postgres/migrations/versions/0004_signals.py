"""Signals of what changed in memory, for those who subscribe to it.

Revision ID: 0004
Revises: 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SIGNALS = """
-- The outbox: written in the transaction of the change. Numbers are counted per agent in agent_revision,
-- whose row a writer holds until it commits, so they become visible in their order and without gaps.
CREATE TABLE mnestic.signal (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    ids jsonb NOT NULL,
    subject text,
    predicate text,
    details jsonb NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, number),
    CONSTRAINT signal_target CHECK (target IN ('fact', 'entry', 'pattern'))
);
ALTER TABLE mnestic.agent_revision ADD COLUMN signals bigint NOT NULL DEFAULT 0;
"""

ENTRIES = """
CREATE INDEX entry_by_parent ON mnestic.entry (tenant_id, agent_id, parent) WHERE parent IS NOT NULL;
-- What follows from an entry's message is found by the claims, and goes on changing.
ALTER TABLE mnestic.entry ALTER COLUMN facts SET DEFAULT '[]';
CREATE INDEX claim_by_source ON mnestic.claim
    (tenant_id, agent_id, (source ->> 'session_id'), (source ->> 'source_id'));
-- An entry is found by those that it is related to as well: who is removed is taken out of them.
ALTER TABLE mnestic.entry_term DROP CONSTRAINT entry_term_kind,
    ADD CONSTRAINT entry_term_kind CHECK (kind IN ('keyword', 'tag', 'alias', 'subject', 'related'));
ALTER TABLE mnestic.entry NO FORCE ROW LEVEL SECURITY;  -- else its owner sees no row
ALTER TABLE mnestic.entry_term NO FORCE ROW LEVEL SECURITY;
INSERT INTO mnestic.entry_term (tenant_id, agent_id, kind, term, entry_number)
SELECT tenant_id, agent_id, 'related', jsonb_array_elements_text(related), number FROM mnestic.entry
ON CONFLICT DO NOTHING;
ALTER TABLE mnestic.entry FORCE ROW LEVEL SECURITY;
ALTER TABLE mnestic.entry_term FORCE ROW LEVEL SECURITY;
CREATE INDEX fact_by_name ON mnestic.fact (tenant_id, agent_id, object_key)
    WHERE status = 'active' AND predicate IN ('also_known_as', 'full_name', 'nickname', 'preferred_name');
"""

LEARNING = """
ALTER TABLE mnestic.learning ADD COLUMN job_id text, ADD COLUMN workflow_run text, ADD COLUMN corrects text;
-- Of the collation "C", so that no other index serves the condition on the agent: before a table is
-- analysed, Postgres expects a row or two whatever it is asked, and might read all that an agent has.
DROP INDEX mnestic.learning_by_state;
CREATE INDEX learning_by_state ON mnestic.learning (tenant_id, agent_id COLLATE "C", state, number);
"""

USAGE = """
CREATE INDEX llm_usage_by_time ON mnestic.llm_usage (tenant_id, created_at);
"""

JOBS = """
CREATE INDEX operation_of_end ON mnestic.operation (tenant_id, job_id) WHERE name = 'end';
"""

EMBEDDINGS = """
-- How many entries of an agent have a vector of a model, and up to which number all may have one: which
-- have none is found without looking at those that do.
CREATE TABLE mnestic.embedding_model (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    model text NOT NULL,
    entries bigint NOT NULL,
    complete_to bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, model)
);
ALTER TABLE mnestic.embedding NO FORCE ROW LEVEL SECURITY;
INSERT INTO mnestic.embedding_model
SELECT tenant_id, agent_id, model, count(*), 0 FROM mnestic.embedding GROUP BY 1, 2, 3;
ALTER TABLE mnestic.embedding FORCE ROW LEVEL SECURITY;
"""

GRANTS = {
    "signal": "SELECT, INSERT, DELETE",
    "embedding_model": "SELECT, INSERT, UPDATE",
}

RESOURCES = """
-- What the speaker's clock was ahead of UTC: "yesterday" is told by it.
ALTER TABLE mnestic.resource ADD COLUMN offset_minutes smallint NOT NULL DEFAULT 0;
"""


def upgrade() -> None:
    op.execute(RESOURCES)
    op.execute(SIGNALS)
    op.execute(ENTRIES)
    op.execute(LEARNING)
    op.execute(USAGE)
    op.execute(JOBS)
    op.execute(EMBEDDINGS)
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
