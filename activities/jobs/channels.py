"""Channels of events, as the contract of an agent gives them."""

from typing import Any

from pydantic import BaseModel

from mnestic.activities.jobs.segments import SegmentInput, find_section
from mnestic.memory.contract.document import Shared
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.memory_operations import (
    EventList,
    ListEventsArguments,
    PublishArguments,
    PublishedEvent,
)
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.ports import Transaction
from mnestic.memory.selectors import ANY


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
        after, limit = arguments.after, arguments.limit
        channels = transaction.channels
        found = await channels.list_events(arguments.channel, allowed, after=after, limit=limit)
        return EventList(events=found)
    event_id, channel = params.new_id("event"), arguments.channel
    transaction.channels.publish(channel, allowed, arguments.event, event_id=event_id)
    await transaction.suppression_list.check(*texts_of([arguments.event]), what="event")
    return PublishedEvent(id=event_id, channel=channel)
