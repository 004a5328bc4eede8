"""The port of the store of contracts, which works in the transaction that it came from, for its tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who implements or uses the port loads no model
    from mnestic.memory.contract.versions import ContractVersion


class ContractStore(Protocol):
    """The versions of a tenant's contracts, append-only."""

    async def lock(self, selector: str) -> None:
        """Locks the contract of a selector until the transaction ends."""
        ...

    async def find(self, selector: str, *, version: int | None = None) -> ContractVersion | None:
        """A version of the contract of a selector, by default the latest, or None."""
        ...

    async def find_for(self, agent_id: str) -> ContractVersion | None:
        """The contract in force for an agent: that of the selector that wins for it, or None."""
        ...

    async def list_current(self) -> tuple[ContractVersion, ...]:
        """The contracts in force, by selector."""
        ...

    async def list_versions(
        self, selector: str, *, limit: int = 100, cursor: str | None = None
    ) -> tuple[tuple[ContractVersion, ...], str | None]:
        """The versions of a contract, the latest first, and the cursor of the next page."""
        ...

    async def add(
        self, selector: str, document: dict[str, Any] | None, *, sha256: str, applied_by: str
    ) -> ContractVersion:
        """Adds the next version; None takes the contract away."""
        ...
