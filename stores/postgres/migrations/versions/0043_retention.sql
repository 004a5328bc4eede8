-- What tells of the past for a time: the audit log, and of jobs that have ended the ledger and snapshots. The application may remove no
-- row of these but by this, none of the last 30 days, and so many at once that a night has time for the rest. The end of a job stays,
-- since it tells that it has ended; so do results of tools, which forks may still need, and changes of entries, which `list_changes` shows.
CREATE INDEX operation_of_old_end ON mnestic.operation (tenant_id, agent_id, created_at) WHERE name = 'end';
CREATE INDEX memory_snapshot_by_job ON mnestic.memory_snapshot (tenant_id, job_id);
CREATE FUNCTION mnestic.remove_old_rows(agent text, before timestamptz) RETURNS bigint
    SECURITY DEFINER LANGUAGE plpgsql SET search_path = pg_catalog, mnestic, pg_temp AS $$
DECLARE
    tenant constant text := current_setting('mnestic.tenant_id', true);
    until constant timestamptz := least(before, now() - interval '30 days');
    removed bigint;
BEGIN
    WITH old AS MATERIALIZED (  -- the oldest first: rows are in the order of their times
        SELECT a.id FROM mnestic.audit_log AS a
         WHERE a.tenant_id = tenant AND a.agent_id = agent AND a.at < until
           AND a.id < COALESCE((SELECT b.id FROM mnestic.audit_log AS b
                                 WHERE b.tenant_id = tenant AND b.agent_id = agent AND b.at >= until ORDER BY b.id LIMIT 1),
                               9223372036854775807)
           AND NOT (a.action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND a.actor <> 'learning')
         ORDER BY a.id LIMIT 50000
    ), audited AS (
        DELETE FROM mnestic.audit_log AS a USING old AS o WHERE a.tenant_id = tenant AND a.id = o.id
        RETURNING 1
    ), ended AS MATERIALIZED (  -- those that still have other rows in the ledger, as every job has had
        SELECT o.job_id FROM mnestic.operation AS o
         WHERE o.tenant_id = tenant AND o.agent_id = agent AND o.name = 'end' AND o.created_at < until
           AND EXISTS (SELECT FROM mnestic.operation AS p
                        WHERE p.tenant_id = tenant AND p.job_id = o.job_id AND p.name <> 'end' AND p.created_at < until OFFSET 0)
         LIMIT 1000
    ), entered AS (
        DELETE FROM mnestic.operation AS o USING ended AS e
         WHERE o.tenant_id = tenant AND o.job_id = e.job_id AND o.name <> 'end' AND o.created_at < until
        RETURNING 1
    ), frozen AS (
        DELETE FROM mnestic.memory_snapshot AS s USING ended AS e
         WHERE s.tenant_id = tenant AND s.agent_id = agent AND s.job_id = e.job_id AND s.created_at < until
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM audited) + (SELECT count(*) FROM entered) + (SELECT count(*) FROM frozen) INTO removed;
    RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION mnestic.remove_old_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mnestic.remove_old_rows TO mnestic_app;
