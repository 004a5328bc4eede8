"""A budget of tokens is a hard cap, and the ledger tells of whatever is left out."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.packing import PromptItem, Tier, key_of, pack
from mnestic.memory.quotations import quoted
from tests.memory.tables import tables, wrong

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


def test_a_budget_in_which_nothing_fits_gives_an_empty_block() -> None:
    tier = Tier(name="search", pieces=(piece("e1", "Mara lives in Ghent."),))

    for max_tokens in (0, 1):
        told = pack([tier], max_tokens=max_tokens, count_tokens=words, render=render)

        assert (told.text, told.tokens, told.included) == ("", 0, ())
        (dropped,) = told.dropped
        assert (dropped.tier, dropped.kind, dropped.name) == ("search", "memory", "e1")
        assert dropped.why.startswith("over budget")


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


def test_what_differs_in_a_sign_or_a_word_is_no_duplicate_and_in_punctuation_it_is() -> None:
    assert wrong(tables(__file__)["same"], lambda one, other: key_of(one) == key_of(other)) == []


def test_tiers_share_what_is_left_of_the_budget_beside_what_is_around_the_lines() -> None:
    def taken(facts: int, search: tuple[PromptItem, ...], *, max_tokens: int) -> list[str]:
        pieces = tuple(piece(f"f{number}", f"fact {number} a b") for number in range(facts))
        tiers = [
            Tier(name="facts", pieces=pieces, share=0.5),
            Tier(name="search", pieces=search),
        ]
        packed = pack(tiers, max_tokens=max_tokens, count_tokens=words, render=render)
        return [one.name for one in packed.included]

    search = (piece("e1", "one two three four five six"),)

    assert taken(9, search, max_tokens=35) == ["f0", "f1", "f2", "f3", "e1"]
    assert taken(1, search, max_tokens=15) == ["f0"], "an earlier tier has its share of the lines"
    assert taken(4, (), max_tokens=30) == ["f0", "f1", "f2", "f3"], "what later tiers leave"
