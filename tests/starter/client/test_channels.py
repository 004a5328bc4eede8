"""Events between agents: published, read in their order, handed to subscribers, and removed once they are old."""

import asyncio
from typing import Any

import psycopg
import pytest

from mnestic.memory.errors import (
    AccessDeniedError,
    EventsTrimmedError,
    InvalidInputError,
    PayloadTooLargeError,
)
from mnestic.memory.sharing.events import ChannelEvent
from mnestic.starter.client import contract_memory
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.mnestic_client import MnesticClient

CHANNELS = [{"channel": "news"}, {"channel": "seo", "pattern": "seo.violation.*"}]
DOCUMENT = {
    "Memory": {"shared": {"enabled": True, "pubsub": {"enabled": True, "channels": CHANNELS}}}
}


@pytest.fixture
async def crawler(client: MnesticClient) -> ContractMemory:
    await client.contracts().apply("*", DOCUMENT)
    return await client.contract("crawler")


@pytest.fixture
async def auditor(client: MnesticClient, crawler: ContractMemory) -> ContractMemory:
    assert crawler.config.shared is not None
    return await client.contract("auditor")


class Subscriber:
    """Takes so many events, and fails at the one whose number it is told."""

    def __init__(self, take: int, *, fails_at: int | None = None) -> None:
        self.numbers: list[int] = []
        self._take, self._fails_at, self.done = take, fails_at, asyncio.Event()

    async def __call__(self, event: ChannelEvent) -> None:
        if event.number == self._fails_at:
            raise ValueError(event.id)
        self.numbers.append(event.number)
        if len(self.numbers) == self._take:
            self.done.set()

    async def run(
        self, memory: ContractMemory, channel: str = "seo.violation.*", **fields: Any
    ) -> list[int]:
        """The numbers of the events that it takes."""
        running = asyncio.create_task(memory.subscribe(channel, self, **fields))
        async with asyncio.timeout(30):
            await asyncio.wait(
                {running, asyncio.create_task(self.done.wait())}, return_when="FIRST_COMPLETED"
            )
        if not running.done():
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return self.numbers


async def test_events_are_read_in_their_order_by_channel_and_pattern(
    crawler: ContractMemory, auditor: ContractMemory
) -> None:
    for channel in ("news", "seo.violation.title", "news", "seo.violation.h1"):
        await crawler.publish(channel, {"of": channel})

    found = await auditor.list_events("seo.violation.*")
    later = await auditor.list_events("news", after=1)

    assert [(event.number, event.channel) for event in found] == [
        (2, "seo.violation.title"),
        (4, "seo.violation.h1"),
    ]
    assert [event.number for event in later] == [3]
    assert {event.agent_id for event in found} == {"crawler"}


async def test_twenty_that_publish_at_once_leave_no_gap_and_no_double(
    crawler: ContractMemory,
) -> None:
    ids = await asyncio.gather(*(crawler.publish("news", {"n": n}) for n in range(20)))

    events = await crawler.list_events("news")

    assert [event.number for event in events] == [*range(1, 21)]
    assert {event.id for event in events} == {*ids}


async def test_a_subscription_of_a_name_goes_on_where_it_was_and_has_again_what_was_not_handled(
    crawler: ContractMemory, auditor: ContractMemory
) -> None:
    for n in range(4):
        await crawler.publish("seo.violation.title", {"n": n})

    first = await Subscriber(9, fails_at=3).run(auditor, name="audit", after=0)
    then = await Subscriber(2).run(auditor, name="audit", after=0)
    anew = await Subscriber(4).run(auditor, after=0)

    assert (first, then, anew) == ([1, 2], [3, 4], [1, 2, 3, 4])


async def test_subscriptions_of_one_name_have_a_place_on_each_channel(
    crawler: ContractMemory, auditor: ContractMemory
) -> None:
    for channel in ("seo.violation.title", "news"):
        await crawler.publish(channel, {})

    news = await Subscriber(1).run(auditor, "news", name="audit", after=0)
    violations = await Subscriber(1).run(auditor, name="audit", after=0)

    assert (news, violations) == ([2], [1])


async def test_a_subscriber_is_woken_by_what_is_published_to_come(
    crawler: ContractMemory, auditor: ContractMemory
) -> None:
    await crawler.publish("seo.violation.title", {"n": "before"})
    subscriber = Subscriber(1)
    running = asyncio.create_task(subscriber.run(auditor, name="audit", after=1))

    await crawler.publish("seo.violation.title", {"n": "after"})

    assert await running == [2]


