-- What a transaction that wrote leaves behind: its audit rows, the agent's counts, and its events.
-- The row that counts is the last that a transaction locks, so writers of one agent cannot lock each other out. It stays
-- locked until the transaction commits, so an event is seen after all before it. It is written once: each version of it that
-- a transaction makes is a dead row afterwards.
WITH noted AS ( -- include add_audit_rows
),
counted AS (
    INSERT INTO mnestic.agent_revision AS r (tenant_id, agent_id, revision, knowledge_revision, graph_revision, events, updated_at)
    SELECT %(tenant_id)s, %(agent_id)s, %(revisions)s, %(knowledge)s, %(graph)s, %(event_count)s, now()
    ON CONFLICT (tenant_id, agent_id)
    DO UPDATE SET revision = r.revision + excluded.revision,
                  knowledge_revision = r.knowledge_revision + excluded.knowledge_revision,
                  graph_revision = r.graph_revision + excluded.graph_revision,
                  events = r.events + excluded.events,
                  updated_at = excluded.updated_at
    RETURNING events - %(event_count)s AS before
)
INSERT INTO mnestic.memory_event
       (tenant_id, agent_id, number, kind, target, ids, subject, predicate, details, at)
SELECT %(tenant_id)s, %(agent_id)s, before + place, kind, target, ids, subject, predicate, details, now()
  FROM counted, ROWS FROM (
       jsonb_to_recordset(CAST(%(events)s AS jsonb))
       AS (kind text, target text, ids jsonb, subject text, predicate text, details jsonb)
     ) WITH ORDINALITY AS sent (kind, target, ids, subject, predicate, details, place)
