"""Reading a session of a conversation that came in as resources."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput, run_once
from mnestic.memory.errors import NotFoundError
from mnestic.memory.jobs.working_memory import Message
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory, Transaction

PEOPLE = "people"
SESSIONS = "sessions"
_PAGE = 1000  # messages


class ReadSessionInput(OperationInput):
    """Arguments of the tool `mnestic.read_session`; the job adds its scope and its operation.

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

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @activity.defn(name="mnestic.read_session")
    async def read_session(self, params: ReadSessionInput) -> ReadSessionResult:
        """Appends a session's messages to working memory.

        The variable `arrived` then holds `{conversation, turns, from, to, records}`; `records` are
        what is now known of the session and of each speaker, ready for a `remember` node.

        Idempotent: by the operation's key, in the transaction of the writes.
        """
        with failures():
            return await run_once(
                self._memory, params, ReadSessionResult, work=lambda tx: _read(tx, params)
            )


async def _read(transaction: Transaction, params: ReadSessionInput) -> ReadSessionResult:
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
    state = state.with_messages([_message(resource) for resource in resources])
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
