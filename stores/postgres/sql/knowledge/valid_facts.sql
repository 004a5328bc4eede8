-- The facts about somebody that held at some of the moments that are asked about, the latest first.
SELECT -- include fact_columns
  FROM mnestic.fact AS f
 WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.subject_key = %(subject)s
   AND -- include valid_then
 ORDER BY f.valid_from DESC, f.id LIMIT CAST(%(limit)s AS integer)
