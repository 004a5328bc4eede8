-- The fact that a wait waits for: the keys of its subject and, if that matters, of its object, and its predicate.
ALTER TABLE mnestic.job_wait ADD COLUMN fact jsonb;
ALTER TABLE mnestic.job_wait RENAME COLUMN event_sent_at TO sent_at;
ALTER TABLE mnestic.job_wait ADD COLUMN sent integer NOT NULL DEFAULT 0;
-- The namespace of Temporal that has the job of a wait: workers of another one can neither reach it nor tell that it has ended.
ALTER TABLE mnestic.job_wait ADD COLUMN temporal_namespace text;
CREATE INDEX job_wait_of_fact ON mnestic.job_wait (tenant_id) WHERE state = 'waiting' AND fact IS NOT NULL;

-- The id of the first fact that a wait waits for: it holds, and something that says so was recorded before the deadline.
CREATE FUNCTION mnestic.fact_of_wait(w mnestic.job_wait) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT f.id FROM mnestic.fact AS f
     WHERE f.tenant_id = w.tenant_id AND f.agent_id = w.agent_id AND f.status = 'active'
       AND f.subject_key = w.fact ->> 'subject_key' AND f.predicate = w.fact ->> 'predicate'
       AND (w.fact ->> 'object_key' IS NULL OR f.object_key = w.fact ->> 'object_key')
       AND f.valid_from <= clock_timestamp() AND (f.valid_to IS NULL OR f.valid_to > clock_timestamp())
       AND EXISTS (SELECT FROM mnestic.claim AS c
                    WHERE c.tenant_id = w.tenant_id AND c.agent_id = w.agent_id AND f.claims ? c.id
                      AND c.subject_key = f.subject_key AND c.predicate = f.predicate AND c.recorded_at < w.deadline)
     ORDER BY f.valid_from, f.id LIMIT 1
$$;

-- Whether the condition of a wait is met, and its job is to be sent that: once, then after a minute, after two, up to sixteen.
CREATE FUNCTION mnestic.is_wait_met(w mnestic.job_wait) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT (w.sent_at IS NULL OR w.sent_at < clock_timestamp() - interval '1 minute' * 2 ^ least(w.sent - 1, 4))
       AND (w.event_number IS NOT NULL OR (w.fact IS NOT NULL AND mnestic.fact_of_wait(w) IS NOT NULL))
$$;

-- Agents of some tenants, or of all, with such a wait of a namespace, or of before it was stored.
DROP FUNCTION mnestic.agents_with_events(text[]);
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
