"""Entries as they are told, whole: out of what the process keeps, the others out of Postgres.

They stand apart from the search, which is over once it is known which they are.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import text

from mnestic.memory.entries import Entry
from mnestic.stores.postgres.candidates import STORED_COLUMN, EntryLine, entry_of
from mnestic.stores.postgres.connections import Asked, array_of
from mnestic.stores.postgres.reading import Reading
from mnestic.stores.postgres.unit import NOTHING, Unit

_WHOLE = text(f"""
SELECT e.number, e.id, e.session_id, e.content, {STORED_COLUMN} FROM mnestic.entry AS e
 WHERE e.tenant_id = :tenant_id AND e.agent_id = :agent_id AND e.number = ANY(CAST(:numbers AS bigint[]))
""")  # noqa: S608 - a constant


class ToldEntries:
    """Some entries, of which `asking` asks for those that the process does not keep whole."""

    def __init__(self, unit: Unit, reading: Reading | None, numbers: Sequence[int]) -> None:
        """Looks for what is kept.

        Args:
            unit: Where Postgres is asked.
            reading: What the process keeps of the agent, if that may be used.
            numbers: The entries.
        """
        self._reading = reading
        held = {} if reading is None else reading.held(numbers)
        self._lines: dict[int, EntryLine] = {
            number: line for number, line in held.items() if line.stored is not None
        }
        lacking = [number for number in numbers if number not in self._lines]
        these = {**unit.owner, "numbers": array_of(lacking)}
        self.asking: Asked = (_WHOLE, these) if lacking else NOTHING

    def entries(self, rows: Sequence[Any], *, but: Collection[int] = ()) -> dict[int, Entry]:
        """The entries by number, but for some; `rows` are what was answered."""
        lines = {number: line for number, line in self._lines.items() if number not in but}
        kept = {} if self._reading is None else self._reading.entries(lines)
        others = (row for row in rows if row.number not in but)
        return kept | {
            row.number: entry_of(
                row.stored, id=row.id, session_id=row.session_id, content=row.content
            )
            for row in others
        }
