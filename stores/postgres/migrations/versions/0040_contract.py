"""Contracts of agents, and fewer weights of importance.

Revision ID: 0040
Revises: 0039
"""

from pathlib import Path

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    statements = Path(__file__).with_name("0040_schema.sql").read_text(encoding="utf-8")
    op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
