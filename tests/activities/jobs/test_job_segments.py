"""Segments of a job: what it writes enters them once, and its prompts are made of them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.local import LocalSummariser
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.jobs.collections import Collections
from mnestic.activities.jobs.contracts import ContractActivities
from mnestic.activities.jobs.conversations import ConversationActivities, ReadSessionInput
from mnestic.activities.jobs.endings import EndingActivities, EndJobInput
from mnestic.activities.jobs.memories import MemoryActivities, RememberInput
from mnestic.activities.jobs.segments import SegmentWriter
from mnestic.activities.jobs.thoughts import ThinkActivities, ThinkInput
from mnestic.activities.knowledge.receiving import receive
from mnestic.memory.jobs.short_term.segments import ContractRef, Segments, tokens_of
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.jobs.writes import MemoryWrite, MessageWrite
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.operations import Operation
from mnestic.memory.ports import Memory, Summariser
from mnestic.memory.scope import Scope
from mnestic.starter.memory_wiring import local_models
from mnestic.stores.postgres.jobs.recalls import ScopeRetriever
from tests.activities.jobs.conftest import CountingSummariser
from tests.activities.jobs.test_thoughts import CountingModel
from tests.activities.learning_models import Begin
from tests.reader_episode import message

Make = Callable[..., Operation]
Working = Callable[[], Awaitable[WorkingMemory]]
SEGMENTS = [
    {"segment_id": "reference", "priority": 3, "max_tokens": 60, "retention": "persistent"},
    {"segment_id": "task", "priority": 1, "max_tokens": 60, "retention": "task"},
    {"segment_id": "conversation", "priority": 2, "max_tokens": 200, "retention": "session"},
]
SENTENCE = "Mara moved from Lund to Porto in March 2026 and works as a baker there."


def document(strategy: str | None = None, **changed: Any) -> dict[str, Any]:
    short_term = {"enabled": True, "max_tokens": 320, "eviction_policy": "fifo"}
    if strategy is not None:
        short_term["summarization"] = {"enabled": True, "strategy": strategy}
    return {"Memory": {"short_term": {**short_term, "segments": SEGMENTS, **changed}}}


class Job:
    """The activities of one job, with the contract that it has pinned."""

    def __init__(
        self, memory: Memory, begin: Begin, *, scope: Scope, operation: Make, summariser: Summariser
    ) -> None:
        self._begin, self._scope, self._operation = begin, scope, operation
        segments = SegmentWriter(
            memory, count_tokens=count_tokens, extractive=LocalSummariser(), summariser=summariser
        )
        self.model, retriever = CountingModel(), ScopeRetriever()
        self._memories = MemoryActivities(memory, retriever, summariser, segments=segments)
        self._thoughts = ThinkActivities(
            memory, self.model, count_tokens=count_tokens, retriever=retriever, segments=segments
        )
        self._endings = EndingActivities(memory, summariser, segments=segments)
        self._sessions = ConversationActivities(memory, segments=segments)
        self._contracts = ContractActivities(
            memory,
            ScopeRetriever(),
            segments,
            collections=Collections(local_models(), count_tokens=count_tokens),
        )
        self.contract: ContractRef | None = None

    async def apply(self, value: dict[str, Any] | None) -> None:
        """Applies a contract, and pins it."""
        async with self._begin() as transaction:
            await transaction.contracts.add(
                self._scope.agent_id, value, sha256="0", applied_by="test"
            )
        asked = ReadSessionInput(**self._base(0, "contract"), conversation="")
        self.contract = await ActivityEnvironment().run(self._contracts.pin_contract, asked)

    async def remember(self, step: int, content: str, **fields: Any) -> Any:
        write = MemoryWrite(message=MessageWrite(content=content, **fields))
        asked = RememberInput(**self._base(step), write=write)
        return await ActivityEnvironment().run(self._memories.remember, asked)

    async def think(self, step: int, **fields: Any) -> tuple[str, ...]:
        """The texts of the prompt."""
        defaults = {"prompt": "Go on.", "history": 20, "max_tokens": 64, "save_as": "x"}
        asked = ThinkInput(**self._base(step, "think"), **(defaults | fields))
        await ActivityEnvironment().run(self._thoughts.think, asked)
        return tuple(message.content for message in self.model.asked[-1])

    async def read_session(self, step: int, conversation: str) -> Any:
        asked = ReadSessionInput(**self._base(step, "tool"), conversation=conversation)
        return await ActivityEnvironment().run(self._sessions.read_session, asked)

    async def end(self, step: int) -> None:
        asked = EndJobInput(**self._base(step, "end"), plan="p", outcome="completed", waits=0)
        await ActivityEnvironment().run(self._endings.end_job, asked)

    def _base(self, step: int, name: str = "remember") -> dict[str, Any]:
        pinned = {} if self.contract is None else {"contract": self.contract}
        return {"scope": self._scope, "operation": self._operation(step, name), **pinned}


@pytest.fixture
def local_job(memory: Memory, begin: Begin, scope: Scope, operation: Make) -> Job:
    return Job(memory, begin, scope=scope, operation=operation, summariser=LocalSummariser())


@pytest.fixture
def job(
    memory: Memory, begin: Begin, scope: Scope, operation: Make, summariser: CountingSummariser
) -> Job:
    return Job(memory, begin, scope=scope, operation=operation, summariser=summariser)


def segments_of(state: WorkingMemory) -> Segments:
    assert state.segments is not None
    return state.segments


async def test_without_a_contract_there_are_no_segments(job: Job, working: Working) -> None:
    await job.remember(1, "Hello.", segment="task")
    texts = await job.think(2)
    await job.end(3)

    state = await working()
    assert texts == ("Hello.", "Go on.")
    assert state.segments is None
    assert b"segments" not in state.document().body


async def test_a_message_and_a_reply_enter_a_segment_once(job: Job, working: Working) -> None:
    await job.apply(document())

    await job.remember(1, "Do the audit.", segment="task")
    await job.remember(1, "Do the audit.", segment="task")
    await job.remember(2, "Hello.", speaker="Mara")
    await job.think(3)
    await job.think(3)

    segments = segments_of(await working())
    assert [(e.segment_id, e.content, e.tokens, e.job_id) for e in segments.entries] == [
        ("task", "Do the audit.", count_tokens("Do the audit."), "j1"),
        ("conversation", "Mara: Hello.", count_tokens("Mara: Hello."), "j1"),
        ("conversation", "reply 1", count_tokens("reply 1"), "j1"),
    ]
    assert segments.contract == job.contract
    assert [(b.segment_id, b.entries) for b in segments.budgets()] == [
        ("task", 1),
        ("conversation", 2),
        ("reference", 0),
    ]


async def test_a_prompt_is_made_of_the_segments_in_their_order(job: Job, working: Working) -> None:
    await job.apply(document())
    await job.remember(1, "Rule one.", segment="reference")
    await job.remember(2, "Hello.")
    await job.remember(3, "Do the audit.", segment="task")

    texts = await job.think(4, system="You are kind.")

    assert texts == ("You are kind.", "Do the audit.", "Hello.", "Rule one.", "Go on.")
    entries = segments_of(await working()).entries
    assert len({each.last_use for each in entries[:3]}) == 1
    assert entries[0].last_use > entries[2].arrival


async def test_a_prompt_stays_within_its_own_limit_and_leaves_out_the_lowest_priority(
    job: Job,
) -> None:
    await job.apply(document())
    await job.remember(1, "Rule one.", segment="reference")
    await job.remember(2, "Hello.")
    await job.remember(3, "Do the audit.", segment="task")
    few = count_tokens("Go on.") + count_tokens("Do the audit.") + count_tokens("Hello.") + 3 + 12

    assert await job.think(4, max_input_tokens=few) == ("Do the audit.", "Hello.", "Go on.")
    assert await job.think(5, history=0) == ("Go on.",)


async def test_an_eviction_is_in_the_ledger_and_in_the_audit_log(
    job: Job, working: Working, execute: Callable[[str], list[Any]]
) -> None:
    await job.apply(document())
    for step in range(1, 15):
        await job.remember(step, SENTENCE)

    state = await working()
    segments = segments_of(state)
    assert len(state.messages) == 14
    assert tokens_of(segments.of("conversation")) <= 200
    change = segments.changes[0]
    assert (change.kind, change.ids, change.job_id) == ("evicted", (state.messages[0].id,), "j1")
    assert change.tokens_before > change.tokens_after
    rows = execute(
        "SELECT target FROM mnestic.audit_log WHERE tenant_id = %s AND action = 'segment.evicted'"
    )
    assert len(rows) == len(segments.changes)


async def test_a_segment_that_a_contract_lacks_is_refused(job: Job, working: Working) -> None:
    await job.apply(document())

    with pytest.raises(ApplicationError, match="reference, task, conversation"):
        await job.remember(1, "Hello.", segment="other")

    assert (await working()).version == 0


async def test_a_summary_of_the_model_replaces_texts_and_an_episode_has_them(
    job: Job,
    begin: Begin,
    working: Working,
    summariser: CountingSummariser,
    calls: Callable[[], list[Any]],
) -> None:
    await job.apply(document("abstractive"))
    for step in range(1, 11):
        await job.remember(step, SENTENCE, channel="mail")

    state = await working()
    made = segments_of(state).entries[0]
    assert made.source is not None
    assert made.content.endswith(" summary 1")
    assert made.source.channels == ("mail",)
    assert made.source.strategy == "abstractive"
    assert set(made.source.ids) <= {message.id for message in state.messages}
    async with begin() as transaction:
        (episode,), _ = await transaction.episodes.list_by_job("j1")
    assert (episode.id, episode.summary) == (made.id, made.content)
    assert episode.payload["ids"] == list(made.source.ids)
    change = next(c for c in segments_of(state).changes if c.kind == "summarized")
    assert change.ids == made.source.ids
    assert len(summariser.asked) == 1
    assert [call[1] for call in calls()] == ["summarise"]


async def test_a_summary_made_with_the_first_private_message_has_its_readers(
    job: Job, memory: Memory, scope: Scope
) -> None:
    await job.apply(document("abstractive"))
    for step in range(1, 6):
        await job.remember(step, SENTENCE)
    await job.remember(6, SENTENCE * 4, readers=("user.ben",))

    seen = []
    for reader in ("user.anna", "user.ben", None):
        async with memory.transaction(
            tenant_id=scope.tenant_id,
            agent_id=scope.agent_id,
            actor="test",
            write=False,
            reader=reader,
        ) as transaction:
            seen.append(len((await transaction.episodes.list_by_job("j1"))[0]))
    assert seen == [0, 1, 1]


async def test_a_session_that_is_read_keeps_the_readers_of_its_messages(
    job: Job, begin: Begin, working: Working
) -> None:
    said = [message(1, "Ben", "I earn 5400 euros.", ["user.ben"]), message(2, "Ben", "Hi.", None)]
    async with begin() as transaction:
        await receive(transaction, said, owner="t/ada")

    await job.read_session(1, said[0].session_id)

    seen = (await working()).for_reader("user.anna").messages
    assert [one.content for one in seen] == ["Hi."]


async def test_without_a_chat_model_a_summary_is_extractive_and_says_so(
    local_job: Job, working: Working
) -> None:
    await local_job.apply(document("abstractive"))
    for step in range(1, 11):
        await local_job.remember(step, f"{SENTENCE} ({step})")

    segments = segments_of(await working())
    made = segments.entries[0]
    assert made.source is not None
    assert made.source.strategy == "extractive"
    assert "Porto" in made.content
    change = next(change for change in segments.changes if change.kind == "summarized")
    assert "no chat model for abstractive" in change.why


async def test_a_model_that_does_not_answer_does_not_hold_up_a_message(
    job: Job, working: Working, summariser: CountingSummariser
) -> None:
    summariser.failure = ModelUnavailableError(model="test", why="busy")
    await job.apply(document("hybrid"))
    for step in range(1, 11):
        await job.remember(step, f"{SENTENCE} ({step})")

    segments = segments_of(await working())
    change = next(change for change in segments.changes if change.kind == "summarized")
    assert "extractive, since the chat model gave no answer for hybrid" in change.why


async def test_a_hybrid_summary_rewrites_chosen_sentences(
    job: Job, working: Working, summariser: CountingSummariser
) -> None:
    await job.apply(document("hybrid"))
    for step in range(1, 11):
        await job.remember(step, f"{SENTENCE} Ok.")

    source = segments_of(await working()).entries[0].source
    assert source is not None
    assert source.strategy == "hybrid"
    (turns,) = summariser.asked
    assert [turn.content.count("Porto") for turn in turns] == [1]


async def test_a_summary_is_not_repeated_by_the_context_of_a_prompt(job: Job) -> None:
    await job.apply(document("abstractive"))
    for step in range(1, 11):
        await job.remember(step, SENTENCE)

    texts = await job.think(6, context={})

    assert sum(text.count("summary 1") for text in texts) == 1


async def test_what_a_segment_of_tasks_has_of_a_job_ends_with_it(
    job: Job, working: Working
) -> None:
    await job.apply(document())
    await job.remember(1, "Do the audit.", segment="task")
    await job.remember(2, "Hello.")
    await job.remember(3, "Rule one.", segment="reference")

    await job.end(4)
    await job.end(4)

    segments = segments_of(await working())
    assert [each.content for each in segments.entries] == ["Hello.", "Rule one."]
    assert [change.why for change in segments.changes] == ["job j1 ended"]


async def test_a_job_has_the_version_that_it_pinned(job: Job, working: Working) -> None:
    await job.apply(document())
    pinned = job.contract
    await job.apply(document(segments=SEGMENTS[:1]))
    job.contract = pinned

    await job.remember(1, "Do the audit.", segment="task")

    assert segments_of(await working()).contract.version == 1


async def test_no_contract_and_one_that_was_taken_away_pin_nothing(job: Job) -> None:
    await job.apply(document())
    await job.apply(None)

    assert job.contract == ContractRef()
