"""Summaries of a large memory by time: of sessions, weeks, months, and of all of it, each made of those of the level below.

A stored summary could outlive what it was made of. So whatever changes or forgets a message clears the summaries that were
made of it in the same transaction, up to that of the whole life, and they are not used until they are built again.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Protocol, get_args

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel

SummaryLevel = Literal["session", "week", "month", "life"]
LEVELS: tuple[SummaryLevel, ...] = get_args(SummaryLevel)
_A_WEEK = timedelta(days=7)
_MONTHS_FOR_LIFE = 2
_UP_TO_WEEKS = timedelta(days=10)  # a longer period is told by months


class PeriodSummary(DeferredModel):
    """The summary of a session, a week, a month, or of the whole life of an agent.

    A week that two months share has two summaries, one in each. So has a session in each of its weeks.

    Attributes:
        level: What it is of.
        starts_at: When the session, the week or the month begins, or the first month; inclusive, in UTC.
        ends_at: When it ends; exclusive.
        session_id: Of a session; empty for messages without one, and None of the other levels.
        text: The summary; empty if its messages say nothing.
        tokens: Of the text.
        messages: How many messages it is made of.
        updated_at: The time of the maintenance run that built it.
    """

    model_config = ConfigDict(frozen=True)

    level: SummaryLevel
    starts_at: AwareDatetime
    ends_at: AwareDatetime
    session_id: str | None = None
    text: str
    tokens: int
    messages: int
    updated_at: AwareDatetime

    @property
    def name(self) -> str:
        """Such as `life`, `month 2026-03`, `week 2026-03-09`, or `session s1 2026-03-09`."""
        return name_of(self.level, self.starts_at, self.session_id or "")


class SummaryNode(NamedTuple):
    """A summary that is to be built: what it is of, and the digest of what it would be made of.

    It is made of nothing any more, and is to be removed, if it has no messages.
    """

    level: SummaryLevel
    session_id: str
    starts_at: datetime
    ends_at: datetime
    messages: int
    digest: str


class SummaryPart(NamedTuple):
    """A part of what a summary is made of: a message, or a summary of the level below.

    The digest of a summary is that of the `mark` of each, in the order of `at` and `key`.
    """

    at: datetime
    key: str
    text: str
    mark: str


class SummarySearch(NamedTuple):
    """Which summaries a context needs: those of sessions, and those of a level within a period; `alone` without the life."""

    sessions: Sequence[str] = ()
    level: SummaryLevel = "week"
    since: datetime | None = None
    until: datetime | None = None
    alone: bool = False


class PeriodSummaryStore(Protocol):
    """The summaries of an agent's memory by time."""

    async def count_messages(self, *, at_most: int) -> int:
        """How many messages the agent has, live or archived, counted up to a number."""
        ...

    async def list_sessions(self, after: str, *, limit: int) -> tuple[str, ...]:
        """The sessions in which there are messages or summaries, by name, from the one after another."""
        ...

    async def list_changed_sessions(self, sessions: Sequence[str]) -> tuple[SummaryNode, ...]:
        """What is to be built or removed of some sessions, since their messages are others than those it was built of.

        Messages are left out that expire or do not hold any more: a correction names them, or they state a fact that
        has ended or ends. So are those archived by hand, and duplicates. The session "" is that of messages without one.
        """
        ...

    async def list_changed_periods(self, level: SummaryLevel) -> tuple[SummaryNode, ...]:
        """What is to be built or removed of weeks, months or the life, the latest first, by the summaries of the level below."""
        ...

    async def read_parts(
        self, node: SummaryNode, *, after: SummaryPart | None, limit: int
    ) -> tuple[SummaryPart, ...]:
        """What a summary is to be made of, in the order of time, from the part after another."""
        ...

    async def put(
        self, node: SummaryNode, text: str, *, tokens: int, at: datetime, is_left: bool = False
    ) -> bool:
        """Stores a summary; returns False, and stores nothing, if what it is to be made of has changed since.

        A node without messages is removed, and with it what was made of it. One that is left counts as changed, so that the next
        run builds it again.
        """
        ...

    async def count_built(self, at: datetime) -> int:
        """How many summaries a run has built that are still there."""
        ...

    async def remove_all(self) -> int:
        """Removes the agent's summaries; returns how many there were."""
        ...

    async def list_summaries(
        self, level: SummaryLevel | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[PeriodSummary, ...], str | None]:
        """Summaries, the highest level first, of a level the latest first, and the cursor of the next page."""
        ...

    async def find(self, search: SummarySearch) -> tuple[PeriodSummary, ...]:
        """The summary of the life, or else those of the latest two months; and those that are searched for."""
        ...


def name_of(level: SummaryLevel, starts_at: datetime, session_id: str) -> str:
    """How a summary is named."""
    day = starts_at.astimezone(UTC)
    names = {
        "life": "life",
        "month": f"month {day:%Y-%m}",
        "week": f"week {day:%Y-%m-%d}",
        "session": f"session {session_id or '-'} {day:%Y-%m-%d}",
    }
    return names[level]


def end_of(level: SummaryLevel, starts_at: datetime) -> datetime:
    """When a week or a month ends that begins at a moment; a week ends with its month, and a session with its week."""
    first = starts_at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    next_month = (first + timedelta(days=32)).replace(day=1)
    if level == "month":
        return next_month
    monday = starts_at - timedelta(days=starts_at.astimezone(UTC).weekday())
    return min(monday + _A_WEEK, next_month)


def level_for(since: datetime, until: datetime) -> SummaryLevel:
    """The level at which a period is told."""
    return "week" if until - since <= _UP_TO_WEEKS else "month"


def chosen_summaries(found: Iterable[PeriodSummary], search: SummarySearch) -> list[PeriodSummary]:
    """What a context begins with: the sessions and the times that are searched for, and the life, or else the latest months."""
    found = list(found)
    sessions = [one for one in found if one.level == "session"]
    if search.alone:
        return sessions
    periods = [one for one in found if one.level == search.level and _is_within(one, search)]
    life = [one for one in found if one.level == "life"]
    latest = [one for one in found if one.level == "month" and one not in periods]
    return [*sessions, *periods, *(life or latest[:_MONTHS_FOR_LIFE])]


def _is_within(one: PeriodSummary, search: SummarySearch) -> bool:
    if search.since is None or search.until is None:
        return False
    return one.starts_at < search.until and search.since < one.ends_at


def periods_of(nodes: Iterable[SummaryNode]) -> Iterator[tuple[SummaryLevel, datetime | None]]:
    """The weeks, the months and the life that are due with summaries: they themselves, and all above them."""
    for node in nodes:
        if node.level in {"session", "week"}:
            yield "week", node.starts_at
        if node.level != "life":
            yield "month", node.starts_at.astimezone(UTC).replace(day=1, hour=0, minute=0)
        yield "life", None
