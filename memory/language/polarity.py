"""Polarity: questions for what somebody does not like, do or bear, in the words for that.

It stands alone because *not* carries no meaning by itself for words, vectors and predicates: *What does Gus not like?* would find
what he likes. Verbs and their opposites are data, in `polarity.yaml`.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("polarity.yaml")
_ASKS_FOR_ONE = re.compile(r"\W*(?:what|which|who|whom)\b", re.IGNORECASE)  # not for yes or no


class _Polarity(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    opposites: dict[str, str]


class _Patterns(NamedTuple):
    negated: re.Pattern[str]
    opposites: dict[str, str]


def without_negation(text: str) -> str:
    """A question for what somebody does not do, as one for the opposite; other texts as they are."""
    if not _ASKS_FOR_ONE.match(text):
        return text
    patterns = _patterns()

    def opposite(match: re.Match[str]) -> str:
        if not match["first"] and not match["second"]:
            return match[0]
        return f"{match['aux']} {match['who']} {patterns.opposites[match['verb'].casefold()]}"

    return patterns.negated.sub(opposite, text, count=1)


@cache
def _patterns() -> _Patterns:
    lists = read_word_lists(_FILE, _Polarity).values()
    opposites = {verb: other for one in lists for verb, other in one.opposites.items()}
    verbs = "|".join(map(re.escape, opposites))
    return _Patterns(
        negated=re.compile(
            rf"\b(?P<aux>do|does|did|would|can|could)(?P<first>n['\u2019]t|['\u2019]t|not| not)?\s+"
            rf"(?P<who>[^?!.;:]{{1,60}}?)\s+(?P<second>(?:not|never)\s+)?(?P<verb>{verbs})\b",
            re.IGNORECASE,
        ),
        opposites=opposites,
    )
