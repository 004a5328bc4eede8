"""Agents, as a list of them shows: what each has, and when that was last written.

An agent is no row of its own: it is there once something of its memory was written.
"""

from typing import NamedTuple

from pydantic import AwareDatetime, ConfigDict

from mnestic.memory.deferred_model import DeferredModel


class AgentSummary(DeferredModel):
    """An agent, and how much there is in its memory.

    `facts` are the active ones, `records` those that are neither deleted nor expired, `sessions` those with working
    memory.
    """

    model_config = ConfigDict(frozen=True)

    agent_id: str
    entries: int
    facts: int
    messages: int
    records: int
    episodes: int
    sessions: int
    last_written_at: AwareDatetime


class WaitingAgent(NamedTuple):
    """An agent with messages from which nothing was extracted yet, or records that a backend lacks."""

    tenant_id: str
    agent_id: str
