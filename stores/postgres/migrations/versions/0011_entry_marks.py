"""Marks of entries: what ranking computed from the text of each candidate, at each question.

Revision ID: 0011
Revises: 0010
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from mnestic.memory.knowledge.entry_features import features_of as marks_of

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_BATCH = 200  # entries, which may have 1 MiB each
# A default of 0 rewrites no row. It goes again, so that nobody forgets to write the marks.
COLUMN = """
ALTER TABLE mnestic.entry ADD COLUMN marks smallint NOT NULL DEFAULT 0;
ALTER TABLE mnestic.entry ALTER COLUMN marks DROP DEFAULT;
ALTER TABLE mnestic.entry NO FORCE ROW LEVEL SECURITY;  -- else its owner sees no row
"""
ENTRIES = sa.text("SELECT ctid::text AS place, content, times FROM mnestic.entry")
# Places hold until the end of the transaction, since nobody else can write the table.
MARK = sa.text("UPDATE mnestic.entry SET marks = :marks WHERE ctid = ANY(CAST(:places AS tid[]))")
WALL = "ALTER TABLE mnestic.entry FORCE ROW LEVEL SECURITY"


def upgrade() -> None:
    op.execute(COLUMN)
    connection = op.get_bind()
    with connection.execute(ENTRIES, execution_options={"yield_per": _BATCH}) as entries:
        for batch in entries.partitions():
            for marks, places in _places_by_marks(batch).items():
                connection.execute(MARK, {"marks": marks, "places": places})
    op.execute(WALL)


def _places_by_marks(entries: Iterable[Any]) -> Mapping[int, Sequence[str]]:
    """Where the entries are that have marks; most have none."""
    places: defaultdict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if marks := marks_of(entry.content, entry.times):
            places[int(marks)].append(entry.place)
    return places
