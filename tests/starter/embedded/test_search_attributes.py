"""Search attributes are registered where they are missing, and a clash is told, not overwritten."""

from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from mnestic.memory.errors import (
    ConfigurationError,
    SearchAttributesMissingError,
    TemporalUnavailableError,
)
from mnestic.starter.embedded.search_attributes import (
    ensure_search_attributes,
    missing_search_attributes,
)
from mnestic.starter.embedded.state import RuntimeState
from mnestic.starter.rpc import rpc_errors


@pytest.fixture
async def bare(servers: RuntimeState, request: pytest.FixtureRequest) -> Client:
    """A client of a namespace in which nobody has registered anything."""
    client = await Client.connect(
        str(servers.temporal_address), namespace=request.node.name.replace("_", "-")
    )
    day = Duration()
    day.FromTimedelta(timedelta(days=1))
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=client.namespace, workflow_execution_retention_period=day
        )
    )
    return client


async def test_missing_search_attributes_are_an_error_with_the_remedy(bare: Client) -> None:
    tenant = SearchAttributePair(SearchAttributeKey.for_keyword("TenantId"), "a")

    async def start() -> None:
        of_tenant = TypedSearchAttributes([tenant])
        await bare.start_workflow("Job", id="j", task_queue="q", search_attributes=of_tenant)

    async def count() -> None:
        await bare.count_workflows("TenantId = 'a'")

    for call in (start, count):
        with (
            pytest.raises(SearchAttributesMissingError, match="run `mnestic migrate`"),
            rpc_errors("there", job_id="j"),
        ):
            await call()

    await ensure_search_attributes(bare)
    await start()


async def test_one_with_another_type_is_named(bare: Client) -> None:
    wrong = {"JobState": IndexedValueType.INDEXED_VALUE_TYPE_INT}
    await bare.operator_service.add_search_attributes(
        AddSearchAttributesRequest(search_attributes=wrong, namespace=bare.namespace)
    )

    with pytest.raises(ConfigurationError, match="search attribute JobState: namespace test-one"):
        await ensure_search_attributes(bare)


async def test_a_server_that_is_gone_is_unavailable() -> None:
    nobody = await Client.connect("127.0.0.1:9", lazy=True)

    with pytest.raises(TemporalUnavailableError, match=r"127\.0\.0\.1:9 does not answer"):
        await missing_search_attributes(nobody)
