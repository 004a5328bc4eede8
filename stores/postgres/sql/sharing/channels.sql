-- name: publish
-- Writes events under the tenant's next numbers. The row that counts stays locked until the end of the transaction, so an
-- event is seen after all before it, and no wait that opens meanwhile is overlooked by `match`.
WITH counted AS (
    INSERT INTO mnestic.event_count AS c (tenant_id, events)
    VALUES (%(tenant_id)s, jsonb_array_length(CAST(%(events)s AS jsonb)))
    ON CONFLICT (tenant_id) DO UPDATE SET events = c.events + excluded.events
    RETURNING events - jsonb_array_length(CAST(%(events)s AS jsonb)) AS before
)
INSERT INTO mnestic.channel_event (tenant_id, number, id, channel, agent_id, payload, at)
SELECT %(tenant_id)s, before + place, id, channel, %(agent_id)s, payload, clock_timestamp()
  FROM counted, ROWS FROM (
       jsonb_to_recordset(CAST(%(events)s AS jsonb)) AS (id text, channel text, payload jsonb)
     ) WITH ORDINALITY AS sent (id, channel, payload, place)
RETURNING number, id, channel, agent_id, payload, at

-- name: match
-- Gives waits the first of some events that they wait for. A channel has no character that LIKE knows but `_`.
UPDATE mnestic.job_wait AS w
   SET event_number = first.number
  FROM (SELECT o.wait_id, min(e.number) AS number
          FROM mnestic.job_wait AS o
          JOIN mnestic.channel_event AS e
            ON e.tenant_id = o.tenant_id
           AND e.channel LIKE replace(replace(o.event_channel, '_', '\_'), '*', '%%')
           AND e.payload @> o.event_where
         WHERE o.tenant_id = %(tenant_id)s AND o.state = 'waiting' AND o.event_channel IS NOT NULL
           AND o.event_number IS NULL
           AND e.number > (SELECT events FROM mnestic.event_count WHERE tenant_id = %(tenant_id)s) - %(count)s
         GROUP BY o.wait_id) AS first
 WHERE w.tenant_id = %(tenant_id)s AND w.wait_id = first.wait_id AND w.state = 'waiting'

-- name: lock
-- Has those who publish wait for the end of the transaction: what they publish then finds the wait that it opens.
INSERT INTO mnestic.event_count AS c (tenant_id, events)
VALUES (%(tenant_id)s, 0)
ON CONFLICT (tenant_id) DO UPDATE SET events = c.events

-- name: wake
-- Wakes who listens, once the transaction has committed; what there is to read, they read.
SELECT pg_notify('mnestic_events', '') AS woken

-- name: list_redis
-- Reads the Redis backends of the agent's contract, which publish the events as well.
SELECT b.backend ->> 'backend_id' AS backend_id, b.backend ->> 'type' AS type,
       b.backend #>> '{config,connection_string}' AS connection_string,
       b.backend #>> '{config,table_prefix}' AS table_prefix
  FROM mnestic.contract_of(%(tenant_id)s, %(agent_id)s) AS c,
       json_array_elements(c.document #> '{Memory,long_term,storage_backends}') AS b (backend)
 WHERE c.document #>> '{Memory,long_term,enabled}' = 'true' AND b.backend ->> 'type' = 'redis'
   AND b.backend #>> '{config,connection_string}' IS NOT NULL

-- name: list
-- Reads events of channels in their order.
SELECT number, id, channel, agent_id, payload, at
  FROM mnestic.channel_event
 WHERE tenant_id = %(tenant_id)s
   AND channel LIKE %(channels)s
   AND number > %(after)s -- if after
 ORDER BY number
 LIMIT %(limit)s

-- name: range
-- Reads the numbers of the last event, and of the first that is there.
SELECT events, (SELECT min(number) FROM mnestic.channel_event WHERE tenant_id = %(tenant_id)s) AS first
  FROM mnestic.event_count
 WHERE tenant_id = %(tenant_id)s

-- name: find_place
-- Reads how far a subscription has come; one of before it had a channel has none.
SELECT number
  FROM mnestic.subscription
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = %(name)s AND channel IN (%(channel)s, '')
 ORDER BY channel DESC
 LIMIT 1

-- name: save_place
-- Has a subscription go on after an event; it never goes back.
INSERT INTO mnestic.subscription AS s (tenant_id, agent_id, name, channel, number, updated_at)
VALUES (%(tenant_id)s, %(agent_id)s, %(name)s, %(channel)s, %(number)s, now())
ON CONFLICT (tenant_id, agent_id, name, channel)
DO UPDATE SET number = greatest(s.number, excluded.number), updated_at = now()

-- name: trim
-- Removes the oldest events, once they are old, up to the first that a wait has still to get, so that none is missing between others.
DELETE FROM mnestic.channel_event AS e
 WHERE e.tenant_id = %(tenant_id)s
   AND e.number IN (SELECT o.number FROM mnestic.channel_event AS o
                     WHERE o.tenant_id = %(tenant_id)s ORDER BY o.number LIMIT 100)
   AND e.at < now() - CAST(%(kept_for)s AS interval)
   AND e.number < ALL (SELECT w.event_number FROM mnestic.job_wait AS w
                        WHERE w.tenant_id = %(tenant_id)s AND w.state = 'waiting' AND w.event_channel IS NOT NULL
                          AND w.event_number IS NOT NULL)
