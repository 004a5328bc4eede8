"""The hold that people have on a running job: pause, unpause, poke.

They are signals, so that Temporal keeps them while no worker is up; each twice is as once.
"""

from collections.abc import Callable
from functools import partial

from mnestic.memory.names import PAUSE, POKE, UNPAUSE
from mnestic.workflows.handlers import take_signal


class JobControls:
    """Whether the job is paused, and whether it was poked."""

    def __init__(self, *, paused: bool, refuse: Callable[[str, str], None]) -> None:
        """Registers the handlers; a signal that does not fit is refused by its name."""
        self.paused = paused
        self.poked = False
        handlers = {PAUSE: self._on_pause, UNPAUSE: self._on_unpause, POKE: self._on_poke}
        for name, handle in handlers.items():
            take_signal(name, handle, refuse=partial(refuse, name))

    def _on_pause(self) -> None:
        self.paused = True

    def _on_unpause(self) -> None:
        self.paused = False

    def _on_poke(self) -> None:
        self.poked = True
