-- A fragment of other queries: the audience of what is made of a session: that of its messages and of what jobs have said in it, also
-- just now, and the agent alone where several sets of readers have said something.
(SELECT CASE count(*) WHEN 0 THEN mnestic.own_audience() WHEN 1 THEN max(audience) ELSE -1 END
   FROM (SELECT audience FROM mnestic.resource
          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s AND audience <> 0
          UNION
         SELECT mnestic.audience_of_message(%(tenant_id)s, %(agent_id)s, '', '',
                                            ARRAY(SELECT json_array_elements_text(m.said -> 'readers')))
           FROM (SELECT json_array_elements(
                        CASE json_typeof(w.state -> 'messages') WHEN 'array' THEN w.state -> 'messages' END)
                   FROM mnestic.working_memory AS w
                  WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.session_id = %(session_id)s
                  UNION ALL -- if said
                 SELECT json_array_elements(CAST(%(said)s AS json)) -- if said
                ) AS m (said)
          WHERE m.said -> 'readers' IS NOT NULL) AS private (audience))
