"""Knowledge: claims and the facts that follow from them, entries and the indexes that find them.

Revision ID: 0003
Revises: 0002
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE mnestic.claim (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text,
    confidence double precision NOT NULL,
    said_at timestamptz NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    source jsonb NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT claim_kind CHECK
        (kind IN ('affirmed', 'corrected', 'ended', 'retracted', 'reactivated', 'deleted'))
);
CREATE INDEX claim_by_topic ON mnestic.claim (tenant_id, agent_id, subject_key, predicate);

CREATE TABLE mnestic.fact (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    subject text NOT NULL,
    subject_key text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    object_key text NOT NULL,
    category text NOT NULL,
    cardinality text NOT NULL,
    status text NOT NULL,
    confidence double precision NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    "end" text,
    supersedes text,
    superseded_by text,
    claims jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT fact_status CHECK (status IN ('active', 'archived', 'deleted')),
    CONSTRAINT fact_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT fact_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
CREATE INDEX fact_by_topic ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, valid_from, id);
CREATE UNIQUE INDEX fact_active_single ON mnestic.fact (tenant_id, agent_id, subject_key, predicate)
    WHERE status = 'active' AND cardinality = 'single';
CREATE UNIQUE INDEX fact_active_multi
    ON mnestic.fact (tenant_id, agent_id, subject_key, predicate, object_key)
    WHERE status = 'active' AND cardinality = 'multi';

CREATE TABLE mnestic.predicate (
    tenant_id text NOT NULL,
    name text NOT NULL,
    cardinality text NOT NULL,
    category text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CONSTRAINT predicate_cardinality CHECK (cardinality IN ('single', 'multi')),
    CONSTRAINT predicate_category CHECK
        (category IN ('profile', 'preferences', 'relationships', 'work', 'events', 'knowledge'))
);
"""

ENTRIES = """
-- How long a text is for full text search.
CREATE FUNCTION mnestic.count_lexemes(language text, content text) RETURNS integer
    IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$
    SELECT COALESCE(sum(cardinality(positions)), 0)::integer
      FROM unnest(to_tsvector(language::regconfig, content))
$$;

CREATE TABLE mnestic.entry (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    entry_type text NOT NULL,
    status text NOT NULL,
    content text NOT NULL,
    summary text NOT NULL,
    session_id text,
    source_id text,
    channel text,
    speaker text,
    subjects jsonb NOT NULL,
    keywords jsonb NOT NULL,
    tags jsonb NOT NULL,
    aliases jsonb NOT NULL,
    times jsonb NOT NULL,
    related jsonb NOT NULL,
    parent text,
    facts jsonb NOT NULL,
    importance real NOT NULL,
    critical boolean NOT NULL,
    access_count integer NOT NULL,
    last_accessed timestamptz,
    language text NOT NULL,
    lexemes integer NOT NULL GENERATED ALWAYS AS (mnestic.count_lexemes(language, content)) STORED,
    at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, agent_id, id),
    CONSTRAINT entry_status CHECK (status IN ('active', 'archived')),
    CONSTRAINT entry_type CHECK
        (entry_type IN ('interaction', 'insight', 'correction', 'context', 'learning', 'error',
                        'success', 'pattern', 'preference', 'knowledge'))
);
CREATE UNIQUE INDEX entry_by_number ON mnestic.entry (tenant_id, agent_id, number);
CREATE INDEX entry_by_time ON mnestic.entry (tenant_id, agent_id, at, id);
CREATE INDEX entry_by_session ON mnestic.entry (tenant_id, agent_id, session_id, at, id);

-- What full text search reads. An entry has its number here, which is a third of its id.
CREATE TABLE mnestic.posting (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    lexeme text NOT NULL,
    entry_number bigint NOT NULL,
    frequency smallint NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, lexeme, entry_number) INCLUDE (frequency, length)
);
CREATE TABLE mnestic.lexeme (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    lexeme text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, lexeme)
);
CREATE TABLE mnestic.corpus (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    entries bigint NOT NULL,
    lexemes bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id)
);

-- Names that an entry is found by: looked up by equality, which row-level security lets use an index.
CREATE TABLE mnestic.entry_term (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    kind text NOT NULL,
    term text NOT NULL,
    entry_number bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, kind, term, entry_number),
    CONSTRAINT entry_term_kind CHECK (kind IN ('keyword', 'tag', 'alias', 'subject'))
);

CREATE TABLE mnestic.embedding (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    model text NOT NULL,
    entry_number bigint NOT NULL,
    dimensions integer NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, model, entry_number)
);
-- Exact search reads this index alone; a wider vector does not fit into an index page.
CREATE INDEX embedding_exact ON mnestic.embedding (tenant_id, agent_id, model, entry_number)
    INCLUDE (vector) WHERE dimensions <= 1280;
"""

LEARNING = """
-- What is to be learned from each resource, and how far that is. The resource itself never changes.
CREATE TABLE mnestic.learning (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    source_id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    state text NOT NULL,
    entry_type text NOT NULL,
    kind text NOT NULL,
    extractor text,
    extracted jsonb,
    reason text,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, session_id, source_id),
    CONSTRAINT learning_state CHECK
        (state IN ('received', 'extracted', 'learned', 'parked', 'dropped')),
    CONSTRAINT learning_kind CHECK (kind IN ('message', 'tool_result')),
    CONSTRAINT learning_parked CHECK ((state = 'parked') = (reason IS NOT NULL))
);
CREATE INDEX learning_by_state ON mnestic.learning (tenant_id, agent_id, state, number);
"""

GRANTS = {
    "claim": "SELECT, INSERT",
    "fact": "SELECT, INSERT, UPDATE, DELETE",
    "predicate": "SELECT, INSERT, UPDATE",
    "entry": "SELECT, INSERT, UPDATE, DELETE",
    "posting": "SELECT, INSERT, DELETE",
    "lexeme": "SELECT, INSERT, UPDATE, DELETE",
    "corpus": "SELECT, INSERT, UPDATE",
    "entry_term": "SELECT, INSERT, DELETE",
    "embedding": "SELECT, INSERT, UPDATE, DELETE",
    "learning": "SELECT, INSERT, UPDATE",
}


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ENTRIES)
    op.execute(LEARNING)
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
