"""Plans that suit large agents, however small the others are.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

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
END $$
"""


def upgrade() -> None:
    op.execute(FEW)
