"""Whatever a context is made of, its whole block is within the budget."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.world.summaries import CategorySummary
from mnestic.memory.retrieval.contexts import (
    CONVERSATION,
    HISTORY,
    PATTERNS,
    QUERY,
    Context,
    Frame,
    context_of,
    fact_tier,
    message_tier,
    search_tier,
    summary_tier,
)
from mnestic.memory.retrieval.queries import RetrievedEntry

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)


def entry(text: str, number: int = 0) -> Entry:
    return Entry(id=f"e{number}", entry_type="knowledge", content=text, at=NOW)


def fact(text: str, number: int = 0) -> Fact:
    return Fact(
        id=f"f{number}",
        subject="Mara",
        predicate="likes",
        object=text,
        category="preferences",
        cardinality="multi",
        status="active",
        confidence=0.9,
        valid_from=NOW,
        claims=("c",),
    )


@given(
    frame=st.sampled_from([QUERY, CONVERSATION, PATTERNS, HISTORY]),
    summaries=st.lists(TEXTS, max_size=3),
    facts=st.lists(TEXTS, max_size=6),
    found=st.lists(st.tuples(TEXTS, st.floats(0, 1)), max_size=6),
    max_tokens=st.integers(0, 600),
)
def test_a_context_is_within_its_budget_whatever_it_is_made_of(
    frame: Frame,
    summaries: list[str],
    facts: list[str],
    found: list[tuple[str, float]],
    max_tokens: int,
) -> None:
    hits = [
        RetrievedEntry(entry=entry(text, number), score=score, signals={})
        for number, (text, score) in enumerate(found)
    ]
    tiers = [
        summary_tier(CategorySummary(category="profile", text=text) for text in summaries),
        fact_tier(fact(text, number) for number, text in enumerate(facts)),
        search_tier(hits, min_score=0.5, now=NOW),
    ]

    context = context_of(frame, tiers, max_tokens=max_tokens, count_tokens=count_tokens)

    assert context.tokens == (count_tokens(context.text) if context.text else 0) <= max_tokens
    assert len(context.kept) + len(context.dropped) == len(summaries) + len(facts) + len(found)
    assert len(context.text.splitlines()) == (len(context.kept) + 3 if context.kept else 0)


def test_facts_that_the_question_asks_for_are_told_first() -> None:
    lives = fact("Porto", 1).model_copy(
        update={"predicate": "lives_in", "valid_from": NOW - timedelta(days=300)}
    )

    tier = fact_tier([fact("tea"), lives], topics={"lives_in"})

    assert [piece.name for piece in tier.pieces] == ["f1", "f0"]


def test_a_conversation_is_told_the_oldest_first_with_repetitions_and_keeps_the_newest() -> None:
    def packed(frame: Frame, *contents: str, max_tokens: int = 2000) -> Context:
        tier = message_tier(map(entry, contents, range(1, 9)), now=NOW)
        return context_of(frame, [tier], max_tokens=max_tokens, count_tokens=count_tokens)

    def first(frame: Frame) -> str:
        return packed(frame, "new", "old").text.splitlines()[2]

    assert '"new"' in first(QUERY)
    assert '"old"' in first(CONVERSATION)
    repeated, long = packed(CONVERSATION, "Yes.", "Yes."), ["word " * 20] * 5
    assert [part.name for part in repeated.kept] == ["e1", "e2"]
    cut = packed(CONVERSATION, *long, max_tokens=150)
    assert [part.name for part in cut.kept] == ["e1", "e2"]
