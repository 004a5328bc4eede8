-- Documents of collections. The text of each part is an entry of kind 'document'. The corpus of a collection is that of
-- AGENT/COLLECTION, so that neither its words nor its vectors weigh in searches of the agent's memory; no agent has such an id.
ALTER TABLE mnestic.entry DROP CONSTRAINT entry_kind,
    ADD CONSTRAINT entry_kind CHECK (kind IN ('message', 'fact', 'episode', 'compressed', 'document'));
CREATE TABLE mnestic.document (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    collection_id text NOT NULL,
    id text NOT NULL,
    metadata jsonb NOT NULL,
    source text,
    places jsonb NOT NULL,
    numbers bigint[] NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, collection_id, id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.document TO mnestic_app;
ALTER TABLE mnestic.document ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY,
    ALTER COLUMN tenant_id SET (n_distinct = 10), ALTER COLUMN agent_id SET (n_distinct = 10);
CREATE POLICY tenant ON mnestic.document
    USING (tenant_id = current_setting('mnestic.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
