-- The declared part of the graph, as the contract of an agent has it. A version of a node holds from its write until the next one, or
-- until the node is deleted. Names of facts that nobody declared have no row.
CREATE TABLE mnestic.graph_node (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    key text NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    properties jsonb NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    PRIMARY KEY (tenant_id, agent_id, key, valid_from)
);
-- Declared edges stand beside those of facts, which have no properties.
ALTER TABLE mnestic.graph_edge ADD COLUMN properties jsonb;
-- Raised by each transaction that changes the graph, so that what was loaded of it is known to be stale.
ALTER TABLE mnestic.agent_revision ADD COLUMN graph_revision bigint NOT NULL DEFAULT 0;

GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.graph_node TO mnestic_app;
ALTER TABLE mnestic.graph_node ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, ALTER COLUMN tenant_id SET (n_distinct = 10),
    ALTER COLUMN agent_id SET (n_distinct = 10);
CREATE POLICY tenant ON mnestic.graph_node
    USING (tenant_id = current_setting('mnestic.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
