"""How tests begin a transaction on an agent's memory, and run a statement as the owner of all tables."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from mnestic.memory.ports import Transaction

Execute = Callable[[str], list[Any]]


class Begin(Protocol):
    def __call__(
        self, agent: str = "ada", *, tenant: str | None = None, write: bool = True
    ) -> AbstractAsyncContextManager[Transaction]: ...
