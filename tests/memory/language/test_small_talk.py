"""What people say to be polite, and what only begins so."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from functools import partial

from mnestic.memory.language.small_talk import is_small_talk
from tests.memory.steps import steps_of
from tests.memory.tables import tables

CASES = tables(__file__)
SPEAKERS = {"tom", "mara", "holt"}


def polite(texts: Collection[str], *, names: AbstractSet[str] = frozenset()) -> list[str]:
    return [text for text in texts if is_small_talk(text, names=names)]


def test_small_talk_is_told_from_what_only_begins_politely() -> None:
    assert polite(CASES["polite"]) == CASES["polite"]
    assert polite(CASES["not_polite"]) == []


def test_who_speaks_is_greeted_however_their_name_is_written() -> None:
    assert polite(CASES["speaker"], names=SPEAKERS) == CASES["speaker"]
    assert polite([f"{text} standup" for text in CASES["speaker"]], names=SPEAKERS) == []
    assert polite(CASES["nobody_who_speaks"], names={"mara"}) == []


def test_what_is_almost_small_talk_is_none() -> None:
    for text in ("hi " * 15, "good good morning " * 5, "see you later then " * 4):
        assert polite([f"{text} quick brown", text * 100_000]) == []
        assert steps_of(partial(is_small_talk, text * 100_000))["calls"] < 100
