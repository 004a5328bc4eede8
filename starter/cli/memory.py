"""`mnestic memory`: its commands, each of which is imported when it is used."""

from typing import ClassVar

import typer

from mnestic.starter.cli.lazy_groups import LazyGroup

_KNOWLEDGE = "mnestic.starter.cli.knowledge"
_RETRIEVAL = "mnestic.starter.cli.retrieval"


class _MemoryGroup(LazyGroup):
    listed: ClassVar = {
        "ingest": (
            f"{_KNOWLEDGE}.ingest:ingest",
            "Learn from a conversation, or read an export back; again, from what is new in it.",
        ),
        "export": (
            "mnestic.starter.cli.forgetting.export:export",
            "Write all of an agent's memory as JSON lines, which `memory ingest` reads back.",
        ),
        "add": (
            f"{_KNOWLEDGE}.entries:add",
            "Remember something; the same once more changes nothing.",
        ),
        "show": (
            f"{_KNOWLEDGE}.entries:show",
            "Show an entry: its content, how it is found, and the facts from it.",
        ),
        "change": (
            f"{_KNOWLEDGE}.entries:change",
            "Change an entry; what it is found by follows, facts stay as they are.",
        ),
        "remove": (
            f"{_KNOWLEDGE}.entries:remove",
            "Remove an entry; its raw message stays, and is not learned from.",
        ),
        "stats": (f"{_KNOWLEDGE}.entries:stats", "Tell an agent's memory in numbers."),
        "list": (f"{_KNOWLEDGE}.entries:list_", "List entries, the newest first."),
        "search": (
            f"{_RETRIEVAL}.search:search",
            "Search an agent's memory; what nothing is known of has no answer.",
        ),
        "events": (
            f"{_KNOWLEDGE}.events:list_events",
            "List events in their order; go on after the last number, and none is missed.",
        ),
        "context": (
            f"{_RETRIEVAL}.context:context",
            "Show the context of a question for a prompt, and what was left out and why.",
        ),
        "retrievals": (
            f"{_RETRIEVAL}.retrievals:retrievals",
            "List what was put before messages, the latest first: memories with their scores, and notes.",
        ),
        "forget": (
            "mnestic.starter.cli.forgetting.forget:forget",
            "Forget a topic for good: what has its words or is about it, and the facts from that.",
        ),
        "world": (
            f"{_KNOWLEDGE}.world:world",
            "Tell what is known of a subject: facts, their changes, patterns and predictions.",
        ),
        "facts": (f"{_KNOWLEDGE}.facts:app", "What an agent believes."),
        "predicates": (f"{_KNOWLEDGE}.predicates:app", "What holds for predicates, in a tenant."),
        "parked": (f"{_KNOWLEDGE}.parked:app", "Messages that could not be learned from."),
        "record": (
            "mnestic.starter.cli.jobs.records:app",
            "Read and write an agent's long-term records.",
        ),
        "settings": (f"{_RETRIEVAL}.agent_settings:app", "A setting of an agent."),
    }


app = typer.Typer(cls=_MemoryGroup, help="Read and write an agent's memory.", no_args_is_help=True)
