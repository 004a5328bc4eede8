"""Segments: whatever is added, used, summarized or ended, budgets hold, and what goes, goes in the policy's order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.contract.document import Segment, ShortTerm, Summarization
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.short_term.segment_steps import (
    CUT_MARK,
    SegmentEdit,
    SegmentSummary,
    cut_to_tokens,
)
from mnestic.memory.jobs.short_term.segments import (
    SegmentEntry,
    Segments,
    default_segment,
    fitting,
    in_prompt_order,
    tokens_of,
)

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)


def words(text: str) -> int:
    """A token counter for which a token is a word."""
    return len(text.split())


def rules(*segments: Segment, **fields: object) -> ShortTerm:
    return ShortTerm.model_validate(
        {"enabled": True, "max_tokens": 1000, "eviction_policy": "fifo", **fields}
        | {"segments": segments}
    )


def segment(segment_id: str, max_tokens: int = 10, **fields: object) -> Segment:
    return Segment.model_validate(
        {"segment_id": segment_id, "max_tokens": max_tokens, "priority": 1, **fields}
    )


def entry(
    entry_id: str, tokens: int = 4, *, at: str = "conversation", job_id: str | None = None
) -> SegmentEntry:
    text = " ".join([entry_id, *["word"] * (tokens - 1)])
    return SegmentEntry(id=entry_id, segment_id=at, content=text, at=AT, job_id=job_id)


def edit(short_term: ShortTerm, before: Segments | None = None) -> SegmentEdit:
    return SegmentEdit(before, short_term, count_tokens=words, at=AT, job_id="j")


def ids(steps: SegmentEdit) -> list[str]:
    return [each.id for each in steps.entries]


def filled(short_term: ShortTerm, *entries: SegmentEntry) -> SegmentEdit:
    steps = edit(short_term)
    steps.write(entries)
    return steps


CONVERSATION = segment("conversation")


def test_fifo_evicts_what_arrived_first() -> None:
    steps = filled(rules(CONVERSATION), entry("a"), entry("b"))
    steps.use(["a"])

    steps.add(entry("c"))

    assert ids(steps) == ["b", "c"]


def test_lru_evicts_what_was_used_last_in_a_prompt_longest_ago() -> None:
    steps = filled(rules(CONVERSATION, eviction_policy="lru"), entry("a"), entry("b"))
    steps.use(["a"])

    steps.add(entry("c"))

    assert ids(steps) == ["a", "c"]


def test_lru_breaks_ties_by_age() -> None:
    steps = filled(rules(CONVERSATION, eviction_policy="lru"), entry("a"), entry("b"))
    steps.use(["b", "a"])

    steps.add(entry("c"))

    assert ids(steps) == ["b", "c"]


def test_priority_evicts_the_lowest_first_and_ties_by_age() -> None:
    low, high = segment("low", 20, priority=2), segment("high", 20, priority=1)
    short_term = rules(low, high, eviction_policy="priority", max_tokens=16)
    steps = filled(short_term, entry("a", at="high"), entry("b", at="low"), entry("c", at="low"))

    steps.add(entry("d", 8, at="high"))
    after_one = ids(steps)
    steps.add(entry("e", 8, at="high"))

    assert after_one == ["a", "c", "d"]
    assert ids(steps) == ["d", "e"]


def test_a_low_priority_does_not_displace_a_high_one() -> None:
    low, high = segment("low", priority=2), segment("high", priority=1)
    short_term = rules(low, high, eviction_policy="priority", max_tokens=10)
    steps = filled(short_term, entry("a", 10, at="high"))

    added = steps.add(entry("b", at="low"))

    assert added is None
    assert ids(steps) == ["a"]
    assert steps.changes[-1].kind == "refused"


def test_what_alone_is_too_large_is_cut_at_a_sentence_with_a_mark() -> None:
    steps = edit(rules(segment("conversation", 7)))
    large = entry("a").model_copy(update={"content": "One two three. Four five six. Seven eight."})

    added = steps.add(large)

    assert added is not None
    assert added.content == f"One two three. Four five six.{CUT_MARK}"
    assert added.tokens == words(added.content)
    (change,) = steps.changes
    assert (change.kind, change.tokens_before, change.tokens_after) == ("cut", 8, 7)


def test_persistent_entries_never_go_for_others() -> None:
    steps = filled(rules(segment("conversation", retention="persistent")), entry("a", 6))

    assert steps.add(entry("b", 6)) is not None
    assert ids(steps) == ["a", "b"]
    assert steps.entries[1].content.endswith(CUT_MARK)
    assert steps.add(entry("c", 6)) is None


def test_an_unknown_segment_is_named_with_those_of_the_contract() -> None:
    steps = edit(rules(CONVERSATION))

    with pytest.raises(InvalidInputError, match="conversation"):
        steps.segment("other")


def test_what_names_no_segment_goes_to_the_conversation_or_the_lowest_priority() -> None:
    other = rules(segment("a", priority=3), segment("b", priority=1), segment("c", priority=3))

    assert default_segment(rules(segment("a", priority=9), CONVERSATION)) == "conversation"
    assert default_segment(other) == "c"


def test_tasks_end_with_their_job_sessions_with_theirs_and_persistent_stays() -> None:
    short_term = rules(
        segment("task", 20, retention="task"),
        segment("conversation", 20),
        segment("reference", 20, retention="persistent"),
    )
    steps = filled(
        short_term,
        entry("t1", at="task", job_id="j1"),
        entry("t2", at="task", job_id="j2"),
        entry("c"),
        entry("r", at="reference", job_id="j1"),
    )

    steps.end_job("j1")
    after_job = ids(steps)
    steps.end_session()

    assert after_job == ["t2", "c", "r"]
    assert ids(steps) == ["r"]
    assert [change.kind for change in steps.changes] == ["ended", "ended", "ended"]


def summarizing(**fields: object) -> ShortTerm:
    summarization = Summarization(enabled=True, trigger_threshold=80, strategy="extractive")
    return rules(segment("conversation", 400, **fields), summarization=summarization)


def summary(*sources: SegmentEntry, text: str = "In short.") -> SegmentSummary:
    return SegmentSummary(
        id=f"s-{sources[0].id}",
        ids=tuple(source.id for source in sources),
        text=text,
        strategy="extractive",
        reason="80 percent",
    )


def test_nothing_is_due_below_the_threshold() -> None:
    steps = filled(summarizing(), entry("a", 160))

    assert steps.due([entry("b", 156)]) == ()
    assert [each.id for each in steps.due([entry("b", 160)])] == ["a"]


def test_a_summary_says_what_it_stands_for() -> None:
    first = entry("a", 120).model_copy(update={"channel": "mail"})
    second = entry("b", 120).model_copy(update={"channel": "chat", "at": AT + timedelta(days=1)})
    steps = filled(summarizing(), first, second)
    due = steps.due([entry("c", 120)])

    steps.write([entry("c", 120)], summary(*due))

    made = steps.entries[0]
    assert ids(steps) == ["s-a", "c"]
    assert made.source is not None
    assert made.source.channels == ("chat", "mail")
    assert (made.source.since, made.source.until) == (AT, AT + timedelta(days=1))
    assert (made.source.count, made.source.ids) == (2, ("a", "b"))
    assert "Summary of 2 earlier texts" in made.content
    assert "channel chat, mail" in made.content
    (change,) = steps.changes
    assert (change.kind, change.ids, change.tokens_before) == ("summarized", ("a", "b"), 240)


def test_a_summary_of_summaries_counts_the_originals() -> None:
    steps = filled(summarizing(), entry("a", 120), entry("b", 120))
    steps.write([entry("c", 120)], summary(*steps.due([entry("c", 120)])))

    steps.write([entry("d", 200)], summary(*steps.due([entry("d", 200)])))

    made = steps.entries[0].source
    assert made is not None
    assert (made.count, made.ids) == (3, ("s-a", "c"))


def test_a_summary_of_what_is_gone_is_left_out() -> None:
    steps = filled(summarizing(), entry("a", 120))

    steps.write([entry("b", 120)], summary(entry("a"), entry("gone")))

    assert ids(steps) == ["a", "b"]


def test_of_many_drafts_the_oldest_are_summarized_and_never_evicted() -> None:
    steps = edit(summarizing())
    drafts = [entry(f"d{number}", 120) for number in range(8)]
    due = steps.due(drafts)

    steps.write(drafts, summary(*due))

    assert ids(steps) == ["s-d0", "d7"]
    assert [change.kind for change in steps.changes] == ["summarized"]


def test_the_same_entry_again_changes_nothing() -> None:
    steps = filled(rules(CONVERSATION), entry("a"))

    steps.add(entry("a"))

    assert ids(steps) == ["a"]


def test_a_new_contract_evicts_what_it_has_no_place_for() -> None:
    before = filled(
        rules(segment("gone"), CONVERSATION), entry("a", at="gone"), entry("b"), entry("c")
    ).result()

    steps = edit(rules(segment("conversation", 5)), before)

    assert ids(steps) == ["c"]
    assert [change.ids for change in steps.changes] == [("a",), ("b",)]


def test_a_text_that_lost_a_part_is_counted_again() -> None:
    before = filled(rules(CONVERSATION), entry("a", 8)).result()
    cut = before.entries[0].model_copy(update={"content": "a word", "tokens": None})

    steps = edit(rules(CONVERSATION), before.model_copy(update={"entries": (cut,)}))

    assert steps.entries[0].tokens == 2


def test_the_ledger_counts_the_rows_that_it_lost() -> None:
    segments: Segments | None = None
    for number in range(300):
        steps = edit(rules(CONVERSATION), segments)
        steps.add(entry(f"e{number}", 10))
        segments = steps.result()

    assert segments is not None
    assert len(segments.changes) == 200
    assert segments.earlier_changes == 99


def test_a_prompt_has_segments_by_priority_and_texts_by_arrival() -> None:
    short_term = rules(segment("b", 20, priority=2), segment("a", 20, priority=1))
    steps = filled(
        short_term,
        entry("b1", at="b"),
        entry("a1", at="a"),
        entry("b2", at="b"),
        entry("a2", at="a"),
    )

    assert [e.id for e in in_prompt_order(steps.entries, short_term)] == ["a1", "a2", "b1", "b2"]
    some = fitting(steps.entries, short_term, room=15, around=1)
    assert [e.id for e in some] == ["a1", "a2", "b2"]


@given(st.text(max_size=400), st.integers(0, 60))
def test_a_cut_is_never_larger_than_its_limit(text: str, limit: int) -> None:
    text = text.encode("utf-8", "ignore").decode()

    assert count_tokens(cut_to_tokens(text, limit, count_tokens)) <= limit


# No sequence of operations breaks a budget, loses a persistent entry or evicts a higher priority before a lower one.


@dataclass
class Checked:
    """Segments on which steps are taken, each of which is checked."""

    short_term: ShortTerm
    segments: Segments | None = None
    persistent: set[str] = field(default_factory=set)
    number: int = 0
    priorities_compared: int = 0

    def take(self, kind: str, which: int, size: int) -> None:
        self.number += 1
        steps = SegmentEdit(
            self.segments,
            self.short_term,
            count_tokens=words,
            at=AT + timedelta(seconds=self.number),
            job_id=f"j{which % 3}",
        )
        if kind == "add":
            self._add(steps, which, size)
        elif kind == "use":
            steps.use([each.id for each in steps.entries[which % 5 :: 3]])
        elif kind == "end_job":
            steps.end_job(f"j{which % 3}")
        elif kind == "end_session":
            steps.end_session()
        self.segments = steps.result()
        self._check_budgets()
        self._check_persistent()
        self._check_order(steps)

    def _add(self, steps: SegmentEdit, which: int, size: int) -> None:
        name = self.short_term.segments[which % len(self.short_term.segments)].segment_id
        drafts = [entry(f"e{self.number}", size, at=name, job_id=f"j{which % 3}")]
        due = steps.due(drafts)
        made = summary(*due, text=" ".join(["short"] * (size % 40))) if due else None
        if made is not None:
            made = SegmentSummary(**{**vars(made), "id": f"s{self.number}"})
        steps.write(drafts, made)
        present = {each.id for each in steps.entries}
        rule = next(s for s in self.short_term.segments if s.segment_id == name)
        if rule.retention == "persistent" and made is not None and made.id in present:
            self.persistent = (self.persistent - set(made.ids)) | {made.id}
        if rule.retention == "persistent" and drafts[0].id in present:
            self.persistent.add(drafts[0].id)

    def _check_budgets(self) -> None:
        assert self.segments is not None
        assert all(each.tokens == words(each.content) for each in self.segments.entries)
        assert tokens_of(self.segments.entries) <= self.short_term.max_tokens
        for rule in self.short_term.segments:
            assert tokens_of(self.segments.of(rule.segment_id)) <= rule.max_tokens

    def _check_persistent(self) -> None:
        """Each is there, or in a summary that is."""
        assert self.segments is not None
        assert self.persistent <= {each.id for each in self.segments.entries}

    def _check_order(self, steps: SegmentEdit) -> None:
        """What goes because all segments are full has no higher priority than anything that is left."""
        if self.short_term.eviction_policy != "priority":
            return
        priority = {rule.segment_id: rule.priority for rule in self.short_term.segments}
        retention = {rule.segment_id: rule.retention for rule in self.short_term.segments}
        left = [
            priority[each.segment_id]
            for each in steps.entries
            if retention[each.segment_id] != "persistent"
        ]
        for change in steps.changes:
            if change.kind == "evicted" and "all segments" in change.why:
                assert max(left, default=0) <= priority[change.segment_id]
                self.priorities_compared += 1


KINDS = ["add", "add", "add", "add", "use", "end_job", "end_session"]
RETENTIONS = ["session", "task", "persistent"]
POLICIES = ["lru", "fifo", "priority"]


def contract(policy: str, budgets: Sequence[tuple[int, int, str]], total: int) -> ShortTerm:
    segments = [
        segment(f"s{place}", size, priority=priority, retention=retention)
        for place, (size, priority, retention) in enumerate(budgets)
    ]
    summarization = Summarization(enabled=total % 2 == 0, trigger_threshold=80)
    return rules(*segments, max_tokens=total, eviction_policy=policy, summarization=summarization)


@given(
    st.sampled_from(POLICIES),
    st.lists(
        st.tuples(st.integers(1, 300), st.integers(1, 3), st.sampled_from(RETENTIONS)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 600),
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 11), st.integers(1, 150)), max_size=60
    ),
)
def test_no_sequence_breaks_a_budget_loses_a_persistent_entry_or_the_order_of_priorities(
    policy: str,
    budgets: list[tuple[int, int, str]],
    total: int,
    steps: list[tuple[str, int, int]],
) -> None:
    checked = Checked(contract(policy, budgets, total))

    for kind, which, size in steps:
        checked.take(kind, which, size)


@pytest.mark.acceptance
@pytest.mark.parametrize(("policy", "count"), [("priority", 10_000), ("lru", 1000), ("fifo", 1000)])
def test_ten_thousand_steps_keep_budgets_persistent_entries_and_the_order_of_priorities(
    policy: str, count: int
) -> None:
    budgets = [(400, 1, "task"), (300, 2, "session"), (300, 3, "session"), (200, 2, "persistent")]
    checked = Checked(contract(policy, budgets, 800))
    chosen = random.Random(7)

    for _ in range(count):
        kind = chosen.choices(["add", "use", "end_job", "end_session"], [90, 8, 1.5, 0.5])[0]
        checked.take(kind, chosen.randrange(12), chosen.choice([3, 8, 20, 60, 500]))

    assert checked.segments is not None
    kinds = {change.kind for change in checked.segments.changes}
    assert {"evicted", "summarized", "cut"} <= kinds
    assert checked.persistent
    assert (checked.priorities_compared > 100) == (policy == "priority")
