-- How far a record has come to the backend of its schema; null where that is this database.
--   pending    it is to be sent; writes enter it, and a flush leaves it once the backend has the version
--   stored     the backend has the version
--   forgotten  the backend is to remove it; a flush then removes the row
ALTER TABLE mnestic.long_term_record
    ADD COLUMN backend_state text,
    ADD CONSTRAINT long_term_record_backend_state CHECK (backend_state IN ('pending', 'stored', 'forgotten'));

-- serves record_sync.list_pending, and pending_agents
CREATE INDEX long_term_record_pending ON mnestic.long_term_record (tenant_id, agent_id) WHERE backend_state <> 'stored';

-- The backend of a schema by the contract in force for an agent, null where that is this database.
CREATE FUNCTION mnestic.backend_of(of_tenant text, of_agent text, of_schema text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('backend_id', b.backend ->> 'backend_id', 'type', b.backend ->> 'type',
                              'connection_string', b.backend #>> '{config,connection_string}',
                              'table_prefix', b.backend #>> '{config,table_prefix}',
                              'strategy', COALESCE(c.document #>> '{Memory,long_term,sync,strategy}', 'write_through'))
      FROM mnestic.contract_of(of_tenant, of_agent) AS c,
           json_array_elements(c.document #> '{Memory,long_term,schemas}') AS s (rules),
           json_array_elements(c.document #> '{Memory,long_term,storage_backends}') AS b (backend)
     WHERE c.document #>> '{Memory,long_term,enabled}' = 'true'
       AND s.rules ->> 'schema_id' = of_schema AND b.backend ->> 'backend_id' = s.rules ->> 'backend'
       AND b.backend ->> 'type' IN ('postgres', 'supabase', 'redis')
       AND b.backend #>> '{config,connection_string}' IS NOT NULL
$$;

-- The agents of some tenants, or of all, with records that a backend lacks.
CREATE FUNCTION mnestic.pending_agents(of_tenants text[]) RETURNS TABLE (tenant_id text, agent_id text)
LANGUAGE plpgsql AS $$
DECLARE
    caller text := current_setting('mnestic.tenant_id');
    one text;
BEGIN
    FOR one IN SELECT t.tenant_id FROM mnestic.tenant AS t WHERE of_tenants = '{}' OR t.tenant_id = ANY (of_tenants)
    LOOP
        PERFORM set_config('mnestic.tenant_id', one, true);
        RETURN QUERY
        SELECT DISTINCT one, r.agent_id FROM mnestic.long_term_record AS r
         WHERE r.tenant_id = one AND r.backend_state <> 'stored';
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$;

-- Events between agents: a tenant's count, which who publishes locks, the events, and how far subscriptions have come.
CREATE TABLE mnestic.event_count (
    tenant_id text NOT NULL,
    events bigint NOT NULL,
    PRIMARY KEY (tenant_id)
);
CREATE TABLE mnestic.channel_event (
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL,
    channel text NOT NULL,
    agent_id text NOT NULL,
    payload jsonb NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, number)
);
CREATE INDEX channel_event_by_agent ON mnestic.channel_event (tenant_id, agent_id, number);
CREATE TABLE mnestic.subscription (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    number bigint NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, name)
);

-- The event that a wait waits for, the first one that it has got, and when that was last sent to its job.
ALTER TABLE mnestic.job_wait ADD COLUMN event_channel text, ADD COLUMN event_where jsonb, ADD COLUMN event_number bigint,
    ADD COLUMN event_sent_at timestamptz;
CREATE INDEX job_wait_of_event ON mnestic.job_wait (tenant_id) WHERE state = 'waiting' AND event_channel IS NOT NULL;

-- Agents of some tenants, or of all, with a wait that has got an event which its job was not sent lately.
CREATE FUNCTION mnestic.agents_with_events(of_tenants text[]) RETURNS TABLE (tenant_id text, agent_id text)
LANGUAGE plpgsql AS $$
DECLARE
    caller text := current_setting('mnestic.tenant_id');
    one text;
BEGIN
    FOR one IN SELECT t.tenant_id FROM mnestic.tenant AS t WHERE of_tenants = '{}' OR t.tenant_id = ANY (of_tenants)
    LOOP
        PERFORM set_config('mnestic.tenant_id', one, true);
        RETURN QUERY
        SELECT DISTINCT one, w.agent_id FROM mnestic.job_wait AS w
         WHERE w.tenant_id = one AND w.state = 'waiting' AND w.event_channel IS NOT NULL AND w.event_number IS NOT NULL
           AND (w.event_sent_at IS NULL OR w.event_sent_at < clock_timestamp() - interval '1 minute');
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$;

DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM (VALUES ('event_count', 'SELECT, INSERT, UPDATE'),
                                     ('channel_event', 'SELECT, INSERT, UPDATE (payload), DELETE'),
                                     ('subscription', 'SELECT, INSERT, UPDATE')) AS t (name, privileges)
    LOOP
        EXECUTE format('GRANT %s ON mnestic.%I TO mnestic_app', one.privileges, one.name);
        EXECUTE format('ALTER TABLE mnestic.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, '
                       'ALTER COLUMN tenant_id SET (n_distinct = 10)', one.name);
        EXECUTE format('CREATE POLICY tenant ON mnestic.%I '
                       'USING (tenant_id = current_setting(''mnestic.tenant_id'', true)) '
                       'WITH CHECK (tenant_id = current_setting(''mnestic.tenant_id'', true))', one.name);
    END LOOP;
END $$;
ALTER TABLE mnestic.channel_event ALTER COLUMN agent_id SET (n_distinct = 10);
ALTER TABLE mnestic.subscription ALTER COLUMN agent_id SET (n_distinct = 10);
