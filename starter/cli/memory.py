"""`mnestic memory`: its commands, each of which is imported when it is used."""

from typing import ClassVar

import typer

from mnestic.starter.cli.lazy_groups import LazyGroup

_KNOWLEDGE = "mnestic.starter.cli.knowledge"
_RETRIEVAL = "mnestic.starter.cli.retrieval"


class _MemoryGroup(LazyGroup):
    command_targets: ClassVar = {
        "ingest": (
            f"{_KNOWLEDGE}.ingest:ingest",
            "Ingest a conversation or an export; repeated, it ingests what is new.",
        ),
        "import": (
            f"{_KNOWLEDGE}.import_file:import_file",
            "Import an export of ChatGPT, Claude, Telegram, WhatsApp, Slack, mail (mbox), WebVTT, mem0 or a LangGraph store, or a folder of Markdown.",
        ),
        "export": (
            "mnestic.starter.cli.forgetting.export:export",
            "Write all of an agent's memory as JSON lines, which `memory ingest` reads back.",
        ),
        "add": (
            f"{_KNOWLEDGE}.entries:add",
            "Add an entry; the same entry again changes nothing.",
        ),
        "show": (
            f"{_KNOWLEDGE}.entries:show",
            "Show an entry: its content, its search fields, the facts from it, and what became of it.",
        ),
        "change": (
            f"{_KNOWLEDGE}.entries:change",
            "Change an entry; its search fields follow, its facts do not change.",
        ),
        "delete": (
            f"{_KNOWLEDGE}.entries:delete",
            "Delete an entry, with its raw message unless facts quote it; nothing is extracted from it any more.",
        ),
        "reinstate": (
            f"{_KNOWLEDGE}.entries:reinstate",
            "Take back the supersession of an entry, so that searches find it again.",
        ),
        "archive": (
            f"{_KNOWLEDGE}.archive:archive",
            "Archive an entry, or all of some filters: no search finds them, their facts stay, and they can be restored.",
        ),
        "archived": (
            f"{_KNOWLEDGE}.archive:archived",
            "List archived entries, the one archived last first.",
        ),
        "restore": (
            f"{_KNOWLEDGE}.archive:restore",
            "Restore an archived entry, as it was.",
        ),
        "stats": (f"{_KNOWLEDGE}.statistics:stats", "Show the statistics of an agent's memory."),
        "list": (f"{_KNOWLEDGE}.entries:list_", "List entries, the newest first."),
        "search": (
            f"{_RETRIEVAL}.search:search",
            "Search an agent's memory; without a relevant entry there are no results.",
        ),
        "why": (
            f"{_RETRIEVAL}.why:why",
            "Show why a search does not return an entry: the stage that leaves it out, and by how much.",
        ),
        "events": (
            f"{_KNOWLEDGE}.events:list_events",
            "List events in order; continue with --after the last number.",
        ),
        "context": (
            f"{_RETRIEVAL}.context:context",
            "Show the context for a question, as a prompt gets it, and what was left out and why.",
        ),
        "retrievals": (
            f"{_RETRIEVAL}.retrievals:retrievals",
            "List automatic retrievals, the latest first: memories with their scores, and notes.",
        ),
        "graph": (
            f"{_KNOWLEDGE}.graph:graph",
            "Show the graph of facts: edges with their weights, the nearest to a name first.",
        ),
        "categories": (
            f"{_KNOWLEDGE}.categories:categories",
            "List the categories of facts with their summaries.",
        ),
        "summaries": (
            f"{_KNOWLEDGE}.categories:summaries",
            "List summaries of a large memory, the highest level and the latest first.",
        ),
        "forget": (
            "mnestic.starter.cli.forgetting.forget:forget",
            "Forget a topic permanently: texts that have its words or are about it, and the facts from them.",
        ),
        "keep-outs": (
            "mnestic.starter.cli.forgetting.keep_outs:app",
            "List and lift what was forgotten and must not be learned again.",
        ),
        "world": (
            f"{_KNOWLEDGE}.world:world",
            "Show what is known about a subject: facts, their changes, patterns and predictions.",
        ),
        "facts": (f"{_KNOWLEDGE}.facts:app", "Read and correct the facts of an agent."),
        "importance": (
            f"{_KNOWLEDGE}.importance:app",
            "Read and change how a tenant measures the importance of entries.",
        ),
        "predicates": (
            f"{_KNOWLEDGE}.predicates:app",
            "Read and change the cardinality and category of predicates.",
        ),
        "parked": (
            f"{_KNOWLEDGE}.parked:app",
            "List, retry and drop messages that extraction failed on.",
        ),
        "readers": (
            f"{_KNOWLEDGE}.readers:app",
            "Set, list and remove the readers of what is said in a session or a channel.",
        ),
        "record": (
            "mnestic.starter.cli.jobs.records:app",
            "Read and write an agent's long-term records.",
        ),
        "do": (
            "mnestic.starter.cli.jobs.operations:do",
            "Do an operation of the agent's contract, and print what it gives as JSON.",
        ),
        "settings": (
            f"{_RETRIEVAL}.agent_settings:app",
            "Read and change the settings of an agent.",
        ),
    }


app = typer.Typer(cls=_MemoryGroup, help="Read and write an agent's memory.", no_args_is_help=True)
