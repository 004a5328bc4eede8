-- How much the memory of a tenant holds. Entries of facts and episodes follow these, and are not counted.
SELECT (SELECT count(*) FROM mnestic.agent_revision
         WHERE tenant_id = %(tenant_id)s AND agent_id <> %(every_agent)s) AS agents,
       (SELECT COALESCE(sum(entries), 0)::bigint FROM mnestic.corpus WHERE tenant_id = %(tenant_id)s)
     - (SELECT count(*) FROM mnestic.entry WHERE tenant_id = %(tenant_id)s AND kind <> 'message') AS entries,
       (SELECT count(*) FROM mnestic.fact WHERE tenant_id = %(tenant_id)s AND status = 'active') AS facts,
       (SELECT count(*) FROM mnestic.resource WHERE tenant_id = %(tenant_id)s) AS messages,
       (SELECT count(*) FROM mnestic.archived_entry WHERE tenant_id = %(tenant_id)s) AS archived,
       (SELECT CAST(sum(bytes) AS bigint) FROM mnestic.row_bytes(%(tenant_id)s, NULL)) AS memory_bytes
