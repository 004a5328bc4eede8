"""The idempotency keys of a job's memory writes, counted in the workflow."""

from datetime import datetime

from temporalio import workflow

from mnestic.memory.names import EXTEND_WAIT, operation_key, wait_operation_key
from mnestic.memory.operations import Operation


class OperationKeys:
    """Counts the operations of one job: `epoch` its runs, `step` the operations of this run."""

    def __init__(self, job_id: str, *, epoch: int, step: int) -> None:
        self.job_id, self.epoch, self.step = job_id, epoch, step

    def next(self, name: str) -> Operation:
        """The job's next memory write."""
        self.step += 1
        return self._operation(
            operation_key(self.job_id, epoch=self.epoch, step=self.step, name=name), name
        )

    def of_wait(self, wait: str, name: str) -> Operation:
        """What happens once to a wait, whichever attempt or request brings it about.

        It counts as a step, as in 0.1.0, so that the jobs of that version continue their count.
        """
        self.step += 1
        return self._operation(wait_operation_key(wait, name), name)

    def of_call(self, tool: Operation) -> Operation:
        """The key of a tool's call, which is stored once; it follows from the operation of the call.

        That one was counted before the call, and so is the same for each attempt to keep it.
        """
        return self._operation(f"{tool.key}/kept", "remember")

    def of_extension(self, wait: str, until: datetime) -> Operation:
        """A deadline that a wait gets once."""
        key = f"{wait_operation_key(wait, EXTEND_WAIT)}/{until.isoformat()}"
        return self._operation(key, EXTEND_WAIT)

    def _operation(self, key: str, name: str) -> Operation:
        chain = workflow.info().first_execution_run_id
        return Operation(key=key, name=name, job_id=self.job_id, chain=chain)
