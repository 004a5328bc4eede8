-- The namespace of Temporal that has the job of a wait: workers of another one can neither reach it nor tell that it has ended.
ALTER TABLE mnestic.job_wait ADD COLUMN temporal_namespace text;

-- Agents of some tenants, or of all, with a wait of a namespace, or of before it was stored, whose condition is met.
DROP FUNCTION mnestic.agents_with_met_waits(text[]);
CREATE FUNCTION mnestic.agents_with_met_waits(of_tenants text[], of_namespace text) RETURNS TABLE (tenant_id text, agent_id text)
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
         WHERE w.tenant_id = one AND w.state = 'waiting' AND (w.event_channel IS NOT NULL OR w.fact IS NOT NULL)
           AND COALESCE(w.temporal_namespace, of_namespace) = of_namespace AND mnestic.is_wait_met(w);
    END LOOP;
    PERFORM set_config('mnestic.tenant_id', caller, true);
END $$;
