"""A budget of tokens is a hard cap, and the ledger tells of whatever is left out."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.packing import PromptItem, Tier, key_of, pack
from mnestic.memory.quotations import quoted

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
SCORES = st.none() | st.floats(0, 1)
PIECES = st.builds(
    lambda name, text, score: piece(name, text, score=score),
    st.integers(0, 99).map(str),
    TEXTS,
    SCORES,
)
TIERS = st.lists(
    st.builds(
        Tier,
        name=st.sampled_from(["facts", "search"]),
        pieces=st.lists(PIECES, max_size=8).map(tuple),
        share=st.floats(0.1, 1),
    ),
    max_size=3,
)


def piece(name: str, text: str, *, score: float | None = None) -> PromptItem:
    line = quoted({"said": text})
    return PromptItem(kind="memory", name=name, line=line, words=text, score=score, min_score=0.5)


def render(lines: Sequence[str]) -> str:
    return "\n".join(("What is known.", "<known>", *lines, "</known>"))


def words(text: str) -> int:
    return len(text.split())


@given(tiers=TIERS, max_tokens=st.integers(0, 400))
def test_the_whole_block_is_within_the_budget_and_all_the_rest_in_the_ledger(
    tiers: list[Tier], max_tokens: int
) -> None:
    told = pack(tiers, max_tokens=max_tokens, count_tokens=count_tokens, render=render)

    assert told.tokens == (count_tokens(told.text) if told.text else 0) <= max_tokens
    assert len(told.included) + len(told.dropped) == sum(len(tier.pieces) for tier in tiers)
    assert all(one.why for one in told.dropped)
    assert told.text == (render([one.line for one in told.included]) if told.included else "")


@pytest.mark.parametrize("max_tokens", [0, 1])
def test_a_budget_in_which_nothing_fits_gives_an_empty_block(max_tokens: int) -> None:
    tier = Tier(name="search", pieces=(piece("e1", "Mara lives in Ghent."),))

    told = pack([tier], max_tokens=max_tokens, count_tokens=words, render=render)

    assert (told.text, told.tokens, told.included) == ("", 0, ())
    assert [(one.tier, one.kind, one.name) for one in told.dropped] == [("search", "memory", "e1")]
    assert told.dropped[0].why.startswith("over budget")


def test_the_ledger_tells_why_each_was_left_out() -> None:
    tier = Tier(
        name="search",
        pieces=(
            piece("e1", "Mara lives in Ghent.", score=0.9),
            piece("e2", "mara LIVES in “Ghent”", score=0.8),
            piece("e3", "word " * 50, score=0.7),
            piece("e4", "Mara rides a bicycle.", score=0.6),
            piece("e5", "It rains.", score=0.4),
        ),
    )

    told = pack([tier], max_tokens=30, count_tokens=words, render=render)

    assert [one.name for one in told.included] == ["e1", "e4"]
    assert [(one.name, one.why) for one in told.dropped] == [
        ("e2", "duplicate of e1"),
        ("e3", "over budget: it has 52 tokens"),
        ("e5", "below threshold: 0.40, and it takes 0.5"),
    ]


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("I like C++.", "I like C#."),
        ("It was -40 degrees.", "It was 40 degrees."),
        ("It costs $5.", "It costs €5."),
        ("Alert where x < 5.", "Alert where x > 5."),
        ("Skip where x != 5.", "Skip where x = 5."),
        ("Take 1/2 tablet.", "Take 1.2 tablet."),
        ("Take 1.5 tablets.", "Take 1 5 tablets."),
        ("Meet at 10:30.", "Meet at 10.30."),
        ("Set it to 30°.", "Set it to 30%."),
        ("Deploy? 👍", "Deploy? 👎"),
        ("दिन", "दीन"),
    ],
)
def test_what_differs_in_a_sign_is_no_duplicate(said: str, other: str) -> None:
    assert key_of(said) != key_of(other)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("It was -40 degrees.", "it was −40 degrees!"),  # noqa: RUF001
        ("I like “C++”", "I like C++."),
        ("5% of 1/2 cup", "(5 % of ½ cup)"),
        ("It weighs 1,5 kg.", "It weighs 1.5 kg"),
        ("- on Monday - 40 people", "On Monday: 40 people"),
        ("A well-known, **bold** café…", "a well known bold cafe\u0301"),
    ],
)
def test_what_differs_in_punctuation_is_a_duplicate(said: str, again: str) -> None:
    assert key_of(said) == key_of(again)


def test_what_says_the_opposite_is_no_duplicate() -> None:
    tier = Tier(
        name="search", pieces=(piece("e1", "I like tea."), piece("e2", "I don't like tea."))
    )

    assert len(pack([tier], max_tokens=99, count_tokens=words, render=render).included) == 2


def test_an_earlier_tier_leaves_room_for_a_later_one() -> None:
    facts = Tier(
        name="facts", pieces=tuple(piece(f"f{n}", f"fact {n} a b") for n in range(9)), share=0.5
    )
    search = Tier(name="search", pieces=(piece("e1", "one two three four five six"),))

    told = pack([facts, search], max_tokens=35, count_tokens=words, render=render)

    assert [one.name for one in told.included] == ["f0", "f1", "f2", "f3", "e1"]


def test_what_is_around_the_lines_is_no_part_of_a_share() -> None:
    facts = Tier(name="facts", pieces=(piece("f0", "fact 0 a b"),), share=0.5)
    search = Tier(name="search", pieces=(piece("e1", "one two three four five six"),))

    told = pack([facts, search], max_tokens=15, count_tokens=words, render=render)

    assert [one.name for one in told.included] == ["f0"]


def test_what_later_tiers_leave_goes_to_the_earlier_ones() -> None:
    facts = Tier(
        name="facts", pieces=tuple(piece(f"f{n}", f"fact {n} a b") for n in range(4)), share=0.5
    )

    told = pack([facts], max_tokens=30, count_tokens=words, render=render)

    assert [one.name for one in told.included] == ["f0", "f1", "f2", "f3"]
