"""The vectors nearest to a query, of one agent: by the agent's own index, if it has one, or all of them.

Revision ID: 0013
Revises: 0012
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# An index of vectors is of one agent and model, and Postgres sees that it applies only where these are written out. So that
# the statement of a search has one text, and a plan that is kept, they are written out in here. It reads as whoever calls
# it, behind row-level security. Vectors of more than 1,280 dimensions are not in the index that answers without the table.
NEAREST = """
CREATE FUNCTION mnestic.nearest_vectors(
    of_tenant text, of_agent text, of_model text, query halfvec, most integer, is_indexed boolean
)
    RETURNS TABLE (number bigint, score double precision) LANGUAGE plpgsql STABLE ROWS 100 AS $$
BEGIN
    IF is_indexed THEN
        RETURN QUERY EXECUTE format(
            'SELECT entry_number, - ((vector::halfvec(%1$s)) <#> $1::halfvec(%1$s)) FROM mnestic.embedding '
            'WHERE tenant_id = %2$L AND agent_id = %3$L AND model = %4$L AND dimensions = %1$s '
            'ORDER BY (vector::halfvec(%1$s)) <#> $1::halfvec(%1$s) LIMIT %5$s',
            vector_dims(query), of_tenant, of_agent, of_model, most) USING query;
    ELSIF vector_dims(query) <= 1280 THEN
        RETURN QUERY SELECT v.entry_number, - (v.vector <#> query) FROM mnestic.embedding AS v
         WHERE v.tenant_id = of_tenant AND v.agent_id = of_agent AND v.model = of_model AND v.dimensions <= 1280
         ORDER BY v.vector <#> query LIMIT most;
    ELSE
        RETURN QUERY SELECT v.entry_number, - (v.vector <#> query) FROM mnestic.embedding AS v
         WHERE v.tenant_id = of_tenant AND v.agent_id = of_agent AND v.model = of_model
         ORDER BY v.vector <#> query LIMIT most;
    END IF;
END $$
"""


def upgrade() -> None:
    op.execute(NEAREST)
