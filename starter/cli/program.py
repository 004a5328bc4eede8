"""The program `mnestic`: loads the command line, and runs it.

It stands alone because loading takes a moment too, in which a person may interrupt it: nothing has begun
then, and a traceback through half of all modules would tell nobody anything.
"""

import os
import signal
from typing import NoReturn

_INTERRUPTED = 130  # that of `output.py`, which is not loaded yet


def main() -> NoReturn:
    """Runs the command line and ends the process."""
    may_be_interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if may_be_interrupted:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from mnestic.starter.cli.app import main as run

    if may_be_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
