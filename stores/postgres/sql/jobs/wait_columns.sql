-- A fragment of other queries: the columns of a wait.
wait_id, job_id, session_id, key, state, policy, snapshot_id, context, outcomes, ask, form, deadline, opened_at, closed_at,
receipt, event_channel, event_where, fact
