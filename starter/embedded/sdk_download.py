"""Downloads Temporal's dev server with the SDK's own downloader: `python -m … DEST`.

It is a process of its own so that a download that hangs can be ended from outside, and so that the
SDK's server helper, which may crash when an interpreter ends, ends with nobody else's.
"""

import asyncio
import os
import sys

from temporalio.testing import WorkflowEnvironment

VERSION = "v1.9.1"
NO_SUCH_FLAG = (
    "--mnestic-only-downloads"  # the SDK starts what it downloads; this makes it end at once
)


def main(dest: str) -> None:
    """Downloads into a directory; its content shows whether that worked."""
    try:
        asyncio.run(_download(dest))
    except RuntimeError as error:  # of the start that cannot succeed, or of the download before it
        print(error, file=sys.stderr, flush=True)  # noqa: T201 - standard error is this process's log
    os._exit(0)  # not through the interpreter's end, where the helper's threads may crash


async def _download(dest: str) -> None:
    environment = await WorkflowEnvironment.start_local(
        dev_server_download_version=VERSION,
        download_dest_dir=dest,
        dev_server_extra_args=[NO_SUCH_FLAG],
    )
    await environment.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
