"""Follow-ups: the query of a short message, together with the message before it.

With too little of the conversation, "and her sister?" finds nothing; with too much, every message finds what was
discussed before.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta

from mnestic.memory.language.acronyms import content_terms
from mnestic.memory.language.commands import is_command
from mnestic.memory.language.function_words import ENGLISH, question_words
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.language.sentences import cut_text
from mnestic.memory.language.small_talk import has_letter_or_digit, is_small_talk, without_emoticons
from mnestic.memory.language.terms import words_of
from mnestic.memory.retrieval.auto_retrieval import ChannelMessage

_FEW_TERMS = 2
_LONGEST_BEFORE = 300  # characters of the message before it
_OLDEST_BEFORE = timedelta(days=1)
_ASKING = re.compile("[?\uff1f\u061f\u037e\u055e]")


@dataclass(frozen=True, slots=True)
class FollowUpQuery:
    """What to look for; with `follows`, the message before that it is taken with."""

    text: str
    follows: ChannelMessage | None = None


def follow_up_query(
    message: str, *, before: Sequence[ChannelMessage], now: datetime, max_chars: int
) -> FollowUpQuery | None:
    """What to look for when a message comes: itself, or if it says little and asks on, the last one and it.

    A message says little that has fewer than two words which carry meaning: "why?", "and her sister?".
    One that says more stands for itself, since what was spoken of before would outweigh what it asks.

    Args:
        message: The message.
        before: Messages before it, the last one last; one that says nothing is passed over.
        now: When it came; what is more than a day older is no longer spoken of.
        max_chars: What is longer is cut at the end of a sentence.

    Returns:
        None for a message that says nothing to look for: emoji, a greeting, thanks, a yes, a command that names nothing.
    """
    query = cut_text(message, max_chars)
    names = {word for one in before for word in words_of(one.speaker or "")}
    if not _says_something(query, names):
        return None
    room = min(_LONGEST_BEFORE, max_chars - len(query) - 1)
    if room <= 0 or len(_terms(query)) >= _FEW_TERMS:
        return FollowUpQuery(query)
    last = next((one for one in reversed(before) if _may_precede(one, message, names)), None)
    if last is None or now - last.at > _OLDEST_BEFORE:
        return FollowUpQuery(query)
    beginning = cut_text(last.content, room)
    return FollowUpQuery(f"{beginning}\n{query}".strip(), follows=last)


def _may_precede(one: ChannelMessage, message: str, names: AbstractSet[str]) -> bool:
    return " ".join(one.content.split()) != " ".join(message.split()) and _says_something(
        cut_text(one.content, _LONGEST_BEFORE), names
    )


def _says_something(text: str, names: AbstractSet[str]) -> bool:
    """Whether a text has a word that carries meaning, or asks on, and is no courtesy and no mere command."""
    if is_small_talk(text, names=names) or is_command(text):
        return False
    return bool(_terms(text)) or _asks_on(text)


def _asks_on(text: str) -> bool:
    words = [word for word in words_of(text) if has_letter_or_digit(word)]
    if not words:
        return False
    asking = question_words()[ENGLISH]
    asks = any(word in asking or word.removesuffix("s") in asking for word in words)
    return asks or _ASKING.search(text) is not None or words[0] in query_lists().continuing


def _terms(text: str) -> set[str]:
    return {term for term in content_terms(without_emoticons(text)) if has_letter_or_digit(term)}
