"""The API keys of a tenant: make, list and revoke them."""

import hmac
import secrets
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError

from mnestic.memory.access.api_keys import (
    Action,
    ApiKey,
    ApiKeyScope,
    IssuedKey,
    KeyName,
    check_actions,
    hash_key,
    read_key,
    write_key,
)
from mnestic.memory.access.audit import key_actor
from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import ChecksTexts

_SECRET_BYTES, _ID_BYTES = 32, 6
_REFUSED = "is missing, unknown, expired or revoked"


class ApiKeyClient(ChecksTexts):
    """The API keys of a tenant."""

    def __init__(self, memory: Memory, *, tenant_id: str, actor: str = "client") -> None:
        """Prepares the client.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._memory, self._tenant_id = memory, check_id(tenant_id, what="tenant")
        self._actor = actor

    async def create(
        self,
        *,
        agents: Sequence[str],
        actions: Sequence[Action],
        expires_in: timedelta | None = None,
    ) -> IssuedKey:
        """Makes a key. Only the hash of its text is stored, so nobody can show the text again.

        Args:
            agents: Ids of agents, or patterns of ids in which `*` stands for any characters.
            actions: One or more of `read`, `write`, `forget`, `jobs` and `admin`.
            expires_in: How long the key is valid; by default until it is revoked.

        Raises:
            InvalidInputError: a pattern or an action is none, or the time is not positive.
        """
        if expires_in is not None and expires_in <= timedelta():
            raise InvalidInputError(what="expires_in", why="is not positive")
        try:
            scope = ApiKeyScope(agents=tuple(agents), actions=check_actions(actions))
        except ValidationError as error:
            raise refused("scope", error) from None
        name = KeyName(self._tenant_id, secrets.token_hex(_ID_BYTES))
        text = write_key(name, secrets.token_urlsafe(_SECRET_BYTES))
        async with self._transaction(write=True) as transaction:
            now = await transaction.now()
            expires_at = None if expires_in is None else now + expires_in
            key = ApiKey(id=name.key_id, scope=scope, created_at=now, expires_at=expires_at)
            await transaction.api_keys.add(key, sha256=hash_key(text))
        return IssuedKey(key=key, text=text)

    async def list(
        self, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ApiKey, ...], str | None]:
        """Keys, the newest first, those that are no longer valid included, and the cursor of the next page.

        Raises:
            InvalidInputError: the cursor is of another list.
        """
        async with self._transaction(write=False) as transaction:
            return await transaction.api_keys.list(limit=limit, cursor=cursor)

    async def verify(self, text: str) -> ApiKey:
        """The key of a text, if it is a valid one of this tenant.

        Raises:
            UnauthenticatedError: the text is no key, or there is no such key, or it is expired or revoked.
        """
        name = read_key(text)
        if name.tenant_id != self._tenant_id:
            raise UnauthenticatedError(why=_REFUSED)
        state = "unknown"
        async with self._memory.transaction(
            tenant_id=self._tenant_id,
            agent_id=EVERY_AGENT,
            actor=key_actor(name.key_id),
            write=False,
        ) as transaction:
            stored = await transaction.api_keys.find(name.key_id)
            if stored is not None and hmac.compare_digest(stored.sha256, hash_key(text)):
                state = stored.key.state(datetime.now(UTC))
                if (
                    state != "valid"
                ):  # of an unknown key nothing is written, or anybody could fill the log
                    transaction.audit.deny("authenticate", "API key", reason=f"the key is {state}")
        if stored is None or state != "valid":
            raise UnauthenticatedError(why=_REFUSED)
        return stored.key

    async def revoke(self, key_id: str) -> ApiKey:
        """Revokes a key: the next request with it is refused. A second time, nothing changes.

        Raises:
            NotFoundError: there is no such key.
        """
        async with self._transaction(write=True) as transaction:
            return await transaction.api_keys.revoke(key_id)

    def _transaction(self, *, write: bool) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=EVERY_AGENT, actor=self._actor, write=write
        )
