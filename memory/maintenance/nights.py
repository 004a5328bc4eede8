"""A night's maintenance of an agent: how far it is."""

from pydantic import ConfigDict

from mnestic.memory.deferred_model import DeferredModel


class NightlyCursor(DeferredModel):
    """How far a night is: what has expired is removed, duplicates are merged, then importance is computed, each in the order of numbers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    expired: int | None = 0  # of the last entry that was removed; None once all are
    compared: int | None = 0  # of the first entry of the last group compared; None once all are
    renewed: int = 0  # of the last entry whose importance was computed

    @property
    def removes(self) -> bool:
        """Whether entries are still to be removed or merged."""
        return self.expired is not None or self.compared is not None
