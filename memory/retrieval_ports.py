"""The ports of what retrieval keeps and reads. As other stores, they work inside their transaction."""

from typing import Any, Protocol


class SettingStore(Protocol):
    """What is set for an agent at run time, by name; of what is not set the defaults hold."""

    async def read(self) -> dict[str, Any]:
        """All that is set, as JSON values."""
        ...

    async def put(self, name: str, value: Any) -> None:
        """Sets one, to a JSON value."""
        ...

    async def reset(self, name: str) -> None:
        """Takes one back to its default; one that is not set changes nothing."""
        ...
