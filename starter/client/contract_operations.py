"""The operations of an agent's contract by name, for the ways in that get name and arguments from others."""

from typing import Any

from pydantic import BaseModel

from mnestic.memory.access.audit import refusal
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.jobs.memory_operations import OperationName, access_of
from mnestic.starter.client.client_scope import ClientPart


class OperationClient(ClientPart, unchecked=("do", "note_malformed")):
    """The operations of one agent. Each leaves one row in the audit log, whatever refuses it."""

    async def do(
        self, name: OperationName, arguments: dict[str, Any], *, session_id: str | None = None
    ) -> BaseModel:
        """Does an operation of the contract in force, as `ContractMemory.operate` does.

        Raises:
            NotFoundError: no contract is in force for the agent, or what the operation names is not there.
            InvalidInputError: an argument is invalid, or there is no such segment or schema.
            KeptOutError: it speaks of what was forgotten and is kept out.
        """
        from mnestic.starter.client.contract_memory import (  # noqa: PLC0415 - who only searches needs no contract
            open_contract,
        )

        access = access_of(name, arguments, session_id=session_id)
        contract = await open_contract(self._scope, session_id=session_id, of=access)
        return await contract.operate(name, arguments)

    async def note_malformed(
        self, name: OperationName, arguments: Any, *, session_id: str | None = None
    ) -> None:
        """Notes in the audit log that an operation was refused for the form of its arguments."""
        async with self._scope.transaction(write=False) as transaction:
            transaction.audit.attempt(*access_of(name, arguments, session_id=session_id))
            transaction.audit.complete(reason=refusal(InvalidInputError))
