"""A search of one agent's memory, as the client and its contexts do it."""

from pydantic import ValidationError

from mnestic.activities.retrieval.retrieval import retrieve
from mnestic.memory.knowledge.entries import Entry
from mnestic.memory.knowledge.resources import check_name
from mnestic.memory.retrieval.agent_settings import settings_of
from mnestic.memory.retrieval.missing_entries import SearchTrace, trace_entry
from mnestic.memory.retrieval.queries import (
    MOST_RESULTS,
    Retrieval,
    RetrievalPolicy,
    RetrievalQuery,
    check_policy,
)
from mnestic.memory.retrieval.selections import AutoSelection
from mnestic.memory.validation import refused
from mnestic.starter.client.client_scope import ClientScope
from mnestic.starter.client.keyword_arguments import (
    AutoArguments,
    SearchArguments,
    check_known,
)


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


def auto_selection(channel: str, selection: AutoArguments) -> AutoSelection:
    """What differs from the agent's settings before a message of a channel.

    Raises:
        InvalidInputError: the channel or an argument is invalid.
    """
    check_name(channel, what="channel")
    check_known(selection, sorted(AutoArguments.__annotations__), what="selection")
    try:
        return AutoSelection.model_validate({**selection, "channel": channel})
    except ValidationError as error:
        raise refused("selection", error) from None


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
        embedders=scope.models.embedders(scope.caller),
        rerankers=scope.models.rerankers(scope.caller),
        count_tokens=scope.count_tokens,
        policy=policy,
    )


async def trace(
    scope: ClientScope, query: RetrievalQuery, entry: Entry, *, policy: RetrievalPolicy | None
) -> SearchTrace:
    """What became of an entry in a search, by searching again without a limit, thresholds or filters.

    Raises:
        InvalidInputError: the weights are invalid.
    """
    check_policy(policy)
    async with scope.transaction(write=False) as transaction:
        weights = policy or settings_of(await transaction.settings.read()).policy
        supersession = await transaction.entries.find_supersession(entry.id)
    whole = query.model_copy(update={"limit": MOST_RESULTS, "min_score": 0.0})
    repeating = whole.model_copy(update={"repeats": True})
    unfiltered = RetrievalQuery(
        text=query.text,
        limit=MOST_RESULTS,
        min_score=0.0,
        statuses=("active", "archived"),
        asked_at=query.asked_at,
        repeats=True,
    )
    searches = [
        await search(scope, one, policy=policy) for one in (query, whole, repeating, unfiltered)
    ]
    first, second, third, fourth = searches
    return trace_entry(
        entry,
        query=query,
        policy=weights,
        searches=(first, second, third, fourth),
        supersession=supersession,
    )
