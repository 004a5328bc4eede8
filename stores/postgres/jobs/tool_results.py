"""Large results of tools in Postgres: canonical JSON beside its hash."""

import json
from typing import Any

from mnestic.memory.canonical import sha256_hex, storable_json
from mnestic.memory.errors import AlreadyExistsError, NotFoundError, StoredValueError
from mnestic.memory.jobs.tool_results import ToolResultRef
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.unit_of_work import UnitOfWork

_PUT, _GET = read_query("tool_results.put"), read_query("tool_results.get")


class PostgresToolResultStore:
    """Implements `mnestic.memory.jobs.ports.ToolResultStore`."""

    def __init__(self, unit: UnitOfWork) -> None:
        self._unit = unit

    async def put(self, result_id: str, result: Any, *, job_id: str, node: str) -> ToolResultRef:
        """See the port."""
        body = storable_json(result, what="result")
        ref = ToolResultRef(ref=result_id, sha256=sha256_hex(body), size_bytes=len(body))
        columns = {"sha256": ref.sha256, "size_bytes": ref.size_bytes, "body": body}
        if not await self._unit.write(_PUT, id=ref.ref, job_id=job_id, node=node, **columns):
            raise AlreadyExistsError(what="tool result", name=result_id)
        self._unit.wrote("tool_result.put", result_id)
        return ref

    async def get(self, ref: ToolResultRef) -> Any:
        """See the port."""
        row = await self._unit.fetch_one(_GET, id=ref.ref)
        if row is None:
            raise NotFoundError(what="tool result", name=ref.ref)
        self._unit.read("tool_result.get", ref.ref)
        what = f"tool result {ref.ref}"
        found = sha256_hex(row.body)
        if found != ref.sha256:
            why = f"its sha256 is {found}, it was written as {ref.sha256}"
            raise StoredValueError(what=what, why=why)
        return json.loads(row.body)
