"""Who a memory belongs to: tenant, agent, session.

Every store, activity and workflow takes it, and one check of its ids serves all.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from mnestic.memory.deferred_model import DeferredModel
from mnestic.memory.errors import InvalidInputError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,127}")


def check_id(value: str, *, what: str) -> str:
    """Returns an id that is fit for URLs, workflow ids and logs.

    Raises:
        InvalidInputError: the id is empty, too long or has other characters.
    """
    if not _ID.fullmatch(value):
        raise InvalidInputError(
            what=what,
            why=f"{value[:140]!r} is not an id; use 1 to 128 letters, digits and ._@:+- and begin with a letter or digit",
        )
    return value


def _id(value: str) -> str:
    try:
        return check_id(value, what="id")
    except InvalidInputError as error:
        raise ValueError(error.why) from None


Id = Annotated[str, AfterValidator(_id), Field(json_schema_extra={"pattern": f"^{_ID.pattern}$"})]


def corpus_of(agent_id: str, collection_id: str) -> str:
    """What stands in place of the agent where the entries of a collection are indexed; no agent has such an id."""
    return f"{agent_id}/{collection_id}"


def agent_of(corpus: str) -> str:
    """The agent of a corpus: of its memory, or of one of its collections."""
    return corpus.partition("/")[0]


EVERY_AGENT = "*"  # the agent of what belongs to a whole tenant; no agent has this id


class Scope(DeferredModel):
    """The owner of a piece of memory."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tenant_id: Id
    agent_id: Id
    session_id: Id
