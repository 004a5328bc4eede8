"""`MnesticPlugin`: everything that a client, a worker and a Replayer must share."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from temporalio.converter import PayloadCodec
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from mnestic.activities.failures import FailureInterceptor
from mnestic.activities.tenancy import TenantGuard
from mnestic.memory.errors import MnesticError
from mnestic.workflows.forgetting.forget_topic import ForgetTopic
from mnestic.workflows.jobs.agent_job import AgentJob
from mnestic.workflows.jobs.flush_records import FlushRecords
from mnestic.workflows.knowledge.agent_inbox import AgentInbox
from mnestic.workflows.knowledge.ingest_messages import IngestMessages
from mnestic.workflows.maintenance.index_vectors import IndexVectors
from mnestic.workflows.maintenance.maintenance import Maintenance
from mnestic.workflows.payloads import data_converter


class MnesticPlugin(SimplePlugin):
    """The data converter, the workflows and the sandbox they run in; for a worker, the activities.

    On a worker an activity may only access the tenant of the workflow that calls it.
    """

    def __init__(
        self,
        *,
        activities: Sequence[Callable[..., Any]] = (),
        tenant_id: str | None = None,
        codec: PayloadCodec | None = None,
        encodes_failures: bool = False,
    ) -> None:
        """Makes a plugin for a client or a Replayer; with `activities`, for a worker too.

        Args:
            activities: What `mnestic.worker.worker_plugin` gives, which knows the stores.
            tenant_id: The tenant of workflows whose ids name none; without it they have no access to memory.
            codec: What payloads pass on their way to Temporal and back, such as one that encrypts.
            encodes_failures: Whether messages and stack traces of failures pass it too.
        """
        super().__init__(
            "mnestic",
            data_converter=data_converter(codec, encodes_failures=encodes_failures),
            interceptors=[FailureInterceptor(), TenantGuard(tenant_id=tenant_id)],
            activities=list(activities),
            workflows=[
                AgentJob,
                AgentInbox,
                FlushRecords,
                IngestMessages,
                ForgetTopic,
                IndexVectors,
                Maintenance,
            ],
            workflow_runner=_runner,
            workflow_failure_exception_types=[MnesticError],
        )


def _runner(runner: WorkflowRunner | None) -> WorkflowRunner:
    """Lets this package pass the sandbox of your workflows: its modules hold no state that one could change.

    They then start quickly, and all of a worker run the code that the worker began with, also when its files
    are replaced under it. Our own workflows need no sandbox: nothing but this package is in them.
    """
    if not isinstance(runner, SandboxedWorkflowRunner):
        assert runner is not None
        return runner
    restrictions = runner.restrictions.with_passthrough_modules(
        "pydantic", "pydantic_core", "annotated_types", "jsonschema_rs", "mnestic"
    )
    return dataclasses.replace(runner, restrictions=restrictions)
