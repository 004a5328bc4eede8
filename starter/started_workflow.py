"""A workflow that was started, for callers of memory.

A client of memory does not import Temporal, and the types that its methods name can be resolved all the same
(`typing.get_type_hints`).
"""

from typing import Protocol, TypeVar

Result_co = TypeVar("Result_co", covariant=True)


class StartedWorkflow(Protocol[Result_co]):
    """A workflow by its id; Temporal's `WorkflowHandle` is one."""

    @property
    def id(self) -> str:
        """The workflow's id."""

    async def result(self) -> Result_co:
        """Waits for the end and returns what the workflow returned."""

    async def cancel(self) -> None:
        """Requests that the workflow ends early."""
