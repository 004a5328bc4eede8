"""The program `mnestic`: loads the command line, and runs it.

Loading takes a moment too, in which a person may interrupt it: nothing has begun then, and a traceback through half of
all modules would tell nobody anything.
"""

import gc
import os
import signal
from typing import NoReturn

_INTERRUPTED = 130  # that of `output.py`, which is not loaded yet
# Objects between two looks for garbage, of which loading makes none: with Python's own 700 they take a tenth of a command.
_COLLECT_AFTER = 50_000


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    gc.set_threshold(_COLLECT_AFTER)
    may_be_interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if may_be_interrupted:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from mnestic.starter.cli.app import main as run

    if may_be_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
