"""Channels of events: those of the contract of an agent, and those that tell of changes of its own memory."""

from typing import Any, get_args

from pydantic import BaseModel

from mnestic.activities.jobs.segments import SegmentInput, find_section
from mnestic.memory.contract.document import Shared
from mnestic.memory.errors import AccessDeniedError, InvalidInputError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.memory_operations import (
    EventList,
    ListEventsArguments,
    PublishArguments,
    PublishedEvent,
)
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.knowledge.events import EventKind, StoredEvent
from mnestic.memory.ports import Transaction
from mnestic.memory.selectors import ANY, matches
from mnestic.memory.sharing.events import ChannelEvent

_OF_MEMORY = (
    "memory."  # how channels begin that tell of changes of memory; only the agent itself reads them
)


async def find_channels(transaction: Transaction, contract: ContractRef | None) -> tuple[str, ...]:
    """The channels and patterns of channels that a version of a contract has; none without one."""
    return channels_of(await find_section(transaction, contract, "shared"))


def channels_of(section: dict[str, Any] | None) -> tuple[str, ...]:
    """The channels and patterns of channels of the section `shared` of a contract."""
    shared = Shared.model_validate(section or {"enabled": False})
    if not (shared.enabled and shared.pubsub.enabled):
        return ()
    named = shared.pubsub.channels
    return tuple(
        dict.fromkeys(
            (*(one.channel for one in named), *(one.pattern for one in named if one.pattern != ANY))
        )
    )


def kinds_of(channel: str) -> list[EventKind]:
    """The kinds of changes of memory that a channel, or a pattern of channels, tells of.

    Raises:
        InvalidInputError: there is none.
    """
    known = get_args(EventKind)
    found = [kind for kind in known if matches(channel, kind)]
    if not found:
        raise InvalidInputError(what="channel", why=f"{channel!r} is none of {', '.join(known)}")
    return found


async def last_number(transaction: Transaction, channel: str) -> int:
    """The number of the last event that there is beside those of a channel; 0 without one."""
    is_of_memory = channel.startswith(_OF_MEMORY)
    return await (transaction.events if is_of_memory else transaction.channels).last_number()


def _event_of(change: StoredEvent, *, agent_id: str) -> ChannelEvent:
    """A change of memory as an event on the channel that has the name of its kind."""
    fields = change.model_dump(mode="json", exclude={"number", "at", "kind"}, exclude_defaults=True)
    return ChannelEvent(
        number=change.number,
        id=f"{agent_id}/{change.number}",
        channel=change.kind,
        agent_id=agent_id,
        payload=fields,
        at=change.at,
    )


async def use_channels(
    transaction: Transaction,
    params: SegmentInput,
    arguments: PublishArguments | ListEventsArguments,
) -> BaseModel:
    """Publishes an event, or reads events.

    Raises:
        AccessDeniedError: the contract does not have the channel.
        KeptOutError: the event speaks of what was forgotten and is kept out.
    """
    allowed = await find_channels(transaction, params.contract)
    if isinstance(arguments, ListEventsArguments):
        after, limit, channel = arguments.after, arguments.limit, arguments.channel
        if channel.startswith(_OF_MEMORY):
            kinds = kinds_of(channel)
            changes = await transaction.events.list_events(after=after, kinds=kinds, limit=limit)
            agent_id = params.scope.agent_id
            return EventList(events=tuple(_event_of(one, agent_id=agent_id) for one in changes))
        found = await transaction.channels.list_events(channel, allowed, after=after, limit=limit)
        return EventList(events=found)
    event_id, channel = params.new_id("event"), arguments.channel
    if channel.startswith(_OF_MEMORY):
        what = f"channel {channel}"
        raise AccessDeniedError(
            agent_id=params.scope.agent_id, what=what, allowed="only to read it"
        )
    transaction.channels.publish(channel, allowed, arguments.event, event_id=event_id)
    await transaction.suppression_list.check(*texts_of([arguments.event]), what="event")
    return PublishedEvent(id=event_id, channel=channel)
