"""Genres: messages that are no report of the speaker's life, such as a joke, a story, or orders to a model.

They stand apart because one sign speaks for the whole message: what else it says is meant in that vein.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.patterns import Pattern
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("genres.yaml")


class _Genres(BaseModel):
    """`genres.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    instructions: Pattern
    jokes: Pattern
    fiction: Pattern
    tasks: Pattern


def is_report(masked: str) -> bool:
    """Whether nothing says that a message is a joke, a story, an order, or a text to work on."""
    genres: _Genres = read_word_lists(_FILE, _Genres)["en"]
    signs = (genres.instructions, genres.jokes, genres.fiction, genres.tasks)
    return not any(sign.search(masked) for sign in signs)
