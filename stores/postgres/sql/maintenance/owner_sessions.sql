-- name: find_right
-- Reads whether the role owns the tables.
SELECT pg_has_role(relowner, 'USAGE') AS may FROM pg_class WHERE oid = 'mnestic.entry'::regclass

-- name: find_sight
-- Reads whether row-level security does not hold for the role.
SELECT rolsuper OR rolbypassrls AS sees_all FROM pg_roles WHERE rolname = current_user
