-- Of the next archived entries by id, as many as `limit`, those that a cleanup deletes; and the last of the next ones, if there may be
-- more. The end of the range is found first, so that no part reads the whole archive, whatever the planner expects.
WITH
-- include removal_roots
,
next AS MATERIALIZED (
    SELECT id FROM mnestic.archived_entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id > %(after)s
     ORDER BY id LIMIT CAST(%(limit)s AS integer)
)
SELECT ARRAY(
-- include deletable
   AND a.id > %(after)s AND a.id <= (SELECT max(id) FROM next)
 ORDER BY a.id) AS ids,
       (SELECT max(id) FROM next HAVING count(*) = CAST(%(limit)s AS integer)) AS last
