"""`memory.readers`: who may read what is said in a session or a channel from now on."""

from collections.abc import Sequence

from pydantic import ValidationError

from mnestic.memory.sharing.readers import DefaultKind, ReaderDefault
from mnestic.memory.validation import refused
from mnestic.starter.client.client_scope import ClientPart


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
