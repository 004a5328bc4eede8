"""Shared memory, readers, collections and the graph of a contract, each from a file of statements.

Revision ID: 0042
Revises: 0041
"""

from pathlib import Path

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for file in sorted(Path(__file__).parent.glob("0042_*.sql")):
        statements = file.read_text(encoding="utf-8")
        op.execute(statements.replace(":", r"\:"))  # no colon is of a parameter
