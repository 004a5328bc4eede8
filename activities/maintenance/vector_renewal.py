"""Renewal: all vectors of a model are made again in place, as after a server has changed what it answers by the same name.

Searches go on meanwhile. A batch is one transaction, which the ledger has with the last entry of it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from mnestic.memory.knowledge.entries import Embedding, Unembedded
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Embedder, Transaction

Begin = Callable[..., AbstractAsyncContextManager[Transaction]]
MakeVectors = Callable[[Sequence[Unembedded]], Awaitable[Sequence[Embedding]]]


async def renew_vectors(
    begin: Begin, target: Embedder, *, operation_key: str, make_vectors: MakeVectors
) -> Counter[str]:
    """Gives the entries of a corpus, and archived ones too, new vectors; returns how many, also of an earlier attempt.

    Args:
        begin: Begins a transaction of the corpus, with `write` one that writes.
        target: The model; an entry that has no vector of it gets none.
        operation_key: Of the run and the corpus.
        make_vectors: Calls the model, outside of transactions.
    """
    renewed, after = 0, ""
    while True:
        operation = Operation(key=f"{operation_key}/{after}", name="maintenance")
        request = operation.request_hash(target.name)
        async with begin() as transaction:
            done = await transaction.find_result(operation, request)
            entries = await transaction.embeddings.list_embedded(
                target.name, after=after, limit=target.batch
            )
        if done is None:
            if not entries:
                return Counter(vectors_renewed=renewed)
            embeddings = await make_vectors(entries)
            async with begin(write=True) as transaction:
                done = await transaction.replay(operation, request)
                if done is None:
                    number = await transaction.embeddings.renew(target.name, embeddings)
                    done = {"renewed": number, "after": entries[-1].id}
                    await transaction.complete(operation, done)
        renewed, after = renewed + done["renewed"], done["after"]
