"""The end of a job: an episode of it, whatever way it ended."""

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.exclusions import allowed_episode
from mnestic.activities.jobs.segments import SegmentInput, SegmentWriter, find_rules
from mnestic.activities.jobs.transcripts import transcript
from mnestic.activities.models.metering import UsageMeter
from mnestic.activities.operations import find_done, run_once
from mnestic.memory.errors import StoredValueError
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.waits import JobOutcome
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.models.errors import ModelRefusedError, ModelUnavailableError
from mnestic.memory.models.messages import Summary
from mnestic.memory.models.usage import ModelPrices
from mnestic.memory.ports import Memory, Summariser, Transaction

_LAST_MESSAGES = 200
_MAX_CHARS = 1_000
_MODEL_ATTEMPTS = 5  # then the job ends without a model's summary rather than not at all


class EndJobInput(SegmentInput):
    """How a job ended."""

    plan: str
    outcome: JobOutcome
    cause: str | None = None
    waits: int


class EndJobResult(BaseModel):
    """The episode that was written."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    episode_id: str


class EndingActivities:
    """What is left of a job when it is over."""

    def __init__(
        self,
        memory: Memory,
        summariser: Summariser,
        *,
        prices: ModelPrices | None = None,
        segments: SegmentWriter | None = None,
    ) -> None:
        self._memory, self._segments = memory, segments
        self._summariser = summariser
        self._meter = UsageMeter(memory, prices, purpose="summarise")

    @activity.defn(name="mnestic.end_job")
    async def end_job(self, params: EndJobInput) -> EndJobResult:
        """Writes the job's episode, ends its open wait and its part of segments of tasks, and drops its read set.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                done = await find_done(transaction, params, EndJobResult)
                state = await _readable(transaction, params)
            if done is not None:
                return done
            text, made = await self._summary(params, state)
            return await run_once(
                self._memory,
                params,
                EndJobResult,
                work=lambda tx: self._end(tx, params, text),
                beside=self._meter.row(params, made),
            )

    async def _summary(
        self, params: EndJobInput, state: WorkingMemory
    ) -> tuple[str, Summary | None]:
        """The episode's text, and the summary in it, if a model made one."""
        ended = f"Job {params.operation.job_id} ({params.plan}) {_ENDED[params.outcome]}."
        if params.cause:
            ended = f"{ended} Cause: {params.cause}"
        turns = transcript(state, last=_LAST_MESSAGES)
        try:
            made = await self._meter.answer(
                params, self._summariser.summarise(turns, max_chars=_MAX_CHARS)
            )
        except ModelUnavailableError:
            if activity.info().attempt < _MODEL_ATTEMPTS:
                raise
            activity.logger.warning("job ended without a summary: the model does not answer")
            return ended, None
        except ModelRefusedError as error:  # a job that is over ends, whatever a model makes of it
            activity.logger.warning("job ended without a summary", extra={"why": str(error)})
            return ended, None
        return f"{ended} {made.text}".strip(), made

    async def _end(
        self, transaction: Transaction, params: EndJobInput, summary: str
    ) -> EndJobResult:
        job_id = params.operation.job_id or ""
        # An attempt to open a wait holds the session too: it comes before, or finds that the job is over.
        await transaction.working.find_ref(params.scope.session_id, lock=True)
        episode = Episode(
            id=params.new_id("episode"),
            agent_id=params.scope.agent_id,
            session_id=params.scope.session_id,
            job_id=job_id,
            summary=summary,
            payload={
                "outcome": params.outcome,
                "plan": params.plan,
                "waits": params.waits,
                **({"cause": params.cause} if params.cause else {}),
            },
            created_at=await transaction.now(),
        )
        await transaction.episodes.append(await allowed_episode(transaction, episode))
        await transaction.waits.cancel_open(job_id)
        await transaction.records.remove_reads(job_id)
        await self._end_segments(transaction, params)
        return EndJobResult(episode_id=episode.id)

    async def _end_segments(self, transaction: Transaction, params: EndJobInput) -> None:
        rules = await find_rules(transaction, params.contract)
        if self._segments is None or rules is None:
            return
        state = await _readable(transaction, params)
        left = await self._segments.end_job(transaction, params, state, rules=rules)
        if left is not state:
            await transaction.working.save(params.scope.session_id, left)


_ENDED = {"completed": "completed", "failed": "failed", "cancelled": "was cancelled"}


async def _readable(transaction: Transaction, params: EndJobInput) -> WorkingMemory:
    """The session's working memory; an empty one if it cannot be read, so that the job can end."""
    try:
        return await transaction.working.load(params.scope.session_id)
    except StoredValueError as error:
        activity.logger.error("job ends without its working memory", extra={"why": str(error)})
        return WorkingMemory()
