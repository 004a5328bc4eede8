-- A fragment of other queries: the audience of what is made of a session: that of its messages, and the agent alone where several
-- sets of readers have said something.
(SELECT CASE count(DISTINCT audience) FILTER (WHERE audience <> 0) WHEN 0 THEN mnestic.own_audience()
             WHEN 1 THEN max(audience) FILTER (WHERE audience <> 0) ELSE -1 END
   FROM mnestic.resource
  WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s)
