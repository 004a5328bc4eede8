"""`memory.settings`: an agent's settings; get them, change them, reset them to their defaults."""

from typing import Unpack

from mnestic.memory.retrieval.agent_settings import (
    AgentSettings,
    changed_settings,
    check_language,
    check_names,
    settings_of,
)
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.client.keyword_arguments import SettingChanges


class SettingsClient(ClientPart):
    """The settings of one agent. A change holds from the next message on, in every process."""

    async def get(self) -> AgentSettings:
        """The settings in force.

        Raises:
            StoredValueError: what is stored cannot be read.
        """
        async with self._scope.transaction(write=False) as transaction:
            return settings_of(await transaction.settings.read())

    async def change(self, **changes: Unpack[SettingChanges]) -> AgentSettings:
        """Changes settings, all or none, by the names of `mnestic.memory.retrieval.agent_settings.AgentSettings`.

        Raises:
            InvalidInputError: there is no such setting, or it cannot have that value.
        """
        async with self._scope.transaction(write=True) as transaction:
            await transaction.settings.lock()
            now = settings_of(await transaction.settings.read())
            changed = changed_settings(now, changes)
            if "language" in changes:
                check_language(changed, await transaction.settings.list_languages())
            stored = changed.model_dump(mode="json")
            for name in changes:
                await transaction.settings.put(name, stored[name])
            return changed

    async def reset(self, *names: str) -> AgentSettings:
        """Takes settings back to their defaults; returns those in force then.

        Raises:
            InvalidInputError: there is no such setting.
        """
        check_names(names)
        async with self._scope.transaction(write=True) as transaction:
            for name in names:
                await transaction.settings.reset(name)
            return settings_of(await transaction.settings.read())
