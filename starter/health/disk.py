"""The check of the disk that holds the data."""

import shutil

from mnestic.starter.health.findings import Finding
from mnestic.starter.settings import Settings

_LEAST_DISK = 1 << 30  # bytes; a database that runs out of disk stops


def check_disk(settings: Settings) -> tuple[Finding, ...]:
    """Checks that the disk of the data directory has room."""
    folder = settings.data_dir.expanduser().absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    finding = Finding(
        part="disk",
        ok=free >= _LEAST_DISK,
        found=f"{free / (1 << 30):.1f} GiB free at {folder}",
        remedy="free some, or choose another place by MNESTIC_DATA_DIR",
    )
    return (finding,)
