"""An agent's settings from outside a job: read them, change them, take them back to their defaults."""

from typing import Unpack

from mnestic.memory.retrieval.agent_settings import (
    AgentSettings,
    changed_settings,
    check_language,
    check_names,
    settings_of,
)
from mnestic.memory.retrieval.retrieval_log import StoredLogEntry
from mnestic.starter.client.entries import EntryClient
from mnestic.starter.client.keyword_arguments import SettingChanges


class SettingsClient(EntryClient):
    """What is set for one agent. A change holds from the next message on, in every process."""

    async def settings(self) -> AgentSettings:
        """The settings in force.

        Raises:
            StoredValueError: what is stored cannot be read.
        """
        async with self._transaction(write=False) as transaction:
            return settings_of(await transaction.settings.read())

    async def change_settings(self, **changes: Unpack[SettingChanges]) -> AgentSettings:
        """Changes settings, all or none, by the names of `memory.agent_settings.AgentSettings`.

        Raises:
            InvalidInputError: there is no such setting, or it cannot have that value.
        """
        async with self._transaction(write=True) as transaction:
            now = settings_of(await transaction.settings.read())
            changed = changed_settings(now, changes)
            if "language" in changes:
                check_language(changed, await transaction.settings.list_languages())
            stored = changed.model_dump(mode="json")
            for name in changes:
                await transaction.settings.put(name, stored[name])
            return changed

    async def reset_settings(self, *names: str) -> AgentSettings:
        """Takes settings back to their defaults; returns those in force then.

        Raises:
            InvalidInputError: there is no such setting.
        """
        check_names(names)
        async with self._transaction(write=True) as transaction:
            for name in names:
                await transaction.settings.reset(name)
            return settings_of(await transaction.settings.read())

    async def list_retrievals(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[StoredLogEntry, ...], str | None]:
        """What was put before messages, the latest first, and the cursor of the next page."""
        async with self._transaction(write=False) as transaction:
            return await transaction.retrieval_log.list_entries(limit=limit, cursor=cursor)
