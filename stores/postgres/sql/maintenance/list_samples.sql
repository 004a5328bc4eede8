-- What an operator watches of a tenant, as samples of time series: a name, labels, a value. No label names an agent.
-- It reads the index of waiting messages agent by agent, the calls of models since midnight (UTC), and no table whole.
-- The bytes are those that the last run of maintenance measured.
WITH waiting AS (
    SELECT state.name AS state, sum(of_agent.messages) AS messages, min(of_agent.since) AS since
      FROM (VALUES ('received'), ('extracted'), ('parked')) AS state (name)
     CROSS JOIN mnestic.agent_revision AS agent
     CROSS JOIN LATERAL (
           SELECT count(*) AS messages, min(updated_at) AS since
             FROM mnestic.ingest_state AS message
            WHERE message.tenant_id = agent.tenant_id AND message.agent_id COLLATE "C" = agent.agent_id
              AND message.state = state.name AND message.state <> 'learned') AS of_agent
     WHERE agent.tenant_id = %(tenant_id)s
     GROUP BY state.name
), run AS (
    SELECT kind, started_at, finished_at, sizes, counts, jsonb_array_length(problems) AS problems,
           COALESCE(CAST(counts ->> 'agents_stopped' AS integer), 0) AS stopped,
           row_number() OVER (PARTITION BY kind ORDER BY started_at DESC) AS place
      FROM mnestic.maintenance_run
     WHERE tenant_id = %(tenant_id)s AND agent_id IS NULL AND NOT dry_run
), calls AS (
    SELECT purpose, count(*) AS calls, sum(input_tokens) AS input, sum(output_tokens) AS output,
           COALESCE(sum(cost_usd), 0) AS cost
      FROM mnestic.llm_usage
     WHERE tenant_id = %(tenant_id)s AND created_at >= date_trunc('day', now(), 'UTC')
     GROUP BY purpose
), sample AS (
    SELECT 'agents' AS name, '{}'::jsonb AS labels, count(*)::double precision AS value
      FROM mnestic.agent_revision WHERE tenant_id = %(tenant_id)s AND agent_id <> %(every_agent)s
    UNION ALL
    SELECT 'entries', '{}', COALESCE(sum(entries), 0) FROM mnestic.corpus WHERE tenant_id = %(tenant_id)s
    UNION ALL
    (SELECT 'memory_bytes', '{}', CAST(sizes ->> 'memory_bytes' AS bigint)
       FROM run WHERE sizes ? 'memory_bytes' ORDER BY started_at DESC LIMIT 1)
    UNION ALL
    SELECT 'ingest_messages', jsonb_build_object('state', state), messages FROM waiting
    UNION ALL
    SELECT 'ingest_oldest_seconds', jsonb_build_object('state', state),
           COALESCE(greatest(extract(epoch FROM now() - since), 0), 0) FROM waiting
    UNION ALL
    SELECT 'maintenance_seconds', jsonb_build_object('kind', kind), extract(epoch FROM finished_at - started_at)
      FROM run WHERE place = 1
    UNION ALL
    SELECT 'maintenance_problems', jsonb_build_object('kind', kind), problems FROM run WHERE place = 1
    UNION ALL
    SELECT 'maintenance_agents_stopped', jsonb_build_object('kind', kind), stopped FROM run WHERE place = 1
    UNION ALL
    SELECT 'damaged', jsonb_build_object('kind', damage), COALESCE(CAST(counts ->> ('damaged_' || damage) AS integer), 0)
      FROM run, unnest(ARRAY['rows', 'words', 'vectors', 'snapshots']) AS damage WHERE place = 1 AND kind = 'nightly'
    UNION ALL
    SELECT 'damaged', '{"kind": "pages"}', COALESCE(sum(checksum_failures), 0)
      FROM pg_stat_database WHERE datname = current_database()
    UNION ALL
    SELECT 'damaged', '{"kind": "indexes"}', count(*)
           -- include unusable_indexes
    UNION ALL
    SELECT 'maintenance_finished_timestamp_seconds', jsonb_build_object('kind', kind), extract(epoch FROM finished_at)
      FROM run WHERE place = 1
    UNION ALL
    SELECT 'maintenance_succeeded_timestamp_seconds', jsonb_build_object('kind', kind), extract(epoch FROM max(finished_at))
      FROM run WHERE problems = 0 GROUP BY kind
    UNION ALL
    SELECT 'model_calls_today', jsonb_build_object('purpose', purpose), calls FROM calls
    UNION ALL
    SELECT 'model_tokens_today', jsonb_build_object('purpose', purpose, 'direction', 'input'), input FROM calls
    UNION ALL
    SELECT 'model_tokens_today', jsonb_build_object('purpose', purpose, 'direction', 'output'), output FROM calls
    UNION ALL
    SELECT 'model_cost_usd_today', jsonb_build_object('purpose', purpose), cost FROM calls
)
SELECT name, labels, value::double precision AS value FROM sample
