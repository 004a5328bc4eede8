"""Tokens that confirm a forgetting: they stand for what was shown, and for nothing else."""

from collections.abc import Iterable

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.errors import InvalidInputError, StaleRequestError
from mnestic.memory.forgetting.requests import ForgottenItem
from mnestic.memory.forgetting.topic_names import parse_topic

_TOKEN_CHARS = 32


def token_of(topic: str, items: Iterable[ForgottenItem]) -> str:
    """What stands for a topic and all that goes with it; of anything else it is another.

    Raises:
        InvalidInputError: the topic has no words that mean something, or is too long.
    """
    shown = sorted([item.kind, item.id, item.text] for item in items)
    names = sorted(name.terms for name in parse_topic(topic))
    return sha256_hex(canonical_json([names, shown]))[:_TOKEN_CHARS]


def check_token(token: str | None, shown: str) -> None:
    """Refuses to forget what nobody was shown.

    Args:
        token: The one that a preview gave, if there is one.
        shown: The one of what would go now.

    Raises:
        InvalidInputError: there is none.
        StaleRequestError: it is of something else.
    """
    if token is None:
        why = "is needed: look at what would go first, and give the token of that preview"
        raise InvalidInputError(what="confirm", why=why)
    if token != shown:
        raise StaleRequestError(what="preview", why="what would go has changed; look again")
