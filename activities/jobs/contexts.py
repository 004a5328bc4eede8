"""Reading what a job remembers beside its session."""

from mnestic.activities.operations import OperationInput
from mnestic.memory.jobs.contexts import ContextSelection, JobContext, PinnedEpisodes
from mnestic.memory.jobs.recalls import EpisodeSelection, RecallQuery
from mnestic.memory.ports import Retriever, Transaction


async def load_context(
    transaction: Transaction,
    retriever: Retriever,
    request: OperationInput,
    *,
    select: ContextSelection,
    sealed_tail: PinnedEpisodes | None,
) -> JobContext:
    """The latest episodes, and the job's read set with the values that it has seen."""
    job_id = request.operation.job_id
    episodes = None
    if select.episodes:
        episodes = EpisodeSelection(of=select.of, limit=select.episodes)
    found = await retriever.recall(
        transaction,
        RecallQuery(episodes=episodes),
        scope=request.scope,
        job_id=job_id,
        sealed_tail=sealed_tail,
    )
    reads = await transaction.records.list_reads(job_id) if select.records and job_id else ()
    return JobContext(episodes=found.episodes, records=reads)
