"""The steps on segments: add, use, evict, cut, summarize and end, within the token budgets of a contract.

They are pure: time, ids and the token counter come in, and the same steps always give the same segments.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segments import (
    ChangeKind,
    ContractRef,
    Retention,
    SegmentChange,
    SegmentEntry,
    SegmentLimit,
    SegmentRule,
    SegmentRules,
    Segments,
    SummarySource,
    SummaryStrategy,
    default_segment,
    tokens_of,
)
from mnestic.memory.language.sentences import cut_text

CUT_MARK = " [cut]"
_MOST_CHANGES = 200  # rows of the ledger that working memory carries
_SUMMARY_SHARE = 4  # a summary has a fourth of what it replaces
_SHORT_SUMMARY = 96  # tokens that it may have all the same
_SEGMENT_SHARE = 3  # and a third of its segment at most
_LEAST_SUMMARY = (
    48  # tokens, half of them for what it stands for; where it may have less, there is none
)
_CHARS_PER_TOKEN = 4  # of English; a summary is cut by its tokens in the end
_NEW_LIMIT = "the contract has a lower limit"


@dataclass(frozen=True, kw_only=True)
class SegmentSummary:
    """A summary to put in the place of entries. `reason` says why it was made, and why in this way."""

    id: str
    ids: tuple[str, ...]
    text: str
    strategy: SummaryStrategy
    reason: str


def cut_to_tokens(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """The beginning of a text, up to the end of a sentence, and a mark; empty if nothing fits beside the mark."""
    tokens = count_tokens(text)
    if tokens <= max_tokens:
        return text
    chars = len(text)
    while tokens > max_tokens and chars > 0:
        chars = min(chars - 1, chars * max_tokens // tokens)
        cut = cut_text(text, chars)
        if not any(map(str.isalnum, cut)):
            return ""
        tokens = count_tokens(cut + CUT_MARK)
        chars = len(cut)
    return cut + CUT_MARK if tokens <= max_tokens else ""


class SegmentEdit:
    """Some steps on the segments of a session. No step leaves a segment or all of them above their limits.

    A step takes O(n log n) for n entries.
    """

    def __init__(
        self,
        segments: Segments | None,
        rules: SegmentRules,
        *,
        count_tokens: Callable[[str], int],
        at: datetime,
        job_id: str | None = None,
        contract: ContractRef | None = None,
    ) -> None:
        """Begins with what is there; where a new contract has other segments or lower limits, entries are evicted.

        Args:
            segments: The segments so far.
            rules: The rules, with one segment at least.
            count_tokens: Counts exactly.
            at: The time of the steps.
            job_id: The job that takes them.
            contract: Where the rules are from.
        """
        self._before = segments or Segments()
        self._rules, self._count = rules, count_tokens
        self._at, self._job_id = at, job_id
        self._contract = contract or ContractRef()
        self._by_id = {rule.segment_id: rule for rule in rules.segments}
        self._sequence = self._before.sequence
        self._entries = {entry.id: self._counted(entry) for entry in self._before.entries}
        self._changes: list[SegmentChange] = []
        self.summarized: tuple[SegmentEntry, ...] = ()
        """A summary that these steps have put in, and after it what it has replaced."""
        self._fit()

    @property
    def entries(self) -> tuple[SegmentEntry, ...]:
        """The entries by arrival, counted."""
        return tuple(sorted(self._entries.values(), key=_arrival))

    @property
    def changes(self) -> tuple[SegmentChange, ...]:
        """The rows that these steps add to the ledger."""
        return tuple(self._changes)

    def result(self) -> Segments:
        """The segments after the steps."""
        changes = (*self._before.changes, *self._changes)
        earlier = max(0, len(changes) - _MOST_CHANGES)
        return Segments(
            sequence=self._sequence,
            entries=self.entries,
            changes=changes[earlier:],
            earlier_changes=self._before.earlier_changes + earlier,
            contract=self._contract,
            max_tokens=self._rules.max_tokens,
            limits=tuple(map(_limit, self._rules.segments)),
        )

    def segment(self, segment_id: str | None) -> str:
        """The segment of that id, or the default one.

        Raises:
            InvalidInputError: the contract has no such segment.
        """
        name = default_segment(self._rules) if segment_id is None else segment_id
        if name not in self._by_id:
            raise unknown_segment(name, self._by_id)
        return name

    def due(self, drafts: Sequence[SegmentEntry]) -> tuple[SegmentEntry, ...]:
        """What a summary is to replace before drafts of one segment are added: its oldest texts; none below the threshold.

        Drafts are among them if there are many. Of a segment of tasks they are of one job.
        """
        if not drafts or not self._rules.summarization.enabled:
            return ()
        rule = self._by_id[drafts[0].segment_id]
        own = [*sorted(self._own(rule), key=_arrival), *map(self._counted, drafts)]
        threshold = rule.max_tokens * self._rules.summarization.trigger_threshold // 100
        return self._oldest(own, rule) if tokens_of(own) >= threshold else ()

    def oldest(self, segment_id: str) -> tuple[SegmentEntry, ...]:
        """What a summary is to replace if a segment is summarized now, whatever its size: all but its newest text."""
        rule = self._by_id[segment_id]
        return _of_one_job(sorted(self._own(rule), key=_arrival)[:-1], rule)

    def write(self, drafts: Iterable[SegmentEntry], summary: SegmentSummary | None = None) -> None:
        """Puts a summary in the place of what it stands for, and adds the other drafts.

        A summary of which something is not there any more is left out.
        """
        left = list(drafts)
        if summary is not None:
            left = self._replaced(summary, left)
        for draft in left:
            self.add(draft)

    def add(self, draft: SegmentEntry) -> SegmentEntry | None:
        """Adds an entry; what has to go for it is evicted, and what is too large is cut.

        None if there is no room: persistent entries, and those of a higher priority, do not go for it.
        """
        if draft.id in self._entries:
            return self._entries[draft.id]
        self._sequence += 1
        own = {"arrival": self._sequence, "last_use": self._sequence}
        return self._place(self._counted(draft).model_copy(update=own))

    def use(self, ids: Collection[str]) -> None:
        """Marks entries as used in a prompt."""
        self._sequence += 1
        for entry_id in ids:
            if (entry := self._entries.get(entry_id)) is not None:
                self._entries[entry_id] = entry.model_copy(update={"last_use": self._sequence})

    def end_job(self, job_id: str) -> None:
        """Ends what segments of tasks have of a job."""
        ends = [entry for entry in self._of_retention("task") if entry.job_id == job_id]
        self._remove(ends, "ended", why=f"job {job_id} ended")

    def end_session(self) -> None:
        """Ends what segments of the session and of tasks have."""
        self._remove(self._of_retention("session", "task"), "ended", why="the session ended")

    def replace(self, segment_id: str, entry: SegmentEntry) -> SegmentEntry | None:
        """Puts an entry in the place of all that a segment has."""
        self._remove(self._own(self._by_id[segment_id]), "replaced", why="somebody set the segment")
        return self.add(entry)

    def _counted(self, entry: SegmentEntry) -> SegmentEntry:
        if entry.tokens is not None:
            return entry
        return entry.model_copy(update={"tokens": self._count(entry.content)})

    def _own(self, rule: SegmentRule) -> list[SegmentEntry]:
        return [e for e in self._entries.values() if e.segment_id == rule.segment_id]

    def _of_retention(self, *retentions: Retention) -> list[SegmentEntry]:
        return [e for e in self.entries if self._by_id[e.segment_id].retention in retentions]

    def _is_persistent(self, entry: SegmentEntry) -> bool:
        return self._by_id[entry.segment_id].retention == "persistent"

    def _stays_for(self, entry: SegmentEntry, rule: SegmentRule) -> bool:
        """Whether an entry stays where it is, whatever a segment gets."""
        if self._is_persistent(entry):
            return True
        is_higher = self._by_id[entry.segment_id].priority < rule.priority
        return is_higher and self._rules.eviction_policy == "priority"

    def _place(self, entry: SegmentEntry) -> SegmentEntry | None:
        """Puts an entry into its segment, within the limits."""
        rule = self._by_id[entry.segment_id]
        own = self._own(rule)
        stays = [each for each in self._entries.values() if self._stays_for(each, rule)]
        room = min(
            rule.max_tokens - tokens_of(each for each in own if self._is_persistent(each)),
            self._rules.max_tokens - tokens_of(stays),
        )
        tokens = entry.tokens or 0
        if tokens > room:
            content = cut_to_tokens(entry.content, room, self._count)
            if not content:
                why = f"an entry of {tokens} tokens has no room: what stays leaves {max(0, room)}"
                self._note("refused", [entry], why=why, before=tokens_of(own))
                return None
            cut = entry.model_copy(update={"content": content, "tokens": self._count(content)})
            why = f"the entry alone is larger than the {room} tokens that it may have"
            self._note("cut", [entry], why=why, before=tokens, after=cut.tokens)
            entry = cut
        self._make_room(rule, entry.tokens or 0)
        self._entries[entry.id] = entry
        return entry

    def _make_room(self, rule: SegmentRule, tokens: int) -> None:
        """Evicts what goes for that many tokens; what stays goes last, and so never, since the tokens fit beside it."""
        own = self._own(rule)
        excess = tokens_of(own) + tokens - rule.max_tokens
        self._evict(own, excess, why=f"the segment has {rule.max_tokens} tokens")
        excess = tokens_of(self._entries.values()) + tokens - self._rules.max_tokens
        self._evict(self.entries, excess, why=f"all segments have {self._rules.max_tokens} tokens")

    def _fit(self) -> None:
        """Evicts what the rules have no place for; of what is there by a former contract, persistent entries go last."""
        gone = [entry for entry in self._entries.values() if entry.segment_id not in self._by_id]
        self._remove(gone, "evicted", why="the contract has no such segment")
        for rule in self._rules.segments:
            own = self._own(rule)
            self._evict(own, tokens_of(own) - rule.max_tokens, why=_NEW_LIMIT)
        excess = tokens_of(self._entries.values()) - self._rules.max_tokens
        self._evict(self.entries, excess, why=_NEW_LIMIT)

    def _evict(self, candidates: Iterable[SegmentEntry], excess: int, *, why: str) -> None:
        """Evicts as many as it takes, by the policy."""
        chosen: list[SegmentEntry] = []
        for entry in sorted(candidates, key=self._order) if excess > 0 else ():
            if excess <= 0:
                break
            chosen.append(entry)
            excess -= entry.tokens or 0
        self._remove(chosen, "evicted", why=f"{self._rules.eviction_policy}: {why}")

    def _order(self, entry: SegmentEntry) -> tuple[bool, int, int]:
        """The order in which entries go."""
        rank = {
            "lru": entry.last_use,
            "fifo": 0,
            "priority": -self._by_id[entry.segment_id].priority,
        }[self._rules.eviction_policy]
        return self._is_persistent(entry), rank, entry.arrival

    def _remove(self, entries: Sequence[SegmentEntry], kind: ChangeKind, *, why: str) -> None:
        """Takes entries out, with a row of the ledger for each segment."""
        for segment_id in dict.fromkeys(entry.segment_id for entry in entries):
            own = [entry for entry in entries if entry.segment_id == segment_id]
            before = self._tokens(segment_id)
            for entry in own:
                del self._entries[entry.id]
            self._note(kind, own, why=why, before=before, after=self._tokens(segment_id))

    def _tokens(self, segment_id: str) -> int:
        return tokens_of(e for e in self._entries.values() if e.segment_id == segment_id)

    def _note(
        self,
        kind: ChangeKind,
        entries: Sequence[SegmentEntry],
        *,
        why: str,
        before: int,
        after: int | None = None,
    ) -> None:
        self._changes.append(
            SegmentChange(
                at=self._at,
                kind=kind,
                segment_id=entries[0].segment_id,
                ids=tuple(entry.id for entry in entries),
                why=why,
                tokens_before=before,
                tokens_after=before if after is None else after,
                job_id=self._job_id,
            )
        )

    def _oldest(self, own: list[SegmentEntry], rule: SegmentRule) -> tuple[SegmentEntry, ...]:
        """The oldest texts, until the others and the summary take half of the threshold; the newest is left in any case."""
        target = rule.max_tokens * self._rules.summarization.trigger_threshold // 200
        left = tokens_of(own)
        chosen: list[SegmentEntry] = []
        for entry in own[:-1]:
            if chosen and left + summary_tokens(chosen, rule) <= target:
                break
            chosen.append(entry)
            left -= entry.tokens or 0
        return _of_one_job(chosen, rule)

    def _replaced(self, summary: SegmentSummary, drafts: list[SegmentEntry]) -> list[SegmentEntry]:
        """Puts a summary in the place of entries and drafts; returns the drafts that are left."""
        by_id = {entry.id: self._counted(entry) for entry in drafts} | self._entries
        if not set(summary.ids) <= set(by_id):
            return drafts
        sources = [by_id[entry_id] for entry_id in summary.ids]
        entry = self._summary_entry(summary, sources)
        if entry is None:
            return drafts
        before, entries = self._tokens(entry.segment_id), dict(self._entries)
        for source in sources:
            self._entries.pop(source.id, None)
        placed = self._place(entry)
        if placed is None:  # what stays leaves no room for it
            self._entries = entries
            return drafts
        after = self._tokens(entry.segment_id)
        self.summarized = (placed, *sources)
        self._note("summarized", sources, why=summary.reason, before=before, after=after)
        return [draft for draft in drafts if draft.id not in summary.ids]

    def _summary_entry(
        self, summary: SegmentSummary, sources: Sequence[SegmentEntry]
    ) -> SegmentEntry | None:
        """The entry of a summary, which is shorter than what it stands for; None if that cannot be."""
        first = sources[0]
        source = _source_of(sources, summary)
        limit = summary_tokens(sources, self._by_id[first.segment_id])
        content = cut_to_tokens(f"{_heading(source)} {summary.text}", limit, self._count)
        if not summary.text or not content.removesuffix(CUT_MARK).startswith(_heading(source)):
            return None
        if first.arrival == 0:
            self._sequence += 1
        return SegmentEntry(
            id=summary.id,
            segment_id=first.segment_id,
            content=content,
            tokens=self._count(content),
            arrival=first.arrival or self._sequence,
            last_use=max(each.last_use for each in sources) or self._sequence,
            at=self._at,
            job_id=first.job_id,
            source=source,
        )


def unknown_segment(segment_id: str, known: Iterable[str]) -> InvalidInputError:
    """What is raised for a segment that a contract does not have."""
    why = f"is none of the contract, which has {', '.join(known)}"
    return InvalidInputError(what=f"segment {segment_id}", why=why)


def text_to_summarize(entry: SegmentEntry) -> str:
    """The words of an entry; of a summary, without what it says about itself."""
    heading = "" if entry.source is None else _heading(entry.source)
    return entry.content.removeprefix(heading).removesuffix(CUT_MARK).strip()


def summary_chars(sources: Sequence[SegmentEntry], rule: SegmentRule) -> int:
    """About how many characters the words of a summary may have."""
    return (summary_tokens(sources, rule) - _LEAST_SUMMARY // 2) * _CHARS_PER_TOKEN


def summary_tokens(sources: Sequence[SegmentEntry], rule: SegmentRule | SegmentLimit) -> int:
    """How many tokens a summary of entries may have."""
    replaced = tokens_of(sources)
    share = max(replaced // _SUMMARY_SHARE, _SHORT_SUMMARY)
    return min(replaced - 1, share, rule.max_tokens // _SEGMENT_SHARE)


def _arrival(entry: SegmentEntry) -> int:
    return entry.arrival


def _source_of(sources: Sequence[SegmentEntry], summary: SegmentSummary) -> SummarySource:
    earlier = [each.source for each in sources if each.source is not None]
    channels = {each.channel for each in sources if each.channel is not None}
    return SummarySource(
        channels=tuple(sorted(channels.union(*(each.channels for each in earlier)))),
        since=min([each.source.since if each.source else each.at for each in sources]),
        until=max([each.source.until if each.source else each.at for each in sources]),
        count=sum(each.source.count if each.source else 1 for each in sources),
        ids=summary.ids,
        strategy=summary.strategy,
    )


def _heading(source: SummarySource) -> str:
    """What a summary says about itself in a prompt."""
    span = f"{source.since:%Y-%m-%d %H:%M} to {source.until:%Y-%m-%d %H:%M}"
    channels = f", channel {', '.join(source.channels)}" if source.channels else ""
    return f"Summary of {source.count} earlier texts ({span}{channels}):"


def _of_one_job(entries: Sequence[SegmentEntry], rule: SegmentRule) -> tuple[SegmentEntry, ...]:
    """Those that one summary may replace: of a segment of tasks, those of its first job.

    None if all are summaries, or if they are too short for one.
    """
    if rule.retention == "task":
        entries = [entry for entry in entries if entry.job_id == entries[0].job_id]
    has_original = any(entry.source is None for entry in entries)
    is_long = summary_tokens(entries, rule) >= _LEAST_SUMMARY
    return tuple(entries) if has_original and is_long else ()


def _limit(rule: SegmentRule) -> SegmentLimit:
    return SegmentLimit(
        segment_id=rule.segment_id,
        priority=rule.priority,
        max_tokens=rule.max_tokens,
        retention=rule.retention,
    )
