"""The guardian: stops the parts of a runtime that died without stopping them itself.

It is a process of its own, since nothing inside the runtime outlives SIGKILL. It holds the read end of
a pipe whose write end only the runtime has; when that end closes without `done`, the runtime is gone.
"""

import signal
import sys
from collections.abc import Iterable

from mnestic.starter.embedded.process_mark import ProcessMark

DONE = "done"


def main() -> int:
    """Reads marks from standard input, one a line, until `done` or the end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends when the runtime does, and not before
    end_marked(sys.stdin)
    return 0


def end_marked(lines: Iterable[str]) -> None:
    """Ends the processes that the lines name, unless the last line says that all have ended.

    Raises:
        ValueError: a line is neither a mark nor `done`.
    """
    marks: list[ProcessMark] = []
    for line in lines:
        if line.strip() == DONE:
            return
        marks.append(ProcessMark.from_line(line))
    for mark in sorted(marks, key=lambda mark: mark.stop_order):
        mark.end()


if __name__ == "__main__":
    sys.exit(main())
