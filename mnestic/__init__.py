"""Durable memory for AI agents, on Temporal.

`from mnestic import MnesticClient` loads the client when it is asked for. Nothing is imported before, since whoever
imports any module of this package, such as a workflow's sandbox, loads this one first.
"""

import os

TYPE_CHECKING = False  # type checkers take it for true; `typing` is not imported for it
if TYPE_CHECKING:
    from mnestic.starter.client.memory_connection import MemoryConnection
    from mnestic.starter.client.mnestic_client import MnesticClient
    from mnestic.workflows.jobs.agent_memory import AgentMemory
else:
    _MODULES = {
        "AgentMemory": "mnestic.workflows.jobs.agent_memory",
        "MemoryConnection": "mnestic.starter.client.memory_connection",
        "MnesticClient": "mnestic.starter.client.mnestic_client",
    }

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - only who asks for a class needs it

        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


__all__ = ["AgentMemory", "MemoryConnection", "MnesticClient"]

if os.path.isfile(os.path.join(__path__[0], "memory")):  # noqa: PTH113, PTH118 - see above
    raise ImportError(
        "this checkout has no symbolic links, and the packages of Mnestic are such links "
        "(mnestic/memory leads to memory). On Windows turn on developer mode, then run: "
        "git config core.symlinks true && git checkout -- mnestic"
    )
