-- name: add
-- Adds the report of a run, unless it is there; it has no agent if the run was of all.
INSERT INTO mnestic.maintenance_run (tenant_id, id, kind, agent_id, dry_run, scheduled_at, started_at, finished_at, agents, counts,
                                     usage, problems, sizes)
VALUES (%(tenant_id)s, %(id)s, %(kind)s, %(agent_id)s, %(dry_run)s, %(scheduled_at)s, %(started_at)s, %(finished_at)s,
        %(agents)s, %(counts)s, %(usage)s, %(problems)s, %(sizes)s)
ON CONFLICT DO NOTHING

-- name: find
-- Reads the report of a run.
SELECT id, kind, agent_id, dry_run, scheduled_at, started_at, finished_at, agents, counts, usage, problems, sizes
  FROM mnestic.maintenance_run
 WHERE tenant_id = %(tenant_id)s AND id = %(id)s

-- name: list
-- Reads a page of the reports of the tenant, newest first.
SELECT id, kind, agent_id, dry_run, scheduled_at, started_at, finished_at, agents, counts, usage, problems, sizes
  FROM mnestic.maintenance_run
 WHERE tenant_id = %(tenant_id)s
   AND kind = %(of_kind)s -- if of_kind
   AND (started_at, id) < (CAST(%(before)s AS timestamptz), %(before_id)s) -- if before
 ORDER BY started_at DESC, id DESC
 LIMIT %(limit)s
