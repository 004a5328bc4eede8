"""The errors of access; `memory/errors.py` draws them in the tree of all errors."""

from mnestic.memory.errors import RefusedError


class UnauthenticatedError(RefusedError):
    """A request has no valid API key. The message does not say whether there is such a key."""

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"API key: {why}")


class ForbiddenError(RefusedError):
    """The API key does not allow the action, or not on this agent."""

    def __init__(self, *, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}")
