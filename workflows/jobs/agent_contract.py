"""The operations of the agent's contract, inside a workflow, as methods of `AgentMemory`."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.common import RetryPolicy

from mnestic.activities.jobs.contracts import ContractActivities, OperateInput, OperateResult
from mnestic.activities.operations import OperationInput
from mnestic.memory.jobs.contexts import PinnedEpisodes
from mnestic.memory.jobs.long_term.documents import Document
from mnestic.memory.jobs.long_term.filters import AllOf, AnyOf, FieldCondition, Not, QueryFilter
from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName
from mnestic.memory.jobs.short_term.segments import ContractRef
from mnestic.memory.jobs.working_memory import check_variable
from mnestic.memory.scope import Scope
from mnestic.memory.sharing.locks import Lock, under
from mnestic.workflows.calls import USUAL, WITH_MODEL, run_activity, run_local_first
from mnestic.workflows.jobs.agent_knowledge import AgentKnowledge
from mnestic.workflows.jobs.controls import JobControls
from mnestic.workflows.jobs.operation_keys import OperationKeys

_WITH_MODEL = frozenset({"embed", "search", "upsert", "lock", "query_graph"})


class AgentContract(AgentKnowledge):
    """What one job does with segments and schemas of its contract, of the version that its run keeps.

    What is read goes into a variable of working memory, as JSON; it does not travel through the workflow's history. Each
    operation fails with an `ActivityError` where the contract has no such segment or schema, or refuses what is written.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        keys: OperationKeys,
        controls: JobControls,
        contract: ContractRef | None,
    ) -> None:
        super().__init__(scope, keys=keys, controls=controls)
        self._contract = contract

    @property
    @abstractmethod
    def sealed_tail(self) -> PinnedEpisodes | None:
        """The snapshot whose episodes the job goes on with; None: the current ones."""

    @property
    def pinned_contract(self) -> dict[str, ContractRef]:
        """The contract as a member of inputs; nothing where there is none."""
        return {"contract": self._contract} if self._contract and self._contract.version else {}

    async def pin_contract(self) -> None:
        """Finds the contract in force, which counts until the workflow continues as new."""
        params = OperationInput(scope=self._scope, operation=self._keys.next("contract"))
        self._contract = await run_local_first(ContractActivities.pin_contract, params)

    async def operate(
        self,
        name: OperationName,
        arguments: Mapping[str, Any],
        *,
        save_as: str | None = None,
        templates: bool = False,
        results: Mapping[str, Any] | None = None,
        retry: RetryPolicy | None = None,
    ) -> OperateResult:
        """Does an operation by its name; `mnestic.memory.jobs.memory_operations` says what each takes and gives.

        The first one pins the contract, if nobody did. `templates` and `results` fill in the arguments, as in `remember`.
        """
        await self.until_unpaused()
        if self._contract is None:
            await self.pin_contract()
        params = OperateInput(
            scope=self._scope,
            operation=self._keys.next(name),
            name=name,
            arguments=dict(arguments),
            save_as=None if save_as is None else check_variable(save_as),
            templates=templates,
            results=dict(results or {}),
            sealed_tail=self.sealed_tail,
            **self.pinned_contract,
        )
        timeout = WITH_MODEL if name in _WITH_MODEL or OPERATIONS[name].of_session else USUAL
        return await run_activity(ContractActivities.operate, params, timeout=timeout, retry=retry)

    async def get_context(self, segment_id: str, *, save_as: str) -> OperateResult:
        """Reads what a segment of the session has, with its tokens."""
        return await self.operate("get_context", {"segment_id": segment_id}, save_as=save_as)

    async def set_context(self, segment_id: str, content: str) -> OperateResult:
        """Puts a text in the place of all that a segment has; what is too large is cut at a sentence."""
        return await self.operate("set_context", {"segment_id": segment_id, "content": content})

    async def summarize(self, segment_id: str, *, save_as: str | None = None) -> OperateResult:
        """Summarizes all texts of a segment but the newest, by the contract's strategy."""
        return await self.operate("summarize", {"segment_id": segment_id}, save_as=save_as)

    async def persist(
        self,
        schema_id: str,
        key: str,
        value: Any,
        *,
        metadata: dict[str, Any] | None = None,
        ttl: timedelta | None = None,
        expected_version: int | None = None,
    ) -> OperateResult:
        """Writes a record of a schema, which enters the job's read set."""
        arguments = {
            "schema_id": schema_id,
            "key": key,
            "value": value,
            "metadata": metadata,
            "ttl_seconds": None if ttl is None else ttl.total_seconds(),
            "expected_version": expected_version,
        }
        return await self.operate("persist", arguments)

    async def retrieve(self, schema_id: str, key: str, *, save_as: str) -> OperateResult:
        """Reads a record of a schema, as it is or as a wait has pinned it."""
        return await self.operate("retrieve", {"schema_id": schema_id, "key": key}, save_as=save_as)

    async def publish(self, channel: str, event: dict[str, Any]) -> OperateResult:
        """Publishes an event on a channel of the contract, once. Jobs that wait for it go on with it."""
        return await self.operate("publish", {"channel": channel, "event": event})

    async def get_shared(self, namespace: str, key: str, *, save_as: str) -> OperateResult:
        """Reads a shared record as it is now; it does not enter the job's read set."""
        named = {"namespace": namespace, "key": key}
        return await self.operate("get_shared", named, save_as=save_as)

    async def set_shared(
        self, namespace: str, key: str, value: Any, *, lock: Lock | None = None
    ) -> OperateResult:
        """Writes a shared record, under a lock if one is given; refused where another holds the lock, or this one has ended."""
        arguments = {"namespace": namespace, "key": key, "value": value}
        return await self.operate("set_shared", arguments | under(lock))

    async def lock(self, namespace: str, key: str, **timeout_ms: int) -> Lock:
        """Locks a key as the contract says, for its `lock_timeout_ms` or another `timeout_ms`; the same attempt takes no second lease."""
        named = {"namespace": namespace, "key": key}
        taken = (await self.operate("lock", named | timeout_ms)).lock
        assert taken is not None, "as the operation gives"
        return taken

    async def unlock(self, lock: Lock) -> OperateResult:
        """Ends a lock."""
        named = {"namespace": lock.namespace, "key": lock.key, "token": lock.token}
        return await self.operate("unlock", named)

    async def embed(self, text: str, *, save_as: str) -> OperateResult:
        """Makes the vector of a text by the model of the contract."""
        return await self.operate("embed", {"text": text}, save_as=save_as)

    async def search(
        self,
        query: str,
        collection: str,
        *,
        save_as: str,
        filter: FieldCondition | AllOf | AnyOf | Not | dict[str, Any] | None = None,  # noqa: A002 - the design's name
        top_k: int | None = None,
        similarity_threshold: float | None = None,
        rerank: bool | None = None,
    ) -> OperateResult:
        """Finds what is nearest to a query in a collection; what is left out is as the contract says."""
        arguments = {
            "query": query,
            "collection": collection,
            "filter": _as_json(filter),
            "top_k": top_k,
            "similarity_threshold": similarity_threshold,
            "rerank": rerank,
        }
        return await self.operate("search", arguments, save_as=save_as)

    async def upsert(self, collection: str, doc: Document | dict[str, Any]) -> OperateResult:
        """Writes a document with its vectors, in place of the one of its id."""
        return await self.operate("upsert", {"collection": collection, "doc": _as_json(doc)})

    async def delete_document(self, collection: str, document_id: str) -> OperateResult:
        """Deletes a document with all of its parts."""
        arguments = {"collection": collection, "document_id": document_id}
        return await self.operate("delete_document", arguments)

    async def query(
        self, schema_id: str, where: QueryFilter | dict[str, Any] | None = None, *, save_as: str
    ) -> OperateResult:
        """Finds records of a schema as they are now; all by default."""
        return await self.operate(
            "query", {"schema_id": schema_id, "filter": _as_json(where) or {}}, save_as=save_as
        )


def _as_json(value: Any) -> Any:
    """A model as JSON has it; other values as they are."""
    return value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value
