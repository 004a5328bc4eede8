"""Working memory that is written as it is sent: neither counted nor compressed.

Revision ID: 0012
Revises: 0011
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# Of 6.1 ms of the processor that Postgres took to save 256 KiB, counting the messages took 1.7, since it reads the
# document twice, and compressing it 2.4. Who seals a session counts its messages. A document takes three times the
# room, and is written whole at each save; snapshots are stored the same way.
PLAIN = """
ALTER TABLE mnestic.working_memory DROP COLUMN message_count;
ALTER TABLE mnestic.working_memory ALTER COLUMN state SET STORAGE EXTERNAL;
"""


def upgrade() -> None:
    op.execute(PLAIN)
