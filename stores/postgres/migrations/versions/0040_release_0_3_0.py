"""0.3.0: messages become memory that is found, maintained, archived, forgotten, and served to others.

Revision ID: 0040
Revises: 0006
"""

from pathlib import Path

from alembic import op

revision = "0040"
down_revision = "0006"
branch_labels = None
depends_on = None

GRANTS = {
    "maintenance_run": "SELECT, INSERT",
    "archived_entry": "SELECT, INSERT, UPDATE, DELETE",
    "category": "SELECT, INSERT, UPDATE, DELETE",
    "summary": "SELECT, INSERT, DELETE",
    "graph_edge": "SELECT, INSERT, UPDATE, DELETE",
    "api_key": "SELECT, INSERT, UPDATE (revoked_at)",
    "supersession": "SELECT, INSERT, UPDATE, DELETE",
    "contract": "SELECT, INSERT",
}
# Whose rows are read or written, without the wall, behind which their owner is as well.
_OPENED = (
    *("resource", "entry", "entry_term", "posting", "lexeme", "corpus", "embedding_model"),
    *("fact", "claim", "episode", "setting", "agent_revision"),
)
# A plan that is kept is made for an average agent. Where nearly all are tiny, Postgres takes any index that begins with
# tenant and agent for as good as the right one, and reads all that a large agent has. It is told that there are few of
# each, so that an agent is taken for one with a hundredth of all rows; or with the share of the largest, where that is less.
FEW = """
DO $$
DECLARE owned text;
BEGIN
    FOR owned IN
        SELECT c.oid::regclass::text FROM pg_class AS c
          JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attname = 'tenant_id'
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'agent_id'
         WHERE c.relnamespace = 'mnestic'::regnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN tenant_id SET (n_distinct = 10), '
                       'ALTER COLUMN agent_id SET (n_distinct = 10)', owned);
        EXECUTE format('ANALYZE %s (tenant_id, agent_id)', owned);
    END LOOP;
END $$;
ALTER TABLE mnestic.api_key ALTER COLUMN tenant_id SET (n_distinct = 10);
ALTER TABLE mnestic.contract ALTER COLUMN tenant_id SET (n_distinct = 10);
"""


def upgrade() -> None:
    for table in _OPENED:
        op.execute(f"ALTER TABLE mnestic.{table} NO FORCE ROW LEVEL SECURITY")
    for name in ("0040_schema.sql", "0040_rows.sql"):
        statements = Path(__file__).with_name(name).read_text(encoding="utf-8")
        op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
    for table, privileges in GRANTS.items():
        op.execute(f"GRANT {privileges} ON mnestic.{table} TO mnestic_app")
        op.execute(f"ALTER TABLE mnestic.{table} ENABLE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON mnestic.{table} "
            "USING (tenant_id = current_setting('mnestic.tenant_id', true)) "
            "WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))"
        )
    for table in (*_OPENED, *GRANTS):
        op.execute(f"ALTER TABLE mnestic.{table} FORCE ROW LEVEL SECURITY")
    op.execute(FEW)
