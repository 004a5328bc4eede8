-- A fragment of other queries: the readers of the row at hand, or null if everybody may read it.
(SELECT s.readers FROM mnestic.reader_set AS s
  WHERE audience <> 0 AND s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.id = audience) AS readers
