"""Who changed an entry: an index of the audit log for the changes that are not part of learning.

Revision ID: 0038
Revises: 0037
"""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

BY_ENTRY = """
CREATE INDEX audit_log_of_entries ON mnestic.audit_log (tenant_id, agent_id, target, id)
 WHERE action IN ('entry.change', 'entry.remove', 'entry.archive', 'entry.restore') AND actor <> 'learning'
"""


def upgrade() -> None:
    op.execute(BY_ENTRY)
