-- name: add
-- Notes a call of a model.
INSERT INTO mnestic.llm_usage (tenant_id, agent_id, session_id, job_id, operation_key, purpose, model, input_tokens,
                               output_tokens, cost_usd, injected_tokens, search_units, created_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(session_id)s, %(job_id)s, %(operation_key)s, %(purpose)s, %(model)s,
        %(input_tokens)s, %(output_tokens)s, %(cost_usd)s, %(injected_tokens)s, %(search_units)s, now())

-- name: sum
-- Adds up calls: of a job of the agent, of a run of maintenance, or of some purposes since a moment.
SELECT count(*) AS calls,
       count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost_usd), 0) AS cost_usd
  FROM mnestic.llm_usage
 WHERE tenant_id = %(tenant_id)s
   AND agent_id = %(agent_id)s AND job_id = %(of_job)s -- if of_job
   AND operation_key = %(of_run)s AND purpose = 'maintain' -- if of_run
   AND created_at >= CAST(%(since)s AS timestamptz) AND purpose = ANY(%(purposes)s) -- if since

-- name: sum_by_model
-- Adds up the calls of an agent, or of all, from a moment to another, by purpose and model.
SELECT purpose, model,
       count(*) AS calls,
       count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost_usd), 0) AS cost_usd,
       coalesce(sum(injected_tokens), 0) AS injected_tokens
  FROM mnestic.llm_usage
 WHERE tenant_id = %(tenant_id)s
   AND created_at >= CAST(%(since)s AS timestamptz) AND created_at < CAST(%(until)s AS timestamptz)
   AND agent_id = %(of_agent)s -- if of_agent
 GROUP BY purpose, model
 ORDER BY purpose, model
