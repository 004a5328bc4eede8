"""The memory of one agent by its contract: the operations of the document, each done by the part of memory that has it.

It stands apart from the memory client because what it takes are the names of the contract: segments and schemas.
"""

from datetime import timedelta
from typing import Any

from mnestic.memory.contract.document import MemoryContract, MemorySections
from mnestic.memory.contract.versions import ContractVersion
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.long_term.filters import QueryFilter
from mnestic.memory.jobs.long_term.records import LongTermRecord
from mnestic.memory.jobs.short_term.segments import SegmentContext
from mnestic.starter.checked_texts import ChecksTexts, FreeText
from mnestic.starter.client.memory_client import MemoryClient


class ContractMemory(ChecksTexts):
    """The memory of one agent, as the contract says that was in force when this was made."""

    def __init__(
        self, memory: MemoryClient, contract: ContractVersion, *, session_id: str | None = None
    ) -> None:
        """Prepares it.

        Args:
            memory: The agent's memory.
            contract: The contract in force for the agent.
            session_id: The session whose segments `get_context`, `set_context` and `summarize` are about.
        """
        self._memory, self._contract, self._session_id = memory, contract, session_id
        self._config = MemoryContract.model_validate(contract.document).Memory

    @property
    def config(self) -> MemorySections:
        """What the contract says, with `${NAME}` for what the environment fills in."""
        return self._config

    async def get_context(self, segment_id: str) -> SegmentContext:
        """What a segment of the session has, with its tokens.

        Raises:
            InvalidInputError: there is no such segment, or no session.
        """
        return await self._memory.working_memory.get_context(self._session(), segment_id)

    async def set_context(self, segment_id: str, content: FreeText) -> SegmentContext:
        """Puts a text in the place of all that a segment has; what is too large is cut at a sentence.

        Raises:
            InvalidInputError: there is no such segment, no session, or what stays in others leaves no room.
            KeptOutError: the text speaks of what was forgotten and is kept out.
        """
        return await self._memory.working_memory.set_context(self._session(), segment_id, content)

    async def summarize(self, segment_id: str) -> str:
        """Summarizes all texts of a segment but the newest; returns what the segment has then.

        Raises:
            InvalidInputError: there is no such segment, or no session.
        """
        return await self._memory.working_memory.summarize(self._session(), segment_id)

    async def persist(
        self,
        schema_id: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
    ) -> LongTermRecord:
        """Writes a record of a schema.

        Raises:
            InvalidInputError: there is no such schema, or the value does not fit it.
            StaleVersionError: the record has another version; holds what is stored.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        return await self._memory.records.set(
            self._schema(schema_id),
            key,
            value,
            metadata=metadata,
            ttl=ttl,
            expected_version=expected_version,
        )

    async def retrieve(self, schema_id: str, key: str) -> Any:
        """The value of a record of a schema.

        Raises:
            InvalidInputError: there is no such schema.
            NotFoundError: there is no such record, or it has expired.
        """
        return (await self._memory.records.get(self._schema(schema_id), key)).value

    async def query(
        self, schema_id: str, where: QueryFilter | dict[str, Any] | None = None
    ) -> tuple[tuple[LongTermRecord, ...], str | None]:
        """The records of a schema that pass a filter, in its order, and the cursor of the next page.

        Args:
            schema_id: The schema.
            where: As `mnestic.memory.jobs.long_term.filters.QueryFilter`; all records by default.

        Raises:
            InvalidInputError: there is no such schema, or the filter is invalid.
        """
        return await self._memory.records.query(self._schema(schema_id), where)

    def _session(self) -> str:
        if self._session_id is None:
            raise InvalidInputError(what="session", why="is not named; give session_id")
        return self._session_id

    def _schema(self, schema_id: str) -> str:
        """The namespace of a schema's records, which is its id."""
        long_term = self._config.long_term
        names = [schema.schema_id for schema in long_term.schemas] if long_term.enabled else []
        if schema_id not in names:
            where = f"contract {self._contract.selector} version {self._contract.version}"
            there = ", ".join(names) or "none"
            why = f"{schema_id!r} is not in {where}; there are {there}"
            raise InvalidInputError(what="schema", why=why)
        return schema_id
