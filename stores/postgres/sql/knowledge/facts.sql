-- name: add_claims
-- Adds claims, but those that are there; returns the topics of those that are new.
INSERT INTO mnestic.claim (tenant_id, agent_id, id, kind, subject, subject_key, predicate, object, confidence, said_at, valid_from,
                           valid_to, source, recorded_at)
SELECT %(tenant_id)s, %(agent_id)s, r.id, r.kind, r.subject, r.subject_key, r.predicate, r.object, r.confidence, r.said_at,
       r.valid_from, r.valid_to, r.source, now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.claim), CAST(%(rows)s AS json)) AS r
ON CONFLICT DO NOTHING
RETURNING subject_key, predicate

-- name: replace_claims
-- Removes claims of messages that are read again.
SELECT mnestic.replace_claims(%(agent_id)s, CAST(%(ids)s AS text[])) AS removed

-- name: forget_claims
-- Removes claims for a forgetting.
SELECT mnestic.forget_claims(%(forgetting_id)s, %(agent_id)s, CAST(%(ids)s AS text[])) AS removed

-- name: list_claims
-- Reads claims by their ids, or those about some subjects, in the order in which they were said.
SELECT -- include claim_columns
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND id = ANY(CAST(%(ids)s AS text[])) -- if ids
   AND subject_key = %(subject)s -- if subject
   AND subject_key = ANY(CAST(%(subjects)s AS text[])) -- if subjects
   AND predicate = %(predicate)s -- if predicate
 ORDER BY said_at, id

-- name: list_claims_from
-- Reads the claims of some messages, with the places of these.
SELECT session_id, source_id, -- include claim_columns
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (session_id, source_id) IN (SELECT place.session_id, place.source_id
                                     FROM unnest(CAST(%(sessions)s AS text[]), CAST(%(sources)s AS text[]))
                                       AS place (session_id, source_id))
 ORDER BY id

-- name: list_claims_of
-- Reads the claims about some topics, or those of them that were recorded until a moment.
SELECT audience, -- include claim_columns
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (subject_key, predicate) IN (SELECT topic.subject_key, topic.predicate
                                      FROM unnest(CAST(%(subjects)s AS text[]), CAST(%(predicates)s AS text[]))
                                        AS topic (subject_key, predicate))
   AND recorded_at <= %(recorded_by)s -- if recorded_by

-- name: list_places
-- Reads the topics of some claims, or of those of a message, and the messages that they are of.
SELECT id, subject_key, predicate, session_id, source_id, said_at
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND id = ANY(CAST(%(ids)s AS text[])) -- if ids
   AND session_id = %(session_id)s AND source_id = %(source_id)s -- if session_id

-- name: list_mentions
-- Reads which messages claim something about some topics.
SELECT subject_key, predicate, object, kind, said_at, session_id, source_id
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id IS NOT NULL AND source_id IS NOT NULL
   AND (subject_key, predicate) IN (SELECT topic.subject_key, topic.predicate
                                      FROM unnest(CAST(%(subjects)s AS text[]), CAST(%(predicates)s AS text[]))
                                        AS topic (subject_key, predicate))

-- name: list_audiences
-- Reads for whom there is something about some topics.
SELECT t.audience
  FROM unnest(CAST(%(subjects)s AS text[]), CAST(%(predicates)s AS text[])) AS topic (subject_key, predicate)
 CROSS JOIN LATERAL (
    SELECT audience FROM mnestic.claim
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = topic.subject_key AND predicate = topic.predicate
     UNION
    SELECT audience FROM mnestic.fact
     WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND subject_key = topic.subject_key AND predicate = topic.predicate) AS t
 GROUP BY t.audience
 ORDER BY t.audience

-- name: list_topics
-- Reads a page of the topics of the claims that were recorded until a moment, from one on or after one.
SELECT DISTINCT subject_key, predicate
  FROM mnestic.claim
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND recorded_at <= %(recorded_by)s
   AND subject_key = %(subject)s -- if subject
   AND subject_key = ANY(CAST(%(subjects)s AS text[])) -- if subjects
   AND predicate = %(predicate)s -- if predicate
   AND (subject_key, predicate) >= (%(from_key)s, %(from_predicate)s) -- if from_key
   AND (subject_key, predicate) > (%(after_key)s, %(after_predicate)s) -- if after_key
 ORDER BY subject_key, predicate
 LIMIT %(limit)s

-- name: get
-- Reads a fact.
SELECT audience, -- include fact_columns
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = %(id)s

-- name: find_awaited
-- Reads the fact that ends a wait.
SELECT audience, -- include fact_columns
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND id = (SELECT mnestic.fact_of_wait(w) FROM mnestic.job_wait AS w
              WHERE w.tenant_id = %(tenant_id)s AND w.agent_id = %(agent_id)s AND w.wait_id = %(wait_id)s)

