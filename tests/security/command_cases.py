"""What a tenant can try from the command line with what it knows of another's memory: words for each command."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from tests.security.tenants import AGENT, FIRST, QUESTION, SESSION, TOPIC, Known

Words: TypeAlias = tuple[str, ...]
Case: TypeAlias = Callable[[Known, Path], Words]
OF_AGENT = ("--agent", AGENT)
MINE = "My own words."
PLAN = """\
name: mine
nodes:
  - {id: ask, kind: wait, key: k, timeout: 1d, on: {resumed: end, timeout: end}}
"""
# What has no case, and why.
WITHOUT_CASE = {
    "up": "it starts servers of its own",
    "api": "it serves all tenants, each behind its API keys (tests/starter/http/test_access.py)",
    "worker": "it serves all tenants, whose wall is in front of activities",
    "mcp": "it serves until its client ends; its calls are those of the client, and tests/starter/mcp tries another agent's",
    "migrate": "it is of the whole database, and reads no rows",
    "demo": "it is a conversation of its own, in servers that are its own or the settings'",
}
# Options that name something, each of which a case of its command has to use.
NAMING = frozenset(
    {"--agent", "--channel", "--cursor", "--job-id", "--namespace", "--parent", "--request-id"}
    | {"--confirm", "--session", "--sha256", "--source-id", "--subject", "--wait-id", "--after"}
)


def _plan(folder: Path) -> str:
    path = folder / "mine.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return str(path)


def _conversation(folder: Path) -> str:
    path = folder / "mine.jsonl"
    said = '{"role": "Mara", "content": "My own words.", "timestamp": "2026-01-05T12:00:00Z"}\n'
    path.write_text(said, encoding="utf-8")
    return str(path)


def _chat(folder: Path) -> str:
    path = folder / "mine.txt"
    path.write_text("25/12/2025, 10:00 - Mara: My own words.\n", encoding="utf-8")
    return str(path)


def _export(folder: Path) -> str:
    path = folder / "mine-export.jsonl"
    header = '{"kind": "export", "version": 1, "tenant_id": "t", "agent_id": "a", "at": "2026-01-05T12:00:00Z"}'
    path.write_text(f'{header}\n{{"kind": "end", "lines": 1}}\n', encoding="utf-8")
    return str(path)


def _cursor(known: Known, name: str) -> Words:
    cursor = known.cursors[name]
    return () if cursor is None else ("--cursor", cursor)


COMMAND_CASES: Mapping[str, Case] = {
    "job start": lambda k, f: (
        *(_plan(f), *OF_AGENT, "--session", SESSION),
        *("--job-id", k.job, "--input", f"wait={k.wait}"),
    ),
    "job list": lambda k, _: _cursor(k, "jobs"),
    "job list --waiting": lambda *_: OF_AGENT,
    "job list --state waiting": lambda k, _: (*OF_AGENT, *_cursor(k, "jobs")),
    "job show": lambda k, _: (k.job,),
    "job history": lambda k, _: (k.finished,),
    "job transcript": lambda k, _: (k.finished,),
    "job diff": lambda k, _: (k.job, "--wait", k.wait),
    "job resume": lambda k, _: (
        *(k.job, "--payload", "{}", "--request-id", k.request),
        *("--wait-id", k.wait, "--sha256", k.sha256),
    ),
    "job resume --signal": lambda k, _: (k.job, "--wait-id", k.wait),
    "job override": lambda k, _: (k.job, "--reason", "mine", "--request-id", k.request),
    "job extend": lambda k, _: (k.job, "--by", "1d", "--wait-id", k.wait),
    "job fork": lambda k, f: (
        *(k.job, "--wait", k.wait, "--job-id", "mine"),
        *("--session", SESSION, "--plan", _plan(f)),
    ),
    "job pause": lambda k, _: (k.job,),
    "job unpause": lambda k, _: (k.job,),
    "job poke": lambda k, _: (k.job,),
    "job result": lambda k, _: (k.finished,),
    "job cancel": lambda k, _: (k.job,),
    "memory ingest": lambda _, f: (_conversation(f), *OF_AGENT, "--channel", "chat"),
    "memory import": lambda _, f: (_chat(f), *OF_AGENT, "--channel", "chat"),
    "memory export": lambda *_: OF_AGENT,
    "memory ingest --channel chat": lambda _, f: (_export(f), *OF_AGENT),
    "memory add": lambda k, _: (
        *(MINE, *OF_AGENT, "--session", SESSION, "--source-id", FIRST),
        *("--subject", "Mara", "--parent", k.entry.id),
    ),
    "memory show": lambda k, _: (k.entry.id, *OF_AGENT),
    "memory change": lambda k, _: (
        *(k.entry.id, *OF_AGENT, "--text", MINE),
        *("--parent", k.entry.id, "--subject", "Mara"),
    ),
    "memory remove": lambda k, _: (k.entry.id, *OF_AGENT, "--facts"),
    "memory reinstate": lambda k, _: (k.entry.id, *OF_AGENT),
    "memory archive": lambda k, _: (k.entry.id, *OF_AGENT),
    "memory restore": lambda k, _: (k.archived, *OF_AGENT),
    "memory archived": lambda k, _: (*OF_AGENT, *_cursor(k, "archived")),
    "memory list": lambda k, _: (
        *(*OF_AGENT, "--session", SESSION, "--parent", k.entry.id),
        *("--subject", "Mara", *_cursor(k, "entries")),
    ),
    "memory list --status active": lambda *_: OF_AGENT,
    "memory search": lambda *_: (QUESTION, *OF_AGENT, "--explain"),
    "memory search --mode lexical": lambda *_: (
        *(QUESTION, *OF_AGENT, "--session", SESSION),
        *("--channel", "client", "--subject", "Mara"),
    ),
    "memory why": lambda k, _: (QUESTION, *OF_AGENT, "--expect", k.entry.id),
    "memory context": lambda *_: (QUESTION, *OF_AGENT),
    "memory events": lambda k, _: (*OF_AGENT, "--after", str(k.signal)),
    "memory retrievals": lambda k, _: (*OF_AGENT, *_cursor(k, "retrievals")),
    "memory forget": lambda k, _: (TOPIC, *OF_AGENT, "--confirm", k.token),
    "memory forget --yes": lambda *_: (TOPIC, *OF_AGENT),
    "memory forget --dry-run": lambda *_: (TOPIC, *OF_AGENT),
    "memory keep-outs list": lambda *_: OF_AGENT,
    "memory keep-outs lift": lambda k, _: (str(k.purged.forgetting_id), *OF_AGENT),
    "memory world": lambda *_: ("Mara", *OF_AGENT),
    "memory stats": lambda *_: OF_AGENT,
    "memory graph": lambda *_: ("Mara", *OF_AGENT),
    "memory categories": lambda *_: OF_AGENT,
    "memory summaries": lambda k, _: (*OF_AGENT, *_cursor(k, "summaries")),
    "memory facts list": lambda k, _: (*OF_AGENT, "--subject", "Mara", *_cursor(k, "facts")),
    "memory facts list --all": lambda *_: OF_AGENT,
    "memory facts add": lambda *_: ("Mara", "lives_in", "Umea", *OF_AGENT),
    "memory facts delete": lambda k, _: (k.fact.id, *OF_AGENT),
    "memory facts reactivate": lambda k, _: (k.fact.id, *OF_AGENT),
    "memory facts why": lambda k, _: (k.fact.id, *OF_AGENT),
    "memory facts history": lambda *_: ("Mara", "lives_in", *OF_AGENT),
    "memory predicates list": lambda *_: (),
    "memory predicates set": lambda *_: ("lives_in", "--cardinality", "multi"),
    "memory parked list": lambda *_: OF_AGENT,
    "memory parked retry": lambda k, _: (*OF_AGENT, k.lessons[0].name),
    "memory parked drop": lambda k, _: (*OF_AGENT, k.lessons[0].name),
    "memory record get": lambda *_: ("secrets", "place", *OF_AGENT),
    "memory record set": lambda k, _: (
        *("secrets", "place", "1", *OF_AGENT),
        *("--request-id", k.operation),
    ),
    "memory record set --expected-version 1": lambda *_: ("secrets", "place", "1", *OF_AGENT),
    "memory record delete": lambda *_: ("secrets", "place", *OF_AGENT),
    "memory record list": lambda k, _: (
        *OF_AGENT,
        "--namespace",
        "secrets",
        *_cursor(k, "records"),
    ),
    "memory record list --limit 100": lambda *_: OF_AGENT,
    "memory settings get": lambda *_: OF_AGENT,
    "memory settings set": lambda *_: ("auto_retrieve_min_score", "0.5", *OF_AGENT),
    "memory settings reset": lambda *_: (*OF_AGENT, "auto_retrieve_max_results"),
    "stats": lambda *_: OF_AGENT,
    "agents": lambda k, _: _cursor(k, "agents"),
    "agents --limit 10": lambda *_: (),
    "costs": lambda *_: OF_AGENT,
    "extract": lambda *_: (MINE, *OF_AGENT, "--speaker", "Mara"),
    "memory importance get": lambda *_: (),
    "memory importance set": lambda *_: ("recency", "0.2"),
    "memory importance reset": lambda *_: ("recency",),
    "maintenance run": lambda *_: ("nightly", *OF_AGENT),
    "maintenance reports": lambda k, _: _cursor(k, "reports"),
    "maintenance policy get": lambda *_: (),
    "maintenance policy set": lambda *_: ("nightly.times.hour", "4"),
    "embeddings show": lambda k, _: _cursor(k, "agents"),
    "embeddings switch-back": lambda *_: OF_AGENT,
    "embeddings accept": lambda *_: OF_AGENT,
    "keys create": lambda *_: (*OF_AGENT, "--scope", "read", "--expires", "1d"),
    "keys list": lambda k, _: _cursor(k, "api_keys"),
    "keys revoke": lambda k, _: (k.api_key,),
    "audit list": lambda k, _: (*OF_AGENT, "--key", k.api_key, *_cursor(k, "audit")),
    "audit list --denied": lambda k, _: ("--key", k.api_key),
    "backup create": lambda *_: ("--verify", "--keep", "1"),
    "backup list": lambda *_: (),
    "backup verify": lambda k, _: (k.backup,),
    "backup restore": lambda k, _: (k.backup,),
    "backup restore --replace": lambda k, _: (k.backup,),
    "schedules list": lambda *_: (),
    "schedules pause": lambda *_: ("nightly",),
    "schedules resume": lambda *_: ("nightly",),
    "schedules backfill": lambda *_: ("nightly", "--since", "2026-03-01"),
    "deploy": lambda *_: (),
    "doctor": lambda *_: (),
    "config": lambda *_: (),
}
