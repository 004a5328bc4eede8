-- A fragment of other queries: the readers of the row at hand, none of what is for the agent alone, or null if everybody may read it.
CASE WHEN audience < 0 THEN CAST('{}' AS text[])
     ELSE (SELECT s.readers FROM mnestic.reader_set AS s
            WHERE audience <> 0 AND s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.id = audience) END AS readers
