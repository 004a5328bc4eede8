"""What the model calls of a maintenance run took, and which model was asked for the summary of a category.

Revision ID: 0023
Revises: 0022
"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

USAGE = "ALTER TABLE mnestic.maintenance_run ADD COLUMN usage jsonb NOT NULL DEFAULT '{}'"
BY_RUN = """
CREATE INDEX llm_usage_by_run ON mnestic.llm_usage (tenant_id, operation_key) WHERE purpose = 'maintain'
"""
MODEL = "ALTER TABLE mnestic.category ADD COLUMN model text"


def upgrade() -> None:
    for statement in (USAGE, BY_RUN, MODEL):
        op.execute(statement)
