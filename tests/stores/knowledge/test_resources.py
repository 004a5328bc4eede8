"""Raw messages, in every implementation of `Memory`."""

from collections.abc import Callable

from tests.stores.conftest import NOON, Begin
from tests.stores.entry_samples import message


async def test_messages_come_back_in_the_order_of_their_time(begin: Begin) -> None:
    spoken = [message(3), message(1, content="Grüße 🙂\n"), message(2, at=NOON)]

    async with begin() as transaction:
        added = await transaction.resources.append(spoken)

    async with begin(write=False) as transaction:
        found, cursor = await transaction.resources.list_by_session("s1")
    assert (added, cursor) == (3, None)
    assert found == (spoken[2], spoken[1], spoken[0])


async def test_a_message_that_came_before_is_not_kept_again(
    begin: Begin, trail: Callable[[], list[tuple[str, str]]]
) -> None:
    async with begin() as transaction:
        nothing = await transaction.resources.append([])
    before = trail()
    async with begin() as transaction:
        first = await transaction.resources.append([message(1), message(2), message(1)])
    async with begin() as transaction:
        again = await transaction.resources.append([message(2, content="changed"), message(3)])
        other = await transaction.resources.append([message(1, session_id="s2")])

    async with begin(write=False) as transaction:
        found, _ = await transaction.resources.list_by_session("s1")
    assert (nothing, before) == (0, [])
    assert (first, again, other) == (2, 1, 1)
    assert found == (message(1), message(2), message(3))
