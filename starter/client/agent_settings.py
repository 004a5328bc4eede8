"""`memory.settings` and `memory.readers`: an agent's settings, and who may read what is said to it from now on."""

from collections.abc import Sequence
from typing import Unpack

from pydantic import ValidationError

from mnestic.memory.retrieval.agent_settings import (
    AgentSettings,
    changed_settings,
    check_language,
    check_names,
    settings_of,
)
from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault
from mnestic.memory.validation import refused
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


class ReaderClient(ClientPart):
    """The readers of an agent's sessions and channels; a message with `readers` of its own has those."""

    async def set(self, kind: DefaultKind, name: str, readers: Sequence[str]) -> ReaderDefault:
        """Sets the readers of what is said in a session or a channel from now on; those of a session come before a channel's.

        Args:
            kind: `session` or `channel`.
            name: Its id or name.
            readers: Ids and patterns such as `user.anna` and `user.sales.*`, 1 to 50.

        Raises:
            InvalidInputError: the name or a reader is invalid.
        """
        given = {"kind": kind, "name": name, "readers": readers}
        try:
            default = ReaderDefault.model_validate(given)
        except ValidationError as error:
            raise refused("readers", error, model=ReaderDefault) from None
        async with self._scope.transaction(write=True) as transaction:
            await transaction.reader_defaults.set(default)
        return default

    async def remove(self, kind: DefaultKind, name: str) -> None:
        """Has everybody read what is said in a session or a channel from now on; what was said before keeps its readers."""
        async with self._scope.transaction(write=True) as transaction:
            await transaction.reader_defaults.remove(kind, name)

    async def list(self) -> tuple[ReaderDefault, ...]:
        """The readers of all sessions and channels that have some."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.reader_defaults.list_defaults()
