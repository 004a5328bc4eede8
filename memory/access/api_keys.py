"""API keys: what one allows, and how it is written.

Every way in over a network checks a key by the same rules. A key is `mnk.TENANT.ID.SECRET`: it names its tenant, so
that row-level security holds when it is looked up too.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Annotated, Literal, NamedTuple, cast, get_args

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field

from mnestic.memory.access.errors import UnauthenticatedError
from mnestic.memory.canonical import sha256_hex
from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.scope import check_id

Action = Literal["read", "write", "forget", "jobs", "admin"]
ACTIONS: tuple[Action, ...] = get_args(Action)
_PREFIX = "mnk"
_PATTERN = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._@:+*-]{0,127}")
_ID = re.compile(r"[0-9a-f]{12}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_MOST_PATTERNS = 100


def _pattern(value: str) -> str:
    if not _PATTERN.fullmatch(value):
        raise ValueError(
            f"{value[:140]!r} is neither an agent's id nor a pattern of ids, such as agent.seo.*"
        )
    return value


AgentPattern = Annotated[str, AfterValidator(_pattern)]
"""An agent's id, in which `*` stands for any characters."""


class ApiKeyScope(DeferredModel):
    """What a key allows: actions, on the memory of some agents.

    `read` and `write` are about memory, `forget` removes it for good, `jobs` starts and steers jobs, and `admin` is for what concerns
    the whole tenant: maintenance and the audit log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    agents: tuple[AgentPattern, ...] = Field(min_length=1, max_length=_MOST_PATTERNS)
    actions: tuple[Action, ...] = Field(min_length=1, max_length=len(ACTIONS))

    def covers(self, agent_id: str) -> bool:
        """Whether the agent is one of those that the key is for."""
        return any(fnmatchcase(agent_id, pattern) for pattern in self.agents)

    @property
    def covers_all(self) -> bool:
        """Whether the key is for all agents."""
        return "*" in self.agents

    @property
    def only_agent(self) -> str | None:
        """The agent, if the key is for exactly one."""
        return self.agents[0] if len(self.agents) == 1 and "*" not in self.agents[0] else None


class ApiKey(DeferredModel):
    """A key as it is stored and listed: never its secret."""

    model_config = ConfigDict(frozen=True)

    id: str
    scope: ApiKeyScope
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        """Whether the key is valid at a moment."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


class IssuedKey(DeferredModel):
    """A key that was just made, with its text, which cannot be shown again."""

    model_config = ConfigDict(frozen=True)

    key: ApiKey
    text: str = Field(repr=False)


class KeyName(NamedTuple):
    """The tenant and the id in the text of a key; nothing says yet that there is such a key."""

    tenant_id: str
    key_id: str


def write_key(name: KeyName, secret: str) -> str:
    """The text of a key."""
    return f"{_PREFIX}.{name.tenant_id}.{name.key_id}.{secret}"


def read_key(text: str) -> KeyName:
    """The tenant and the id in the text of a key.

    Raises:
        UnauthenticatedError: the text is no key.
    """
    prefix, _, rest = text.partition(".")
    tenant_id, key_id, secret = (["", "", *rest.rsplit(".", 2)])[-3:]
    if prefix != _PREFIX or not _ID.fullmatch(key_id) or not _SECRET.fullmatch(secret):
        raise UnauthenticatedError(why="is not the text of a key")
    try:
        check_id(tenant_id, what="tenant")
    except InvalidInputError:
        raise UnauthenticatedError(why="is not the text of a key") from None
    return KeyName(tenant_id, key_id)


def hash_key(text: str) -> str:
    """What is stored of a key's text.

    One round of SHA-256 is enough, since the secret has 256 random bits: there are no likely ones to try.
    """
    return sha256_hex(text.encode())


def check_actions(names: Iterable[str]) -> tuple[Action, ...]:
    """The actions of these names, each once.

    Raises:
        InvalidInputError: there is no such action.
    """
    unique = tuple(dict.fromkeys(names))
    for name in unique:
        if name not in ACTIONS:
            raise InvalidInputError(
                what="scope", why=f"{name[:80]!r} is no action; choose of {', '.join(ACTIONS)}"
            )
    return cast(tuple[Action, ...], unique)
