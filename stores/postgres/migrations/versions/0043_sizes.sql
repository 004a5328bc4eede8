-- About how many bytes the rows of a tenant take, or of one of its agents, by table: their number, times the mean of the first
-- hundred. Indexes hold the rows of all, and are not counted.
CREATE FUNCTION mnestic.row_bytes(of_tenant text, of_agent text) RETURNS TABLE (name text, bytes bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['resource', 'ingest_state', 'entry', 'archived_entry', 'embedding', 'claim', 'fact', 'episode']
    LOOP
        RETURN QUERY EXECUTE format(
            'WITH own AS NOT MATERIALIZED (SELECT * FROM mnestic.%1$I WHERE tenant_id = $1 AND ($2 IS NULL OR agent_id = $2)) '
            'SELECT %1$L, CAST((SELECT count(*) FROM own) '
            '    * COALESCE((SELECT avg(pg_column_size(few.*)) FROM (SELECT * FROM own LIMIT 100) AS few), 0) AS bigint)', one)
        USING of_tenant, of_agent;
    END LOOP;
END $$;
