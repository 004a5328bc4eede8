"""Marks of entries: what ranking computed from the text of each candidate, at each question.

The rules are those of memory when this migration was written, copied: memory's own may change, this may not.

Revision ID: 0011
Revises: 0010
"""

# ruff: noqa: RUF001 (typographic apostrophes are meant)

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

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

_ASKS, _REVISES, _NAMES_TIME = 1, 2, 4  # the bits of a mark
_QUESTION_MARKS = ("?", "\uff1f")
_REVISION_CHARS, _TIME_CHARS = 1000, 20_000  # of a longer text only the beginning is read
_DAYS = (
    "january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|september|sept|sep|october|oct"
    "|november|nov|december|dec|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
)
_CHANGE = (
    "no longer|any longer|any more|from now on|as of|goes up|goes down|went up|went down|gone up|gone down|took over"
    "|takes over|handed over|gave up|given up|nicht mehr|ab sofort|ya no|now|nowadays|anymore|instead|correction|changed"
    "|changes|moved|switched|switches|migrated|replaced|replaces|update|updated|renamed|upgraded|raised|increased"
    "|reduced|lowered|extended|postponed|rescheduled|quit|stopped|new|neu|neue|neuen|neuer|neues|neuem|nuevo|nueva"
    "|nuevos|nuevas|nouveau|nouvelle|nouveaux|nouvelles|jetzt|nun|geändert|umgezogen|stattdessen|verschoben|ersetzt"
    "|ahora|cambió|cambié|cambiado|mudó|mudé|mudado|maintenant|désormais|changé|déménagé|remplacé"
    rf"|from (?:then|today|tomorrow|(?:next|this) [a-z]+|(?:\d+ )?(?:{_DAYS})(?: \d+)?|\d{{4}}) on(?:wards?)?"
)
_MAY_REVISE = re.compile(rf"\b(?:{_CHANGE})\b")
_IS_REVISION = re.compile(rf"\b(?!(?-i:New) (?-i:[A-Z]))(?:{_CHANGE})\b", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:every|each|twice\s+a|once\s+a)\s+(?:\w+\s+)?(?:hour|day|week|month|"
    r"quarter|year)s?|mornings?|afternoons?|evenings?|nights?|dawn|dusk|noon|midnight|weekends?|weekdays?|daily|weekly|monthly|"
    r"quarterly|yearly|annually|(?:after|before|until)\s+(?:\w+\s+)?(?:breakfast|lunch|dinner|school|work|holidays?)|"
    r"(?<![\d.])(?:[01]?\d|2[0-4]):[0-5]\d(?!\d)|\d{1,2}\s?(?:am|pm|a\.m\.|p\.m\.|o['’]clock|uhr|h)\b|(?:at|half|quarter\s+past)\s+"
    r"(?:\d{1,2}(?:\.\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?=\s*(?:$|[.,;!?]|[a-z]+\b)))"
)


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
        if marks := _marks_of(entry.content, entry.times):
            places[marks].append(entry.place)
    return places


def _marks_of(content: str, times: Collection[Any]) -> int:
    marks = _ASKS if content.rstrip().endswith(_QUESTION_MARKS) else 0
    beginning = content[:_REVISION_CHARS]
    if _MAY_REVISE.search(beginning.lower()) and _IS_REVISION.search(beginning):
        marks |= _REVISES
    if times or _TIME.search(content[:_TIME_CHARS].lower()):
        marks |= _NAMES_TIME
    return marks