-- name: list_ids
-- Reads the ids of facts that begin with a prefix.
SELECT id
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND starts_with(id, %(prefix)s)
 ORDER BY id
 LIMIT %(limit)s

-- name: list
-- Reads a page of facts, by topic and time: those of some statuses, and those that were so at a moment, or `ahead` of it.
SELECT -- include fact_columns
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND status = ANY(CAST(%(statuses)s AS text[]))
   AND subject_key = %(subject)s -- if subject
   AND subject_key = ANY(CAST(%(subjects)s AS text[])) -- if subjects
   AND predicate = %(predicate)s -- if predicate
   AND (valid_to IS NULL OR valid_to > CAST(%(as_of)s AS timestamptz)) -- if as_of
   AND (valid_from <= CAST(%(as_of)s AS timestamptz) OR CAST(%(ahead)s AS boolean) AND (valid_to IS NULL OR valid_to > valid_from)) -- if as_of
   AND (subject_key, predicate, valid_from, id) > (%(after_key)s, %(after_predicate)s, CAST(%(after_from)s AS timestamptz), %(after_id)s) -- if after_key
 ORDER BY subject_key, predicate, valid_from, id
 LIMIT %(limit)s

-- name: list_of
-- Reads all facts of some topics.
SELECT -- include fact_columns
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
   AND (subject_key, predicate) IN (SELECT topic.subject_key, topic.predicate
                                      FROM unnest(CAST(%(subjects)s AS text[]), CAST(%(predicates)s AS text[]))
                                        AS topic (subject_key, predicate))
 ORDER BY id

-- name: count
-- Counts the facts of each status.
SELECT status, count(*) AS number
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
 GROUP BY status

-- name: list_unsettled_topics
-- Reads topics of a predicate whose facts are not as it says.
SELECT DISTINCT subject_key, predicate
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND predicate = %(predicate)s
   AND (cardinality <> %(cardinality)s OR category <> %(category)s)
 ORDER BY subject_key, predicate
 LIMIT %(limit)s

-- name: list_unsettled_agents
-- Reads the agents that have facts which are not as their predicate says.
SELECT DISTINCT agent_id
  FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND predicate = %(predicate)s
   AND (cardinality <> %(cardinality)s OR category <> %(category)s)
 ORDER BY agent_id
 LIMIT %(limit)s

-- name: add
-- Adds facts.
INSERT INTO mnestic.fact (tenant_id, agent_id, id, subject, subject_key, predicate, object, object_key, category, cardinality, status,
                          confidence, valid_from, valid_to, "end", supersedes, superseded_by, decayed_confidence, promotion,
                          used_at, claims, created_at, updated_at)
SELECT %(tenant_id)s, %(agent_id)s, r.id, r.subject, r.subject_key, r.predicate, r.object, r.object_key, r.category, r.cardinality,
       r.status, r.confidence, r.valid_from, r.valid_to, r."end", r.supersedes, r.superseded_by, r.decayed_confidence, r.promotion,
       r.used_at, r.claims, now(), now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.fact), CAST(%(rows)s AS json)) AS r

-- name: update
-- Writes facts that are there.
UPDATE mnestic.fact AS t
   SET subject = r.subject, subject_key = r.subject_key, predicate = r.predicate, object = r.object, object_key = r.object_key,
       category = r.category, cardinality = r.cardinality, status = r.status, confidence = r.confidence, valid_from = r.valid_from,
       valid_to = r.valid_to, "end" = r."end", supersedes = r.supersedes, superseded_by = r.superseded_by,
       decayed_confidence = r.decayed_confidence, promotion = r.promotion, used_at = r.used_at, claims = r.claims,
       updated_at = now()
  FROM json_populate_recordset(CAST(NULL AS mnestic.fact), CAST(%(rows)s AS json)) AS r
 WHERE t.tenant_id = %(tenant_id)s AND t.agent_id = %(agent_id)s AND t.id = r.id

-- name: remove
-- Removes facts.
DELETE FROM mnestic.fact
 WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = ANY(CAST(%(ids)s AS text[]))

-- name: list_predicates
-- Reads the predicates about which the tenant has said something, by name; all, or some.
SELECT name, cardinality, category
  FROM mnestic.predicate
 WHERE tenant_id = %(tenant_id)s
   AND name = ANY(CAST(%(names)s AS text[])) -- if names
 ORDER BY name

-- name: put_predicate
-- Writes what the tenant says about a predicate.
INSERT INTO mnestic.predicate (tenant_id, name, cardinality, category, updated_at)
VALUES (%(tenant_id)s, %(name)s, %(cardinality)s, %(category)s, now())
ON CONFLICT (tenant_id, name) DO UPDATE
   SET cardinality = excluded.cardinality, category = excluded.category, updated_at = now()
