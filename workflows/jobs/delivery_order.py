"""In which order a workflow takes what it is handed at one moment: the same live and in a replay.

It stands alone because of how the SDK (temporalio 1.35) begins a run whose handlers are registered in
`__init__`: its first signals are handled after the updates that came with them, but before them in a
replay, once the run has called `patched`. So whoever commands or decides something lets the others go first.
"""

import asyncio


async def after_acceptance() -> None:
    """A signal's turn: once the updates that came with it are accepted."""
    await asyncio.sleep(0)


async def after_signals() -> None:
    """An update's turn: once the signals that came with it have had theirs."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
