"""The predicates of a tenant: the cardinality and category of each."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from pydantic import ValidationError

from mnestic.activities.knowledge.settlement import settle_facts
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.knowledge.predicates import (
    Category,
    Predicate,
    check_predicate,
    default_predicate,
    default_predicates,
)
from mnestic.memory.ports import Memory, Transaction
from mnestic.memory.scope import EVERY_AGENT, check_id
from mnestic.memory.validation import refused
from mnestic.starter.checked_texts import ChecksTexts


class PredicateClient(ChecksTexts):
    """The predicates of a tenant."""

    def __init__(self, memory: Memory, *, tenant_id: str) -> None:
        """Prepares the client.

        Raises:
            InvalidInputError: the tenant is no id.
        """
        self._memory, self._tenant_id = memory, check_id(tenant_id, what="tenant")

    async def list(self) -> tuple[tuple[Predicate, bool], ...]:
        """All predicates by name, and whether the tenant has changed each of them."""
        async with self._transaction(EVERY_AGENT, write=False) as transaction:
            changed_by_tenant = {
                predicate.name: predicate for predicate in await transaction.facts.list_predicates()
            }
        names = sorted({*default_predicates().by_name, *changed_by_tenant})
        return tuple(
            (changed_by_tenant.get(name) or default_predicate(name), name in changed_by_tenant)
            for name in names
        )

    async def set(
        self, name: str, *, cardinality: Cardinality | None = None, category: Category | None = None
    ) -> tuple[Predicate, int]:
        """Changes a predicate, and recomputes the facts of all agents that use it.

        Each batch of facts is a transaction of its own. If it is interrupted, the same call continues
        with the rest; facts from claims that arrive meanwhile follow the new rule.

        Args:
            name: The predicate.
            cardinality: With `single`, a new object supersedes the last; unchanged by default.
            category: The category of its facts; unchanged by default.

        Returns:
            The predicate, and how many facts changed.

        Raises:
            InvalidInputError: the name is malformed, or there is no such cardinality or category.
        """
        check_predicate(name)
        changes = {"cardinality": cardinality, "category": category}
        async with self._transaction(EVERY_AGENT, write=True) as transaction:
            before = (await transaction.facts.get_predicates({name}))[name]
            predicate = _changed(before, {k: v for k, v in changes.items() if v is not None})
            await transaction.facts.set_predicate(predicate)
        return predicate, await settle_facts(self._transaction, name)

    def _transaction(
        self, agent_id: str, *, write: bool
    ) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.transaction(
            tenant_id=self._tenant_id, agent_id=agent_id, actor="client", write=write
        )


def _changed(before: Predicate, changes: Mapping[str, Any]) -> Predicate:
    """The predicate with some fields changed.

    Raises:
        InvalidInputError: a field has an invalid value.
    """
    try:
        return Predicate.model_validate({**before.model_dump(), **changes})
    except ValidationError as error:
        raise refused("predicate", error) from None
