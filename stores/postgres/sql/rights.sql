-- name: list_rights
-- Reads what the application and everybody may do with the schema, its tables, their columns, and its functions.
SELECT o.kind, o.name, o.part, a.privilege_type AS privilege, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE 'mnestic_app' END AS role
  FROM (
    SELECT 'SCHEMA' AS kind, nspname AS name, '' AS part, COALESCE(nspacl, acldefault('n', nspowner)) AS acl
      FROM pg_namespace WHERE nspname = 'mnestic'
    UNION ALL
    SELECT 'TABLE', relname, '', COALESCE(relacl, acldefault('r', relowner))
      FROM pg_class WHERE relnamespace = to_regnamespace('mnestic') AND relkind IN ('r', 'v')
    UNION ALL
    SELECT 'TABLE', c.relname, t.attname, t.attacl
      FROM pg_attribute AS t JOIN pg_class AS c ON c.oid = t.attrelid
     WHERE c.relnamespace = to_regnamespace('mnestic') AND t.attacl IS NOT NULL AND NOT t.attisdropped
    UNION ALL
    SELECT 'FUNCTION', proname, '', COALESCE(proacl, acldefault('f', proowner))
      FROM pg_proc WHERE pronamespace = to_regnamespace('mnestic')
  ) AS o, aclexplode(o.acl) AS a
 WHERE a.grantee = 0 OR a.grantee = (SELECT oid FROM pg_roles WHERE rolname = 'mnestic_app')

-- name: list_walls
-- Reads which tables have row-level security, for their owner too, the policy of their tenant, and which of readers.
SELECT c.relname AS name, c.relrowsecurity AS is_on, c.relforcerowsecurity AS is_forced,
       EXISTS (SELECT FROM pg_policies AS p
                WHERE p.schemaname = 'mnestic' AND p.tablename = c.relname AND p.policyname = 'tenant'
                  AND p.permissive = 'PERMISSIVE' AND p.cmd = 'ALL' AND p.roles = '{public}'
                  AND p.qual = '(tenant_id = current_setting(''mnestic.tenant_id''::text, true))'
                  AND p.with_check = '(tenant_id = current_setting(''mnestic.tenant_id''::text, true))') AS has_policy,
       (SELECT p.qual || ' ' || p.cmd FROM pg_policies AS p
         WHERE p.schemaname = 'mnestic' AND p.tablename = c.relname AND p.policyname = 'readers'
           AND p.permissive = 'RESTRICTIVE' AND p.roles = '{public}' AND p.with_check IS NULL) AS readers
  FROM pg_class AS c WHERE c.relnamespace = to_regnamespace('mnestic') AND c.relkind = 'r'

-- name: list_holes
-- Reads policies of somebody's own that let more rows through: any permissive one does, a restrictive one only narrows.
SELECT tablename, policyname FROM pg_policies
 WHERE schemaname = 'mnestic' AND policyname <> 'tenant' AND permissive = 'PERMISSIVE'
 ORDER BY tablename, policyname

-- name: list_views
-- Reads the views that show the rows of the transaction's tenant alone.
SELECT viewname AS name FROM pg_views
 WHERE schemaname = 'mnestic'
   AND definition LIKE '%FROM mnestic.long\_term\_record%WHERE (tenant\_id = current\_setting(''mnestic.tenant\_id''::text, true));'

-- name: find_role
-- Reads whether the application's role has rights of an administrator.
SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS is_strong FROM pg_roles WHERE rolname = 'mnestic_app'

-- name: find_owner
-- Reads who owns the schema, and whether the session's role may act as it.
SELECT rolname AS name, pg_has_role(oid, 'USAGE') AS is_ours FROM pg_roles
 WHERE oid = (SELECT relowner FROM pg_class WHERE oid = 'mnestic.alembic_version'::regclass)

-- name: make_role
-- Makes the application's role, and who makes it a member. It belongs to the whole cluster, so another database may be making
-- it at this moment.
DO $$
BEGIN
    CREATE ROLE mnestic_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = CURRENT_USER) THEN
        GRANT mnestic_app TO CURRENT_USER;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$
