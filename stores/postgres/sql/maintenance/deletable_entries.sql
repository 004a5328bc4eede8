-- name: set_sorting
-- Lets the planner sort, or not. Without, it reads the archive by its key, also where it expects so few rows that to read all of an
-- agent by another index and to sort them seems as good.
SELECT set_config('enable_sort', %(sorting)s, true)

-- name: list
-- Of the next archived entries by id, as many as `limit`, those that a cleanup deletes; and the last of the next ones, if there may be
-- more. The end of the range is found first, id by id, so that no part reads the whole archive, whatever the planner expects.
WITH
-- include removal_roots
,
next AS MATERIALIZED (
    WITH RECURSIVE stride AS (
        SELECT CAST(%(after)s AS text) AS id, 0 AS place
         UNION ALL
        SELECT following.id, place + 1
          FROM stride
         CROSS JOIN LATERAL (
            SELECT id FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id > stride.id
             ORDER BY id LIMIT 1) AS following
         WHERE place < CAST(%(limit)s AS integer)
    )
    SELECT id FROM stride WHERE place > 0
)
SELECT ARRAY(
-- include deletable
   AND a.id > %(after)s AND a.id <= (SELECT max(id) FROM next)
 ORDER BY a.id) AS ids,
       (SELECT max(id) FROM next HAVING count(*) = CAST(%(limit)s AS integer)) AS last
