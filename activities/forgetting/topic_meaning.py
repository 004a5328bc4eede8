"""The entries that are about a topic without having its words, found by their meaning.

Retrieval brings what helps with a question: what stands beside an entry, and what is of the same session or time, helps
with a question, and is not about a topic for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mnestic.activities.callers import Caller
from mnestic.activities.forgetting.proper_names import (
    find_entries_by_part,
    find_proper_names,
    without_others,
)
from mnestic.activities.forgetting.topic_rows import make_topic
from mnestic.activities.models.embedders import Embedders
from mnestic.activities.retrieval.reranking import SKIPPED
from mnestic.activities.retrieval.retrieval import retrieve
from mnestic.memory.forgetting.requests import CLOSE, ForgottenItem, RemainingRow
from mnestic.memory.forgetting.topic_names import TopicName, parse_topic
from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.models.errors import (
    ModelMisconfiguredError,
    ModelRefusedError,
    ModelUnavailableError,
)
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval.queries import (
    MOST_RESULTS,
    SIGNALS,
    RetrievalPolicy,
    RetrievalQuery,
)

_UNCOMPARED = "could not be compared by its meaning, since the model makes no vector of it; remove it by its id if it goes too"
_MOST = 1000  # entries that the model refuses, as many as a page has
_MEANING_ALONE = RetrievalPolicy.model_validate(
    dict.fromkeys(SIGNALS, 0.0)
    | {
        "semantic": 1.0,
        "coverage": 0.5,
        "score": "weighted_sum",
    }  # of words, those that are near in meaning
    | {"min_score_share": 0.0, "propagation_seeds": 0, "pool": MOST_RESULTS}  # of all that is close
    | {"archived": "never"}  # archived entries are forgotten by their words
)


@dataclass(frozen=True, slots=True)
class TopicMeaning:
    """What is close to a topic in meaning, without its words, the closest first; and what could not be compared with it."""

    close: tuple[ForgottenItem, ...]
    uncompared: tuple[RemainingRow, ...]


async def find_entries_by_meaning(
    caller: Caller, topic: str, *, embedders: Embedders
) -> TopicMeaning:
    """Compares entries with the names of a topic, without those that have its words.

    Nor those with words that only begin alike: a model that knows words by their parts takes Parisa for
    something of Paris. Entries that have no vector yet get theirs first. A name with an identifier is matched whole: a text
    that is like it is about something else. So is a text that is like a proper name and has not all of it, unless it has
    a part that means nobody else.

    Args:
        caller: Whose memory it is.
        topic: A few words.
        embedders: Of them, that of the agent's active vectors compares.

    Raises:
        InvalidInputError: the topic has no words that mean something.
        ModelUnavailableError: the embedder does not answer, or refuses the topic, so that some might be missed.
    """
    names = [name for name in parse_topic(topic) if not name.identifiers]
    if not names:
        return TopicMeaning(close=(), uncompared=())
    async with caller() as transaction:
        embedder = embedders.active(await transaction.entries.find_active_model())
    refused = await _embed_missing(caller, embedder)
    found = [
        one for name in names for one in await _find_by_meaning(caller, name, embedder=embedder)
    ]
    async with caller() as transaction:
        meant = await make_topic(transaction, topic)
        words = {word for one in found for word in meant.unlearned(one.text)}
        meant.learn(await transaction.forgetting.stems(words))
        zero = await transaction.entries.list_zero_vectors(embedder.name, limit=_MOST)
    ranked = sorted(found, key=lambda one: -(one.score or 0))
    closest = {one.id: one for one in reversed(ranked)}  # by the name that it is closest to
    return TopicMeaning(
        close=tuple(
            one
            for one in sorted(closest.values(), key=lambda one: -(one.score or 0))
            if not (meant.is_in(one.text) or meant.is_like(one.text))
        ),
        uncompared=tuple(
            RemainingRow(kind="entry", name=one.id, why=_UNCOMPARED)
            for one in (*refused, *zero)
            if not meant.is_in(one.content)
        ),
    )


async def _find_by_meaning(
    caller: Caller, name: TopicName, *, embedder: Embedder
) -> list[ForgottenItem]:
    """The entries that are close to a name of a topic and name nobody and nothing else like it, or name it in part.

    Raises:
        ModelUnavailableError: the embedder does not answer, or refuses the name.
    """
    found = await _find_close(caller, name, embedder=embedder)
    async with caller() as transaction:
        names = await find_proper_names(transaction, name)
        meant = await without_others(transaction, names, found)
        return [*meant, *await find_entries_by_part(transaction, names)]


async def _find_close(
    caller: Caller, name: TopicName, *, embedder: Embedder
) -> list[ForgottenItem]:
    """The entries that are close to a name of a topic, the closest first.

    Raises:
        ModelUnavailableError: the embedder does not answer, or refuses the name.
    """
    query = RetrievalQuery(
        text=name.text,
        mode="semantic",
        limit=MOST_RESULTS,
        min_score=CLOSE,
        kinds=("message",),  # a derived entry goes with what it was made of
        statuses=("active", "archived"),
        repeats=True,
    )
    found = await retrieve(caller, query, embedders=Embedders(embedder), policy=_MEANING_ALONE)
    for why in found.skipped.values():
        raise ModelUnavailableError(model=embedder.name, why=why)
    return [
        ForgottenItem(
            kind="entry",
            id=one.entry.id,
            text=one.entry.content,
            at=one.entry.at,
            by="meaning",
            score=one.score,
        )
        for one in found.results
    ]


async def _embed_missing(caller: Caller, embedder: Embedder) -> list[Unembedded]:
    """Gives entries that have no vector yet theirs, as ingestion would; returns those that the model refuses.

    Raises:
        ModelUnavailableError: the embedder does not answer, or refuses too many.
    """
    refused: list[Unembedded] = []
    before: set[str] = set()
    while len(refused) + embedder.batch <= _MOST:
        async with caller() as transaction:
            missing = await transaction.entries.list_unembedded(
                embedder.name, limit=len(refused) + embedder.batch
            )
        batch = [one for one in missing if one not in refused]
        ids = {one.id for one in batch}
        if not batch:
            return refused
        if ids == before:
            why = f"{len(ids)} entries change faster than they are embedded; try again"
            raise ModelUnavailableError(model=embedder.name, why=why)
        before = ids
        refused += await _embed(caller, embedder, batch)
    raise ModelUnavailableError(model=embedder.name, why=f"it refuses {len(refused)} entries")


async def _embed(
    caller: Caller, embedder: Embedder, batch: Sequence[Unembedded]
) -> Sequence[Unembedded]:
    """Embeds entries; a batch that is refused by halves, until those are found that the model refuses."""
    try:
        vectors = (await embedder.embed([one.content for one in batch])).vectors
    except SKIPPED as error:
        if not isinstance(error, ModelRefusedError) or isinstance(error, ModelMisconfiguredError):
            raise ModelUnavailableError(model=embedder.name, why=str(error)) from error
        if len(batch) == 1:
            return batch
        middle = len(batch) // 2
        first = await _embed(caller, embedder, batch[:middle])
        return [*first, *await _embed(caller, embedder, batch[middle:])]
    embeddings = [
        Embedding(entry_id=one.id, content=one.content, vector=vector)
        for one, vector in zip(batch, vectors, strict=True)
    ]
    async with caller(write=True) as transaction:
        await transaction.entries.embed(embedder.name, embeddings)
    return []
