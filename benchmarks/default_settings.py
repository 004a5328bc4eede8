"""The settings that a benchmark runs with: the product's defaults, whatever this machine has set."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def default_settings() -> Iterator[Path]:
    """Removes our settings from the environment, and works in an empty folder, away from any .env, that is removed afterwards."""
    for name in [name for name in os.environ if name.startswith(("MNESTIC_", "TEMPORAL_"))]:
        del os.environ[name]
    with (
        tempfile.TemporaryDirectory(prefix="mnestic-benchmark-") as folder,
        contextlib.chdir(folder),
    ):
        yield Path(folder)
