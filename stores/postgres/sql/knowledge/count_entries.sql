-- An agent's entries in numbers: how many there are of each kind, and all else of messages alone.
WITH mine AS MATERIALIZED (
    SELECT entry_type, status, critical, at, expires_at,
           least(9, floor(importance * 10))::integer AS tenth
      FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = 'message'
),
derived AS MATERIALIZED (
    SELECT kind, number FROM mnestic.entry
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind <> 'message'
),
kinds AS (
    SELECT 'message' AS name, count(*) AS entries FROM mine HAVING count(*) > 0
     UNION ALL
    SELECT kind, count(*) FROM derived GROUP BY kind
),
types AS (SELECT entry_type AS name, count(*) AS entries FROM mine GROUP BY entry_type),
statuses AS (SELECT status AS name, count(*) AS entries FROM mine GROUP BY status),
tenths AS (
    SELECT tenth, count(mine.tenth) AS entries
      FROM generate_series(0, 9) AS all_tenths (tenth) LEFT JOIN mine USING (tenth) GROUP BY tenth
),
models AS (
    SELECT model AS name, count(*) AS entries FROM mnestic.embedding
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
       AND entry_number NOT IN (SELECT number FROM derived) GROUP BY model
)
SELECT (SELECT COALESCE(jsonb_object_agg(name, entries), '{}') FROM kinds) AS by_kind,
       (SELECT COALESCE(jsonb_object_agg(name, entries), '{}') FROM types) AS by_type,
       (SELECT COALESCE(jsonb_object_agg(name, entries), '{}') FROM statuses) AS by_status,
       (SELECT array_agg(entries ORDER BY tenth) FROM tenths) AS by_importance,
       (SELECT COALESCE(jsonb_object_agg(name, entries), '{}') FROM models) AS embedded,
       count(*) FILTER (WHERE critical) AS critical,
       count(*) FILTER (WHERE expires_at <= now()) AS expired,
       min(at) AS oldest, max(at) AS newest
  FROM mine
