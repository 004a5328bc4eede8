-- name: find_agent
-- Reads the agent of a job.
SELECT agent_id
  FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND job_id = %(job_id)s
 LIMIT 1

-- name: list_job_ids
-- Reads the ids of jobs that begin with a prefix.
SELECT DISTINCT job_id
  FROM mnestic.operation
 WHERE tenant_id = %(tenant_id)s AND starts_with(job_id, %(prefix)s)
 ORDER BY job_id
 LIMIT %(limit)s

-- name: list_agent_ids
-- Reads a page of the agents of a tenant, by name.
SELECT agent_id
  FROM mnestic.agent_revision
 WHERE tenant_id = %(tenant_id)s AND agent_id <> %(every_agent)s
   AND agent_id > %(after)s -- if after
 ORDER BY agent_id
 LIMIT %(limit)s

-- name: list_pending_agents
-- Reads which agents of some tenants, or of all, have records that a backend lacks.
SELECT tenant_id, agent_id
  FROM mnestic.pending_agents(%(tenants)s)
 ORDER BY tenant_id, agent_id
-- name: list_agents_with_met_waits
-- Reads which agents of some tenants, or of all, have waits of a namespace of Temporal whose condition is met.
SELECT tenant_id, agent_id
  FROM mnestic.agents_with_met_waits(%(tenants)s, %(temporal_namespace)s)

-- name: list_waiting_agents
-- Reads which agents of some tenants, or of all, have messages to learn from; the tenants take turns.
SELECT tenant_id, agent_id
  FROM mnestic.waiting_agents(%(tenants)s)
 ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY agent_id COLLATE "C"), tenant_id
