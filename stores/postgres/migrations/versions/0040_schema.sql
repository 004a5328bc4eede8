-- The versions of contracts. They are never changed: a contract that is taken away has a last version without a document.
CREATE TABLE mnestic.contract (
    tenant_id text NOT NULL,
    selector text NOT NULL,
    version integer NOT NULL,
    document json,
    sha256 text NOT NULL,
    applied_by text NOT NULL,
    applied_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, selector, version),
    CONSTRAINT contract_version CHECK (version > 0)
);
GRANT SELECT, INSERT ON mnestic.contract TO mnestic_app;
ALTER TABLE mnestic.contract ENABLE ROW LEVEL SECURITY;
ALTER TABLE mnestic.contract FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON mnestic.contract
    USING (tenant_id = current_setting('mnestic.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true));
ALTER TABLE mnestic.contract ALTER COLUMN tenant_id SET (n_distinct = 10);

-- The contract in force for an agent: that of the selector which is its id, or of the pattern that says most of it. In a selector
-- `*` stands for any characters, and no selector has a character that LIKE knows but `_`.
CREATE FUNCTION mnestic.contract_of(of_tenant text, of_agent text)
RETURNS TABLE (selector text, version integer, document json, sha256 text, applied_by text, applied_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT l.selector, l.version, l.document, l.sha256, l.applied_by, l.applied_at
      FROM (SELECT DISTINCT ON (c.selector) c.*
              FROM mnestic.contract AS c
             WHERE c.tenant_id = of_tenant
             ORDER BY c.selector, c.version DESC) AS l
     WHERE l.document IS NOT NULL
       AND of_agent LIKE replace(replace(l.selector, '_', '\_'), '*', '%')
     ORDER BY position('*' IN l.selector) > 0, char_length(split_part(l.selector, '*', 1)) DESC,
              char_length(replace(l.selector, '*', '')) DESC, l.selector COLLATE "C"
     LIMIT 1
$$;

-- What is known of a record beside its value, such as where it comes from.
ALTER TABLE mnestic.long_term_record ADD COLUMN metadata jsonb;

-- These weights of importance are constants now. The rows of all tenants are written, without the wall.
ALTER TABLE mnestic.setting NO FORCE ROW LEVEL SECURITY;
UPDATE mnestic.setting
   SET value = value - ARRAY['other_type', 'least_recency', 'many_accesses', 'many_relations', 'rich_chars']
 WHERE name = 'importance_policy';
ALTER TABLE mnestic.setting FORCE ROW LEVEL SECURITY;
