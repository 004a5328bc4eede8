"""A search of one agent's memory, as the client and its contexts do it."""

from pydantic import ValidationError

from mnestic.activities.retrieval.retrieval import retrieve
from mnestic.memory.retrieval.queries import (
    Retrieval,
    RetrievalPolicy,
    RetrievalQuery,
    check_policy,
)
from mnestic.memory.validation import refused
from mnestic.starter.client.client_scope import ClientScope
from mnestic.starter.client.keyword_arguments import SearchArguments


def retrieval_query(
    text: str, arguments: SearchArguments, *, repeats: bool | None = None
) -> RetrievalQuery:
    """The query of a caller's arguments; `repeats` overrides theirs.

    Raises:
        InvalidInputError: the text or an argument is invalid.
    """
    override = {} if repeats is None else {"repeats": repeats}
    try:
        return RetrievalQuery.model_validate({**arguments, "text": text, **override})
    except ValidationError as error:
        raise refused("question", error, model=RetrievalQuery) from None


async def search(
    scope: ClientScope, query: RetrievalQuery, *, policy: RetrievalPolicy | None = None
) -> Retrieval:
    """The results of a query, the best first, by the agent's own weights unless a policy is given.

    Raises:
        InvalidInputError: the weights are invalid.
    """
    check_policy(policy)
    return await retrieve(
        scope.caller,
        query,
        embedder=scope.models.embedder(scope.caller),
        rerankers=scope.models.rerankers(scope.caller),
        count_tokens=scope.count_tokens,
        policy=policy,
    )
