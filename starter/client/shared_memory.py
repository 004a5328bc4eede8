"""Shared memory of an agent by its contract: records of namespaces, their grants, and locks."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Generator
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName
from mnestic.memory.sharing.locks import Lock, under
from mnestic.memory.sharing.namespaces import AccessLevel, NamespaceGrant, SharedRecord
from mnestic.memory.sharing.shared_operations import GrantList, Removed, SharedRecordPage
from mnestic.starter.checked_texts import ChecksTexts

Result = TypeVar("Result", bound=BaseModel)


class SharedMemory(ChecksTexts, unchecked=OPERATIONS):
    """What agents share. Each call is a transaction of its own, and refused with `AccessDeniedError` without a grant for it."""

    @abstractmethod
    async def _do(
        self, name: OperationName, result_type: type[Result], **arguments: Any
    ) -> Result: ...

    async def get_shared(self, namespace: str, key: str) -> SharedRecord:
        """A shared record.

        Raises:
            AccessDeniedError: the agent may not read the namespace.
            NotFoundError: there is no such record, or it has expired.
        """
        return await self._do("get_shared", SharedRecord, namespace=namespace, key=key)

    async def set_shared(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> SharedRecord:
        """Writes a shared record, whose owner the agent is then.

        Args:
            namespace: The namespace. If the agent's contract has a schema of that name, the value has to fit it.
            key: The key of the record.
            value: Any JSON value but null.
            metadata: What is known beside the value.
            ttl: How long it lives; for ever by default.
            expected_version: The version that the write follows; 0 for a new record.
            token: That of the lock under which it is written.

        Raises:
            AccessDeniedError: the agent may not write in the namespace.
            LockedError: another holds the lock of the key.
            LockLostError: the lock of the token has ended.
            StaleVersionError: the record has another version.
            InvalidInputError: the value cannot be stored, or does not fit the schema.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        return await self._do(
            "set_shared",
            SharedRecord,
            namespace=namespace,
            key=key,
            value=value,
            metadata=metadata,
            ttl_seconds=seconds_of(ttl),
            expected_version=expected_version,
            token=token,
        )

    async def delete_shared(
        self,
        namespace: str,
        key: str,
        *,
        expected_version: int | None = None,
        token: int | None = None,
    ) -> None:
        """Deletes a shared record.

        Raises:
            NotFoundError: there is none.
            AccessDeniedError: as `set_shared`, and LockedError, LockLostError, StaleVersionError.
        """
        write = {"expected_version": expected_version, "token": token}
        await self._do("delete_shared", Removed, namespace=namespace, key=key, **write)

    async def list_shared(
        self, namespace: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[SharedRecord, ...], str | None]:
        """Shared records in the order of their keys, and the cursor of the next page.

        Raises:
            AccessDeniedError: the agent may not read the namespace.
        """
        page = {"limit": limit, "cursor": cursor}
        found = await self._do("list_shared", SharedRecordPage, namespace=namespace, **page)
        return found.records, found.next_cursor

    def lock(self, namespace: str, key: str, **timeout_ms: int) -> "LockRequest":
        """Locks a key, by the strategy of the contract: `async with memory.lock(…) as lock`, or `lock = await memory.lock(…)`.

        Args:
            namespace: The namespace.
            key: The key, with or without a record.
            **timeout_ms: `timeout_ms`: the milliseconds after which the lock ends by itself, 1 to 600,000; by default
                `lock_timeout_ms` of the contract.

        Raises:
            AccessDeniedError: the agent may not write in the namespace.
            LockedError: another holds the lock, after `retry_count` further attempts.
            InvalidInputError: the timeout is none of these.
        """

        async def take() -> HeldLock:
            found = await self._do("lock", Lock, namespace=namespace, key=key, **timeout_ms)
            return HeldLock(self, found)

        return LockRequest(take)

    async def unlock(self, lock: Lock) -> bool:
        """Ends a lock; returns whether it was held still."""
        named = {"namespace": lock.namespace, "key": lock.key, "token": lock.token}
        return bool((await self._do("unlock", Removed, **named)).count)

    async def grant(self, namespace: str, selector: str, level: AccessLevel) -> NamespaceGrant:
        """Gives agents a level in a namespace: `read`, `write` or `admin`, of which each includes the former.

        Raises:
            AccessDeniedError: the agent is no admin of the namespace.
        """
        named = {"namespace": namespace, "selector": selector, "level": level}
        return await self._do("grant", NamespaceGrant, **named)

    async def revoke(self, namespace: str, selector: str) -> int:
        """Takes all grants of a selector away, those of contracts until their next version; returns how many there were.

        Raises:
            AccessDeniedError: the agent is no admin of the namespace.
        """
        return (await self._do("revoke", Removed, namespace=namespace, selector=selector)).count

    async def list_grants(self, namespace: str | None = None) -> tuple[NamespaceGrant, ...]:
        """The grants of a namespace, or of all that the agent may read.

        Raises:
            AccessDeniedError: the agent may not read the namespace.
        """
        return (await self._do("list_grants", GrantList, namespace=namespace)).grants

    async def drop_namespace(self, namespace: str) -> int:
        """Removes the records and the grants of a namespace; returns how many records there were.

        Raises:
            AccessDeniedError: the agent is no admin of the namespace.
            LockedError: one of its keys is locked.
        """
        return (await self._do("drop_namespace", Removed, namespace=namespace)).count


def seconds_of(ttl: timedelta | None) -> float | None:
    """A time to live in seconds.

    Raises:
        InvalidInputError: it is none.
    """
    if ttl is None or isinstance(ttl, timedelta):
        return None if ttl is None else ttl.total_seconds()
    raise InvalidInputError(what="ttl", why=f"is {ttl!r:.140}; give a timedelta")


class HeldLock:
    """A lock that an agent holds, with the writes under it. `lock` says what it is."""

    def __init__(self, memory: SharedMemory, lock: Lock) -> None:
        self._memory, self.lock = memory, lock

    async def set(self, value: Any, **fields: Any) -> SharedRecord:
        """Writes the record of the key under the lock, as `set_shared` does."""
        namespace, key = self.lock.namespace, self.lock.key
        written = await self._memory.set_shared(
            namespace, key, value, **{**under(self.lock), **fields}
        )
        if self.lock.version is not None:  # what is written next follows this
            self.lock = self.lock.model_copy(update={"version": written.version})
        return written

    async def release(self) -> bool:
        """Ends the lock; returns whether it was held still."""
        return await self._memory.unlock(self.lock)


class LockRequest:
    """A lock that is about to be taken."""

    def __init__(self, take: Callable[[], Awaitable[HeldLock]]) -> None:
        self._take = take
        self._held: HeldLock | None = None

    def __await__(self) -> Generator[Any, None, HeldLock]:
        """Takes the lock."""
        return self._take().__await__()

    async def __aenter__(self) -> HeldLock:
        """Takes the lock, for a block."""
        self._held = await self._take()
        return self._held

    async def __aexit__(self, *raised: object) -> None:
        """Ends it."""
        assert self._held is not None, "it was taken"
        await self._held.release()
