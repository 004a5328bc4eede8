"""The hold that people have on a running job: pause, unpause, poke.

They are signals, so that Temporal keeps them while no worker is up; each twice is as once.
"""

from temporalio import workflow

from mnestic.memory.names import PAUSE, POKE, UNPAUSE


class JobControls:
    """Whether the job is paused, and whether it was poked."""

    def __init__(self, *, paused: bool) -> None:
        """Registers the handlers."""
        self.paused = paused
        self.poked = False
        workflow.set_signal_handler(PAUSE, self._on_pause)
        workflow.set_signal_handler(UNPAUSE, self._on_unpause)
        workflow.set_signal_handler(POKE, self._on_poke)

    def _on_pause(self) -> None:
        self.paused = True

    def _on_unpause(self) -> None:
        self.paused = False

    def _on_poke(self) -> None:
        self.poked = True
