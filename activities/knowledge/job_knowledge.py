"""The knowledge of an agent, for a job: gives it facts, and ingests its messages and results of tools.

Jobs use knowledge through this module alone. Whatever a job remembers, thinks or gets from a tool is ingested in one way,
and a job never fails because a message cannot be ingested.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.knowledge.ingest_starts import start_ingest_here
from mnestic.activities.knowledge.receiving import receive
from mnestic.activities.knowledge.subjects import find_subjects
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.extraction import TurnKind
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.inbox import Interaction, extractable
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.predicate_sentences import sentence_of
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection, quote_fact
from mnestic.memory.knowledge.resources import Resource, check_message
from mnestic.memory.ports import Memory, Transaction

CHANNEL = "job"  # of what names none
_LARGEST_BYTES = 262_144  # with any words in it, it can be indexed
_LOOK_BACK = 50  # entries


class FactsInput(OperationInput):
    """Selects facts."""

    select: KnowledgeSelection


class FactsResult(BaseModel):
    """The active facts that are valid now."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    facts: tuple[Fact, ...] = ()


class PromptFact(NamedTuple):
    """A fact for a prompt: its quoted line, and the sentence by which a search finds it."""

    line: str
    sentence: str


class IngestExchangeInput(OperationInput):
    """An exchange to ingest."""

    exchange: Interaction


class IngestExchangeResult(BaseModel):
    """How many messages were new, those of tools among them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    new: int


class KnowledgeActivities:
    """Knowledge for jobs: facts and ingestion."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.list_facts")
    async def list_facts(self, params: FactsInput) -> FactsResult:
        """Returns the active facts that are valid now.

        Idempotent: it reads.
        """
        with failures():
            async with params.transaction(self._memory, write=False) as transaction:
                return FactsResult(facts=await _find(transaction, params.select))

    @activity.defn(name="mnestic.learn_exchange")
    async def ingest_exchange(self, params: IngestExchangeInput) -> IngestExchangeResult:
        """Stores the messages of an exchange, each as an entry, and starts their extraction.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            result = await run_once(
                self._memory, params, IngestExchangeResult, work=lambda tx: _receive(tx, params)
            )
            await start_extraction(params)
        return result


async def list_prompt_facts(
    transaction: Transaction, select: KnowledgeSelection | None
) -> tuple[PromptFact, ...]:
    """The facts for a prompt, the most important first."""
    if select is None:
        return ()
    now = await transaction.now()
    return tuple(
        PromptFact(quote_fact(fact), sentence_of(fact, now=now))
        for fact in await _find(transaction, select)
    )


async def default_readers(
    transaction: Transaction, params: OperationInput, *, channel: str | None = None
) -> tuple[str, ...] | None:
    """The readers of a job's message that names none: of its session, else of its channel."""
    return await transaction.reader_defaults.find(params.scope.session_id, channel or CHANNEL)


async def receive_message(
    transaction: Transaction,
    params: OperationInput,
    content: str,
    *,
    speaker: str,
    kind: TurnKind = "message",
    channel: str | None = None,
    part: str = "",
    readers: Sequence[str] | None = None,
) -> None:
    """Ingests a message or a tool's result of a job, in the transaction of its operation.

    Its source id is the operation's key. A message that cannot be ingested is noted in the audit log.

    Args:
        transaction: The operation's.
        params: The operation.
        content: The text.
        speaker: The person, or the tool.
        kind: A tool's result belongs to the session's last message.
        channel: Where it came from.
        part: Distinguishes messages of one operation.
        readers: Who alone may read it.
    """
    job_id = params.operation.job_id
    resource = Resource(
        session_id=params.scope.session_id,
        source_id=params.operation.key + part,
        channel=channel or CHANNEL,
        speaker=speaker,
        content=content,
        at=await transaction.now(),
        readers=readers,
    )
    try:
        check_message(resource, limit_bytes=_LARGEST_BYTES)
    except InvalidInputError as error:
        transaction.note("learning.skip", resource.name, reason=str(error))
        return
    message = IncomingMessage(
        resource=resource,
        kind=kind,
        job_id=job_id,
        workflow_run=activity.info().workflow_run_id,
        attached_to=await _last_message(transaction, params) if kind == "tool_result" else None,
    )
    await receive(transaction, [message], owner=f"{params.scope.tenant_id}/{params.scope.agent_id}")


async def start_extraction(params: OperationInput) -> None:
    """Starts the extraction of committed messages."""
    await start_ingest_here(tenant_id=params.scope.tenant_id, agent_id=params.scope.agent_id)


async def _find(transaction: Transaction, select: KnowledgeSelection) -> tuple[Fact, ...]:
    """The facts that are valid now, in the order in which subjects and predicates are named, each once."""
    now = await transaction.now()
    found: dict[str, Fact] = {}
    subjects = [await find_subjects(transaction, name, is_strict=False) for name in select.subjects]
    for about, predicate in product(subjects or (None,), select.predicates or (None,)):
        facts, _ = await transaction.facts.list_facts(
            subject=about, predicate=predicate, as_of=now, limit=select.limit
        )
        found |= {fact.id: fact for fact in facts if fact.id not in found}
        if len(found) >= select.limit:
            break
    return tuple(found.values())[: select.limit]


async def _receive(transaction: Transaction, params: IngestExchangeInput) -> IngestExchangeResult:
    found = extractable(params.exchange, came_at=await transaction.now())
    of_job = {
        "job_id": params.operation.job_id,
        "workflow_run": activity.info().workflow_run_id,
    }
    messages = [message.model_copy(update=of_job) for message in found.messages]
    owner = f"{params.scope.tenant_id}/{params.scope.agent_id}"
    return IngestExchangeResult(new=await receive(transaction, messages, owner=owner))


async def _last_message(transaction: Transaction, params: OperationInput) -> str | None:
    """The source id of the session's last message that is no tool's result."""
    query = EntryQuery(session_id=params.scope.session_id)
    entries, _ = await transaction.entries.list_entries(query, limit=_LOOK_BACK)
    return next((one.source_id for one in entries if one.parent is None), None)
