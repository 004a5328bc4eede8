"""Backends of records, and events between agents.

Revision ID: 0041
Revises: 0040
"""

from pathlib import Path

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    statements = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
