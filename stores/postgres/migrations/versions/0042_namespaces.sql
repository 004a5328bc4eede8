-- Namespaces of shared memory. A shared record is a record whose agent is its owner, the one that wrote it last, and whose namespace
-- begins with `~shared/`; there is one of a key, whoever owns it.
CREATE UNIQUE INDEX long_term_record_shared ON mnestic.long_term_record (tenant_id, namespace, key)
    WHERE starts_with(namespace, '~shared/');

CREATE TABLE mnestic.namespace_grant (
    tenant_id text NOT NULL,
    namespace text NOT NULL,
    selector text NOT NULL,
    granted_by text NOT NULL,
    level text NOT NULL,
    PRIMARY KEY (tenant_id, namespace, selector, granted_by),
    CONSTRAINT namespace_grant_level CHECK (level IN ('read', 'write', 'admin'))
);
CREATE TABLE mnestic.lease (
    tenant_id text NOT NULL,
    namespace text NOT NULL,
    key text NOT NULL,
    agent_id text NOT NULL,
    token bigint NOT NULL,
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, namespace, key)
);

-- Contracts that are in force already grant what they say.
DO $$
DECLARE one text;
BEGIN
    FOR one IN SELECT tenant_id FROM mnestic.tenant
    LOOP
        PERFORM set_config('mnestic.tenant_id', one, true);
        INSERT INTO mnestic.namespace_grant (tenant_id, namespace, selector, granted_by, level)
        SELECT DISTINCT one, n.space ->> 'namespace', s.selector, 'contract/' || c.selector, n.space ->> 'access_level'
          FROM (SELECT DISTINCT ON (selector) selector, document FROM mnestic.contract
                 WHERE tenant_id = one ORDER BY selector, version DESC) AS c,
               json_array_elements(c.document #> '{Memory,shared,namespaces}') AS n (space),
               json_array_elements_text(n.space -> 'agents_allowed') AS s (selector)
         WHERE c.document #>> '{Memory,shared,enabled}' = 'true';
    END LOOP;
END $$;

DO $$
DECLARE one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['namespace_grant', 'lease']
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON mnestic.%I TO mnestic_app', one);
        EXECUTE format('ALTER TABLE mnestic.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, '
                       'ALTER COLUMN tenant_id SET (n_distinct = 10)', one);
        EXECUTE format('CREATE POLICY tenant ON mnestic.%I '
                       'USING (tenant_id = current_setting(''mnestic.tenant_id'', true)) '
                       'WITH CHECK (tenant_id = current_setting(''mnestic.tenant_id'', true))', one);
    END LOOP;
END $$;
ALTER TABLE mnestic.lease ALTER COLUMN agent_id SET (n_distinct = 10);
