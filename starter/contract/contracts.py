"""The contracts of a tenant: apply, show, compare and take back what an agent's memory is.

A contract may be for many: its selector is an agent's id, or a pattern such as `agent.seo.*`.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from pydantic import SecretStr

from mnestic.memory.canonical import canonical_json, sha256_hex
from mnestic.memory.contract.checks import parse
from mnestic.memory.contract.differences import Change, consequences, differences
from mnestic.memory.contract.document import MemoryContract
from mnestic.memory.contract.variables import filled
from mnestic.memory.contract.versions import ContractPreview, ContractVersion
from mnestic.memory.errors import (
    ConfigurationError,
    InvalidInputError,
    NotFoundError,
    StaleVersionError,
    UnavailableError,
)
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.memory.selectors import check_selector
from mnestic.starter.checked_texts import ChecksTexts
from mnestic.starter.contract.record_backends import OpenBackends
from mnestic.stores.postgres.jobs.record_indexes import index_records

log = logging.getLogger("mnestic.contracts")
_NOTHING: dict[str, Any] = {"Memory": {}}


class ContractsClient(ChecksTexts):
    """The contracts of a tenant, by selector. Each that is applied is a new version; none is ever changed."""

    def __init__(
        self,
        memory: Memory,
        *,
        tenant_id: str,
        actor: str = "client",
        environment: Mapping[str, str] = os.environ,
        admin_url: SecretStr | None = None,
    ) -> None:
        """Prepares the client.

        Args:
            memory: The memory of all tenants.
            tenant_id: The tenant.
            actor: Who reads and applies, for the audit log.
            environment: What `${NAME}` in a document stands for.
            admin_url: Of the owner of the tables, who builds the indexes that schemas name; without it, the night does.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._memory, self._tenant_id = memory, check_id(tenant_id, what="tenant")
        self._actor, self._environment, self._admin_url = actor, environment, admin_url

    async def preview(self, selector: str, document: Mapping[str, Any]) -> ContractPreview:
        """What a document would change, and what it would drop or refuse; nothing is changed.

        Raises:
            InvalidInputError: the selector is neither an agent's id nor a pattern.
            InvalidContractError: lists every problem of the document.
        """
        check_selector(selector, what="selector")
        contract = parse(document)
        async with self._transaction(write=False) as transaction:
            current = await transaction.contracts.find(selector)
        before = _contract(current)
        return ContractPreview(
            selector=selector,
            base_version=current.version if current else 0,
            changes=differences(before, contract),
            consequences=consequences(before, contract),
        )

    async def apply(
        self,
        selector: str,
        document: Mapping[str, Any],
        *,
        expected_version: int | None = None,
    ) -> ContractVersion:
        """Makes a document the contract of an agent, or of all agents that a pattern matches.

        The same document again changes nothing. It is stored with its `${NAME}`, which have to be set in the environment.

        Args:
            selector: An agent's id, or a pattern of ids in which `*` stands for any characters.
            document: The contract: an object with the one key `Memory`.
            expected_version: The version that it follows, 0 for the first; by default whichever there is.

        Raises:
            InvalidInputError: the selector is neither an agent's id nor a pattern.
            InvalidContractError: lists every problem of the document.
            ConfigurationError: names variables that are not set, or a backend whose address is malformed.
            BackendUnavailableError: names a backend that does not answer; nothing is applied.
            StaleVersionError: another version was applied meanwhile.
        """
        check_selector(selector, what="selector")
        contract = parse(document)
        filled(document, self._environment)  # what is not set is named now, not when it is needed
        await self._prepare_backends(contract)
        applied = await self._add(selector, dict(document), expected_version=expected_version)
        await self._build_indexes()
        return applied

    async def remove(self, selector: str) -> ContractVersion:
        """Takes a contract away, as a last version without a document; its earlier versions stay.

        Raises:
            NotFoundError: there is none in force.
        """
        await self.get(selector)
        return await self._add(selector, None, expected_version=None)

    async def rollback(self, selector: str, version: int) -> ContractVersion:
        """Applies an earlier version again, as a new one.

        Raises:
            NotFoundError: there is no such version.
            InvalidInputError: it is the one that took the contract away.
            InvalidContractError: this version of Mnestic refuses it.
            ConfigurationError: names variables that are not set.
        """
        return await self.apply(selector, await self.earlier_document(selector, version))

    async def earlier_document(self, selector: str, version: int) -> dict[str, Any]:
        """The document of a version, for its preview or to apply it again.

        Raises:
            NotFoundError: there is no such version.
            InvalidInputError: it is the one that took the contract away.
        """
        earlier = await self._find(selector, version=version)
        if earlier.document is None:
            why = "has no document: it took the contract away; to do so again, remove the contract"
            raise InvalidInputError(what=f"contract {selector} version {version}", why=why)
        return earlier.document

    async def get(self, selector: str, *, version: int | None = None) -> ContractVersion:
        """The contract of a selector in force, or one of its versions.

        Raises:
            NotFoundError: there is none.
        """
        found = await self._find(selector, version=version)
        if version is None and found.document is None:
            raise NotFoundError(what="contract", name=selector)
        return found

    async def find_for(self, agent_id: str) -> ContractVersion | None:
        """The contract in force for an agent, or None: its own one, or that of the most specific pattern.

        Raises:
            InvalidInputError: it is no id of an agent.
        """
        check_id(agent_id, what="agent")
        async with self._transaction(write=False, agent_id=agent_id) as transaction:
            return await transaction.contracts.find_for(agent_id)

    async def list(self) -> tuple[ContractVersion, ...]:
        """The contracts in force, by selector."""
        async with self._transaction(write=False) as transaction:
            return await transaction.contracts.list_current()

    async def history(
        self, selector: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ContractVersion, ...], str | None]:
        """The versions of a contract, the latest first, and the cursor of the next page.

        Raises:
            NotFoundError: there is no contract of that selector.
            InvalidInputError: the cursor is of another list.
        """
        async with self._transaction(write=False) as transaction:
            listed = await transaction.contracts.list_versions(selector, limit=limit, cursor=cursor)
        if not listed[0]:
            await self._find(selector, version=None)
        return listed

    async def diff(
        self, selector: str, *, before: int, after: int | None = None
    ) -> tuple[Change, ...]:
        """What changed from one version of a contract to another, by default to the latest.

        Raises:
            NotFoundError: there is no such version.
        """
        first = await self._find(selector, version=before)
        second = await self._find(selector, version=after)
        return differences(_contract(first), _contract(second))

    async def _find(self, selector: str, *, version: int | None) -> ContractVersion:
        check_selector(selector, what="selector")
        async with self._transaction(write=False) as transaction:
            found = await transaction.contracts.find(selector, version=version)
        if found is None:
            name = selector if version is None else f"{selector} version {version}"
            raise NotFoundError(what="contract", name=name)
        return found

    async def _add(
        self, selector: str, document: dict[str, Any] | None, *, expected_version: int | None
    ) -> ContractVersion:
        async with self._transaction(write=True) as transaction:
            await transaction.contracts.lock(selector)
            current = await transaction.contracts.find(selector)
            version = current.version if current else 0
            if expected_version is not None and expected_version != version:
                raise StaleVersionError(
                    what=f"contract {selector}",
                    expected=expected_version,
                    stored_version=version,
                    stored=current,
                )
            digest = sha256_hex(canonical_json(document))
            if current is not None and current.sha256 == digest:
                return current
            added = await transaction.contracts.add(
                selector, document, sha256=digest, applied_by=self._actor
            )
            shared = _contract(added).Memory.shared
            await transaction.shared_memory.replace_grants(
                selector,
                {
                    (one.namespace, allowed, one.access_level)
                    for one in shared.namespaces
                    if shared.enabled
                    for allowed in one.agents_allowed
                },
            )
            before, after = (_contract(one).Memory.long_term for one in (current, added))
            if moved := dict(before.remote_schemas.items() ^ after.remote_schemas.items()):
                await transaction.records.send_again(moved, of_all_agents=True)
            for schema in after.schemas:
                if schema.ttl_days:
                    ttl = timedelta(days=schema.ttl_days)
                    await transaction.records.expire(selector, schema.schema_id, ttl=ttl)
            return added

    async def _prepare_backends(self, contract: MemoryContract) -> None:
        backends = OpenBackends(self._environment)
        try:
            for backend in contract.Memory.long_term.remote_backends:
                await (await backends.open(backend)).prepare()
        finally:
            await backends.close()

    async def _build_indexes(self) -> None:
        if self._admin_url is None:
            return
        try:
            await asyncio.to_thread(
                index_records, self._admin_url.get_secret_value(), self._tenant_id
            )
        except (ConfigurationError, UnavailableError) as error:
            log.warning("the night builds the indexes of records", extra={"why": str(error)})

    def _transaction(
        self, *, write: bool, agent_id: str = EVERY_AGENT
    ) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=agent_id, actor=self._actor, write=write
        )


def _contract(version: ContractVersion | None) -> MemoryContract:
    """The document of a version; without one, that of which nothing is enabled."""
    document = version.document if version else None
    return MemoryContract.model_validate(document or _NOTHING)
