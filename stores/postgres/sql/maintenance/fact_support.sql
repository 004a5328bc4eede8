-- A fragment of other queries: when the fact f was last learned, which is no earlier than it was said, when an entry that states it, or its own, was last retrieved, and
-- whether it never decays, since a person has added or reactivated it or a critical entry states it.
     CROSS JOIN LATERAL (
        SELECT max(c.learned_at) FILTER (WHERE c.kind IN ('affirmed', 'corrected', 'reactivated')) AS learned_at,
               GREATEST(max(e.last_accessed), max(a.last_accessed)) AS used_at,
               bool_or(c.extractor = 'person' OR COALESCE(e.critical, false) OR COALESCE(a.critical, false)) AS is_lasting
          FROM jsonb_array_elements_text(f.claims) AS claimed (id)
         CROSS JOIN LATERAL (
            SELECT kind, said_at, GREATEST(said_at, recorded_at) AS learned_at, session_id, source_id, source ->> 'extractor' AS extractor FROM mnestic.claim
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = claimed.id OFFSET 0) AS c
          LEFT JOIN LATERAL (
            SELECT critical, last_accessed FROM mnestic.entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
               AND at = c.said_at AND source_id = c.source_id AND kind = 'message' OFFSET 0) AS e ON true
          LEFT JOIN LATERAL (
            SELECT CAST(entry ->> 'critical' AS boolean) AS critical, CAST(entry ->> 'last_accessed' AS timestamptz) AS last_accessed
              FROM mnestic.archived_entry
             WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = c.session_id
               AND source_id = c.source_id OFFSET 0) AS a ON true) AS s
      LEFT JOIN LATERAL (
        SELECT last_accessed FROM mnestic.entry
         WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND id = f.id OFFSET 0) AS own ON true
