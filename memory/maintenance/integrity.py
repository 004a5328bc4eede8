"""Integrity: whether a sample of entries can be found as it should be.

It is looked at when somebody asks, and reads entries.
"""

from pydantic import ConfigDict, NonNegativeInt

from mnestic.memory.deferred_model import DeferredModel


class IndexSample(DeferredModel):
    """How many entries of a tenant were looked at, and how many of them the indexes do not find.

    Attributes:
        entries: The entries of the sample, of several agents.
        without_words: Those that full text search lacks words of.
        without_vector: Those that have no vector yet.
        not_nearest: Those that their own vector does not find.
    """

    model_config = ConfigDict(frozen=True)

    entries: NonNegativeInt
    without_words: NonNegativeInt
    without_vector: NonNegativeInt
    not_nearest: NonNegativeInt
