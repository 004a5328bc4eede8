"""What a question means: its vector, worked out while Postgres is asked about its words, where that can be.

It stands apart from reading the question, as it is told by an embedder, which may not answer.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from mnestic.activities.asked_questions import Asking, Meanings, ReadQuestion
from mnestic.activities.reranking import SKIPPED
from mnestic.memory.ports import Embedder
from mnestic.memory.questions import is_english, possible_names, without_names
from mnestic.memory.retrieval_ports import SearchStore

Meant = tuple[Meanings | None, dict[str, str]]  # what a question means, or why that is not known


async def foresee_meaning(
    embedder: Embedder, store: SearchStore, asking: Asking
) -> Mapping[str, bytes]:
    """What a question means, and what is nearest to that, as far as that can be told before its names are known."""
    if not (text := _foreseen_text(store, asking)):
        return {}
    try:
        (vector,) = (await embedder.embed([text])).vectors
    except SKIPPED:
        return {}  # it is asked again, and told then
    store.foresee_near(embedder.name, vector)
    return {text: vector}


async def embed_question(
    embedder: Embedder, read: ReadQuestion, foreseen: Mapping[str, bytes] = MappingProxyType({})
) -> Meant:
    """What the question means, None where that is not asked, or the embedder does not answer; and why it does not."""
    if read.query.mode == "text" or not read.asked.weights:
        return None, {}
    if not read.fresh.entries and read.foreign is None and read.text in foreseen:
        return Meanings(embedder.name, foreseen[read.text], {}), {}
    try:
        told = await embedder.embed([read.text, *(one.content for one in read.fresh.entries)])
    except SKIPPED as error:
        return None, {"semantic": str(error)}
    vector, *others = (np.frombuffer(each, dtype="<f4") for each in told.vectors)
    vector = vector if read.foreign is None else read.foreign
    fresh = {
        one.number: float(vector @ other)
        for one, other in zip(read.fresh.entries, others, strict=True)
    }
    return Meanings(embedder.name, vector.tobytes(), fresh), {}


def _foreseen_text(store: SearchStore, asking: Asking) -> str | None:
    """The text of which the meaning is most likely asked, by the names that the process has at hand."""
    words = asking.question.words
    names = None if asking.query.mode == "text" else store.recall_names(possible_names(words))
    if names is None:
        return None
    left = without_names(words, names).words
    return " ".join(left) if is_english(left) else None  # others may have another vector
