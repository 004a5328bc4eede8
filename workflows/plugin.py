"""`MnesticPlugin`: everything that a client, a worker and a Replayer must share."""

import dataclasses

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from mnestic.memory.errors import MnesticError
from mnestic.workflows.agent_job import AgentJob


class MnesticPlugin(SimplePlugin):
    """The data converter, the workflows and the sandbox they run in."""

    def __init__(self) -> None:
        super().__init__(
            "mnestic",
            data_converter=pydantic_data_converter,
            workflows=[AgentJob],
            workflow_runner=_runner,
            workflow_failure_exception_types=[MnesticError],
        )


def _runner(runner: WorkflowRunner | None) -> WorkflowRunner:
    """Lets this package pass the sandbox, since its modules hold no state that a job could change.

    A job then starts quickly, and all jobs of a worker run the code that the worker began with, also
    when its files are replaced under it.
    """
    if not isinstance(runner, SandboxedWorkflowRunner):
        assert runner is not None
        return runner
    restrictions = runner.restrictions.with_passthrough_modules(
        "pydantic", "pydantic_core", "annotated_types", "jsonschema_rs", "mnestic"
    )
    return dataclasses.replace(runner, restrictions=restrictions)
