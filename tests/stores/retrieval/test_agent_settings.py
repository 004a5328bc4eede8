"""What is set for an agent at run time, in every implementation of `Memory`."""

from tests.stores.conftest import Begin


async def test_a_setting_is_read_as_it_was_put_last(begin: Begin) -> None:
    async with begin() as transaction:
        assert await transaction.settings.read() == {}
        await transaction.settings.put("auto_retrieve_enabled", False)
        await transaction.settings.put("policy", {"semantic": 0.5})
    async with begin() as transaction:
        await transaction.settings.put("auto_retrieve_enabled", None)

    async with begin(write=False) as transaction:
        assert await transaction.settings.read() == {
            "auto_retrieve_enabled": None,
            "policy": {"semantic": 0.5},
        }


async def test_a_setting_goes_back_to_its_default(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.settings.put("limit", 4)
        await transaction.settings.reset("limit")
        await transaction.settings.reset("never set")

    async with begin(write=False) as transaction:
        assert await transaction.settings.read() == {}


async def test_settings_are_of_one_agent(begin: Begin) -> None:
    async with begin(agent="ada") as transaction:
        await transaction.settings.put("limit", 4)

    async with begin(agent="bob", write=False) as transaction:
        assert await transaction.settings.read() == {}
