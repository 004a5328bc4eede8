"""Reading a session of a conversation that came in as resources."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.jobs.segments import SegmentInput, SegmentStep, SegmentWriter, find_rules
from mnestic.activities.operations import find_done, run_once
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.working_memory import Message
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory, Transaction

PEOPLE = "people"
SESSIONS = "sessions"
_PAGE = 1000  # messages


class ReadSessionInput(SegmentInput):
    """Arguments of the tool `mnestic.read_session`; the job adds its scope, its operation and its contract.

    `conversation` is the session id under which the messages came in.
    """

    conversation: str
    last: bool = False


class ReadSessionResult(BaseModel):
    """What was read; the messages are in working memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    conversation: str
    turns: int
    speakers: int
    last: bool


class ConversationActivities:
    """Conversations on their way into working memory."""

    def __init__(self, memory: Memory, *, segments: SegmentWriter | None = None) -> None:
        self._memory, self._segments = memory, segments

    @activity.defn(name="mnestic.read_session")
    async def read_session(self, params: ReadSessionInput) -> ReadSessionResult:
        """Appends a session's messages to working memory.

        The variable `arrived` then holds `{conversation, turns, from, to, records}`; `records` are
        what is now known of the session and of each speaker, ready for a `remember` node.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            step = await self._step(params)
            return await run_once(
                self._memory,
                params,
                ReadSessionResult,
                work=lambda tx: self._read(tx, params, step),
                beside=self._segments.row(params, step) if self._segments and step else None,
            )

    async def _step(self, params: ReadSessionInput) -> SegmentStep | None:
        """What the write of the messages to their segment needs; None without a contract, or if they are written."""
        if self._segments is None or params.contract is None:
            return None
        async with params.transaction(self._memory, write=False) as transaction:
            rules = await find_rules(transaction, params.contract)
            if rules is None or await find_done(transaction, params, ReadSessionResult):
                return None
            state = await transaction.working.load(params.scope.session_id)
            resources = await _all(transaction, params.conversation)
        messages = list(map(_message, resources))
        return await self._segments.prepare(params, state, messages, rules=rules)

    async def _read(
        self, transaction: Transaction, params: ReadSessionInput, step: SegmentStep | None
    ) -> ReadSessionResult:
        resources = await _all(transaction, params.conversation)
        if not resources:
            raise NotFoundError(what="conversation session", name=params.conversation)
        speakers = sorted({resource.speaker for resource in resources})
        state = await transaction.working.load(params.scope.session_id, lock=True)
        arrived = {
            "conversation": params.conversation,
            "turns": len(resources),
            "from": resources[0].at.isoformat(),
            "to": resources[-1].at.isoformat(),
            "records": [
                _session_record(params.conversation, resources),
                *[await _person_record(transaction, name, resources) for name in speakers],
            ],
        }
        messages = list(map(_message, resources))
        state = state.with_messages(messages)
        if self._segments is not None and step is not None:
            state = await self._segments.write(
                transaction, params, state, step=step, messages=messages
            )
        await transaction.working.save(
            params.scope.session_id, state.with_variables({"arrived": arrived})
        )
        return ReadSessionResult(
            conversation=params.conversation,
            turns=len(resources),
            speakers=len(speakers),
            last=params.last,
        )


async def _all(transaction: Transaction, conversation: str) -> list[Resource]:
    found: list[Resource] = []
    cursor = None
    while True:
        page, cursor = await transaction.resources.list_by_session(
            conversation, limit=_PAGE, cursor=cursor
        )
        found.extend(page)
        if cursor is None:
            return found


def _message(resource: Resource) -> Message:
    return Message(
        id=resource.source_id,
        role="user",
        content=resource.content,
        at=resource.at,
        speaker=resource.speaker,
        channel=resource.channel,
        readers=resource.readers,
    )


def _session_record(conversation: str, resources: list[Resource]) -> dict[str, Any]:
    value = {
        "turns": len(resources),
        "from": resources[0].at.isoformat(),
        "to": resources[-1].at.isoformat(),
    }
    return {"namespace": SESSIONS, "key": conversation, "value": value}


async def _person_record(
    transaction: Transaction, name: str, resources: list[Resource]
) -> dict[str, Any]:
    """The updated record of a speaker; fields that others wrote stay."""
    messages = [resource for resource in resources if resource.speaker == name]
    record = await transaction.records.find(PEOPLE, name)
    known = record.value if record is not None and isinstance(record.value, dict) else {}
    value = {
        "first_seen": messages[0].at.isoformat(),
        **known,
        "turns": _number(known.get("turns")) + len(messages),
        "sessions": _number(known.get("sessions")) + 1,
        "last_seen": messages[-1].at.isoformat(),
    }
    return {"namespace": PEOPLE, "key": name, "value": value}


def _number(value: Any) -> int:
    """A count that somebody else may have overwritten."""
    return value if isinstance(value, int) else 0
