"""What every operation of a memory contract is given, as the models of its arguments are made.

It stands apart from the table of operations so that each part of memory has the arguments of its own ones.
"""

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel


class OperationArguments(DeferredModel):
    """What an operation is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")
