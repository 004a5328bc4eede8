"""`mnestic api` as a process that serves a test's tenant."""

import re
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def start_api(
    processes: Any, mnestic: str, environment: dict[str, str]
) -> Callable[..., tuple[Any, str]]:
    """Starts it, with options; gives the process and its URL."""

    def start(*options: str) -> tuple[Any, str]:
        running = processes.start(mnestic, "api", "--port", "0", *options, env=environment)
        found = running.until(lambda: re.search(r"http://127.0.0.1:\d+", running.err), what="ready")
        return running, found[0]

    return start