async def test_a_channel_that_the_contract_does_not_have_is_denied(
    client: MnesticClient, crawler: ContractMemory
) -> None:
    with pytest.raises(
        AccessDeniedError,
        match=r"crawler has no access to channel seo\.x; it is allowed: news, seo",
    ):
        await crawler.publish("seo.x", {})
    for pattern in ("*", "seo.*", "new*"):
        with pytest.raises(AccessDeniedError):
            await crawler.list_events(pattern)
    with pytest.raises(AccessDeniedError):
        await crawler.subscribe("*", Subscriber(1))

    await client.contracts().apply("other", {"Memory": {}})
    with pytest.raises(AccessDeniedError, match="allowed: none"):
        await (await client.contract("other")).publish("news", {})


async def test_a_number_that_no_event_can_have_is_refused(crawler: ContractMemory) -> None:
    for after in (-1, 2**63):
        with pytest.raises(InvalidInputError, match="after: Input should be"):
            await crawler.list_events("news", after=after)


async def test_old_events_are_removed_by_later_ones_and_who_asks_for_them_is_refused(
    crawler: ContractMemory, admin_url: str, client: MnesticClient
) -> None:
    for n in range(3):
        await crawler.publish("news", {"n": n})
    with psycopg.connect(admin_url) as connection:
        connection.execute(
            "UPDATE mnestic.channel_event SET at = at - interval '31 days' WHERE tenant_id = %s AND number < 3",
            [client.settings.tenant_id],
        )

    await crawler.publish("news", {"n": 3})

    assert [event.number for event in await crawler.list_events("news")] == [3, 4]
    with pytest.raises(EventsTrimmedError, match="events 1 to 2 are trimmed"):
        await crawler.list_events("news", after=0)


async def test_a_subscription_of_a_name_has_again_what_its_handler_fails_at_first(
    crawler: ContractMemory, auditor: ContractMemory, admin_url: str
) -> None:
    running = asyncio.create_task(Subscriber(1, fails_at=1).run(auditor, name="audit"))
    await until_placed(admin_url, auditor, 0)
    await crawler.publish("seo.violation.title", {})
    first = await running

    then = await Subscriber(1).run(auditor, name="audit")

    assert (first, then) == ([], [1])


async def test_a_subscription_of_a_quiet_channel_moves_past_events_of_others(
    crawler: ContractMemory,
    auditor: ContractMemory,
    admin_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contract_memory, "_ADVANCES_S", 0.0)
    subscriber = Subscriber(1)
    running = asyncio.create_task(subscriber.run(auditor, name="audit", after=0))
    for _ in range(3):
        await crawler.publish("news", {})

    await until_placed(admin_url, auditor, 3)
    await crawler.publish("seo.violation.title", {})

    assert await running == [4]


async def until_placed(admin_url: str, memory: ContractMemory, number: int) -> None:
    """Waits until the subscription of the test has come so far."""
    query = "SELECT FROM mnestic.subscription WHERE tenant_id = %s AND number = %s"
    place = [memory._scope.caller.tenant_id, number]
    async with (
        asyncio.timeout(10),
        await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as connection,
    ):
        while True:
            found = await connection.execute(query, place)
            if found.rowcount:
                return
            await asyncio.sleep(0.1)


async def test_an_event_that_is_too_large_is_refused(crawler: ContractMemory) -> None:
    with pytest.raises(PayloadTooLargeError, match="the limit is 65536"):
        await crawler.publish("news", {"text": "x" * 65_536})


async def test_changes_of_an_agents_memory_are_channels_that_it_alone_reads(
    client: MnesticClient, crawler: ContractMemory, auditor: ContractMemory
) -> None:
    facts = client.memory("crawler").facts
    (added, *_) = await facts.add("Acme", "located_in", "Ghent")
    await facts.delete(added.fact.id)
    taken: list[ChannelEvent] = []

    async def take(event: ChannelEvent) -> None:
        taken.append(event)
        if event.channel == "memory.deleted":
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await crawler.subscribe("memory.*", take, name="changes", after=0)
    (stored,) = await crawler.list_events("memory.stored")

    assert [event.channel for event in taken] == ["memory.stored", "memory.deleted"]
    assert (stored.payload["ids"], stored.payload["subject"]) == ([added.fact.id], "Acme")
    assert await auditor.list_events("memory.*") == ()
    with pytest.raises(InvalidInputError, match=r"none of memory\.stored"):
        await crawler.list_events("memory.sold")
    with pytest.raises(AccessDeniedError, match="only to read it"):
        await crawler.publish("memory.stored", {})
