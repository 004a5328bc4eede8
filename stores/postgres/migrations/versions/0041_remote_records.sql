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
