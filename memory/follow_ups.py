"""Follow-ups: what a short message asks, given the one that it follows.

It stands alone because it is pure, and how much of a conversation belongs into a question is a rule of its
own: too little, and "and her sister?" finds nothing; too much, and everything finds what was spoken of.
"""

from collections.abc import Sequence

from mnestic.memory.sentences import cut_text
from mnestic.memory.terms import terms_of

_FEW_TERMS = 2
_LONGEST_BEFORE = 300  # characters of the message before it


def question_of(message: str, *, before: Sequence[str], max_chars: int) -> str:
    """What to look for when a message comes: itself, and before it, if it says little, the last message.

    A message says little that has fewer than two words which carry meaning: "why?", "and her sister?".
    One that says more stands for itself, since what was spoken of before would outweigh what it asks.

    Args:
        message: The message.
        before: Messages before it, the last one last.
        max_chars: What is longer is cut at the end of a sentence.
    """
    asked = cut_text(message, max_chars)
    last = next((text for text in reversed(before) if text.strip() and text != message), None)
    if last is None or len(set(terms_of(asked))) >= _FEW_TERMS:
        return asked
    return f"{cut_text(last, min(_LONGEST_BEFORE, max_chars - len(asked) - 1))}\n{asked}".strip()
