-- A fragment of other queries: the edge that the fact f should have, and none for one that is deleted or never held. Claims that it
-- has ended do not count for its weight.
SELECT f.id, f.subject AS source, f.subject_key AS source_key, f.predicate, f.object AS target, f.object_key AS target_key,
       CAST(round(CAST(COALESCE(f.decayed_confidence, f.confidence) * ln(1 + GREATEST(1, (
            SELECT count(*) FROM mnestic.claim
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind IN ('affirmed', 'corrected', 'reactivated')
               AND id = ANY(ARRAY(SELECT jsonb_array_elements_text(f.claims)))))) / ln(2) AS numeric), 4) AS float8) AS weight,
       f.status = 'active' AS is_active, f.valid_from, f.valid_to, f.audience
  FROM mnestic.fact AS f
 WHERE f.tenant_id = %(tenant_id)s AND f.agent_id = %(agent_id)s AND f.status <> 'deleted' AND (f.valid_to IS NULL OR f.valid_to > f.valid_from)
