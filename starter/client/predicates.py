"""What holds for predicates, in a tenant: how many objects each has at a time, and its category."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from pydantic import ValidationError

from mnestic.activities.knowledge.settlement import settle_facts
from mnestic.memory.knowledge.claims import Cardinality
from mnestic.memory.knowledge.predicates import DEFAULTS, Category, Predicate, check_predicate
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
        """All predicates by name, and whether the tenant has said so, or a default holds."""
        async with self._transaction(EVERY_AGENT, write=False) as transaction:
            own = {one.name: one for one in await transaction.facts.list_predicates()}
        names = sorted({*DEFAULTS, *own})
        return tuple((own.get(name) or DEFAULTS[name], name in own) for name in names)

    async def set(
        self, name: str, *, cardinality: Cardinality | None = None, category: Category | None = None
    ) -> tuple[Predicate, int]:
        """Says what holds for a predicate, and works out anew the facts of all agents that use it.

        Each batch of facts is a transaction of its own. If it is stopped halfway, the same call goes
        on with what is left; a claim that comes meanwhile has its facts worked out by the new rule.

        Args:
            name: The predicate.
            cardinality: `single`: a new object takes the place of the last; else it stays as it is.
            category: Of its facts; else it stays as it is.

        Returns:
            The predicate, and how many facts are believed otherwise.

        Raises:
            InvalidInputError: the name is none, or there is no such cardinality or category.
        """
        check_predicate(name)
        said = {"cardinality": cardinality, "category": category}
        async with self._transaction(EVERY_AGENT, write=True) as transaction:
            before = (await transaction.facts.get_predicates({name}))[name]
            predicate = _changed(before, {k: v for k, v in said.items() if v is not None})
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
        InvalidInputError: one cannot have that value.
    """
    try:
        return Predicate.model_validate({**before.model_dump(), **changes})
    except ValidationError as error:
        raise refused("predicate", error) from None
