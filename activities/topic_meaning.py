"""The entries that are about a topic without having its words, found by their meaning.

It stands apart from retrieval, which brings what helps with a question: what stands beside an entry, and
what is of the same session or time, helps with a question, and is not about a topic for that.
"""

from mnestic.activities.askers import Asker
from mnestic.activities.reranking import SKIPPED
from mnestic.activities.retrieving import retrieve
from mnestic.activities.topic_rows import make_topic
from mnestic.memory.entries import Embedding
from mnestic.memory.errors import ModelUnavailableError
from mnestic.memory.forgetting import CLOSE, ForgottenItem
from mnestic.memory.ports import Embedder
from mnestic.memory.retrieval import MOST_RESULTS, RetrievalPolicy, RetrievalQuery

_MEANING_ALONE = RetrievalPolicy(
    lexical=0,
    beside=0,
    near=0,
    related=0,
    session=0,
    speaker=0,
    subject=0,
    tag=0,
    time=0,
    recency=0,
    mention=0,
    question=0,
    importance=0,
    least_share=0,
    least_of_best=0,
    lending=0,
    pool=MOST_RESULTS,  # of all that is close
)


async def entries_about(
    asker: Asker, topic: str, *, embedder: Embedder
) -> tuple[ForgottenItem, ...]:
    """Entries whose meaning is close to a topic's, the closest first, without those that have its words.

    Nor those with words that only begin alike: a model that knows words by their parts takes Parisa for
    something of Paris.

    Args:
        asker: Whose memory it is.
        topic: A few words.
        embedder: That of the entries' vectors.

    Raises:
        InvalidInputError: the topic has no words that mean something.
        ModelUnavailableError: the embedder does not answer, so that some might be missed.
    """
    query = RetrievalQuery(
        text=topic,
        mode="semantic",
        limit=MOST_RESULTS,
        min_score=CLOSE,
        statuses=("active", "archived"),
        repeats=True,
    )
    await _embed_missing(asker, embedder)
    found = await retrieve(asker, query, embedder=embedder, policy=_MEANING_ALONE)
    for why in found.skipped.values():
        raise ModelUnavailableError(model=embedder.name, why=why)
    async with asker() as transaction:
        meant = await make_topic(transaction, topic)
        words = {word for one in found.found for word in meant.unlearned(one.entry.content)}
        meant.learn(await transaction.forgetting.stems(words))
    return tuple(
        ForgottenItem(
            kind="entry",
            id=one.entry.id,
            text=one.entry.content,
            at=one.entry.at,
            by="meaning",
            score=one.score,
        )
        for one in found.found
        if not (meant.is_in(one.entry.content) or meant.is_like(one.entry.content))
    )


async def _embed_missing(asker: Asker, embedder: Embedder) -> None:
    """Gives entries that have no vector yet theirs, since what is to be forgotten must not be missed for that.

    Raises:
        ModelUnavailableError: the embedder does not answer.
    """
    before: set[str] = set()
    while True:
        async with asker() as transaction:
            missing = await transaction.entries.list_unembedded(embedder.name, limit=embedder.batch)
        ids = {one.id for one in missing}
        if not missing:
            return
        if ids == before:
            why = f"{len(ids)} entries change faster than they are read; try again"
            raise ModelUnavailableError(model=embedder.name, why=why)
        before = ids
        try:
            vectors = (await embedder.embed([one.content for one in missing])).vectors
        except SKIPPED as error:
            raise ModelUnavailableError(model=embedder.name, why=str(error)) from error
        embeddings = [
            Embedding(entry_id=one.id, content=one.content, vector=vector)
            for one, vector in zip(missing, vectors, strict=True)
        ]
        async with asker(write=True) as transaction:
            await transaction.entries.embed(embedder.name, embeddings)
