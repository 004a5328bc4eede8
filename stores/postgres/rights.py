"""Who may do what in the schema `mnestic`, and the walls between tenants: what there should be, and what is amiss.

A dump may leave all of this behind: roles belong to a cluster, and rights and policies are left out on request.
`mnestic migrate` puts it right whatever the schema's version, and `mnestic doctor` says what is amiss. A migration that
makes a table or a function has its rights declared here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from mnestic.memory.errors import ConfigurationError
from mnestic.stores.postgres.queries import fetch_rows, read_query

APPLICATION = "mnestic_app"  # owns nothing, and cannot pass row-level security
_PUBLIC = "PUBLIC"
_MOST_NAMED = 3  # in a summary
_SET_IS_A_RIGHT = (
    160_000  # the version since which a member may become a role only if it was granted WITH SET
)

# Raw messages, snapshots and the audit log are never changed; only functions of the owner remove their rows.
_TABLES = {
    "agent_revision": "SELECT INSERT UPDATE",
    "alembic_version": "SELECT",
    "api_key": "SELECT INSERT",
    "archived_entry": "SELECT INSERT UPDATE DELETE",
    "audit_log": "SELECT INSERT",
    "category": "SELECT INSERT UPDATE DELETE",
    "channel_event": "SELECT INSERT DELETE",
    "claim": "SELECT INSERT",
    "contract": "SELECT INSERT",
    "corpus": "SELECT INSERT UPDATE",
    "document": "SELECT INSERT UPDATE DELETE",
    "embedding": "SELECT INSERT UPDATE DELETE",
    "embedding_model": "SELECT INSERT UPDATE",
    "entry": "SELECT INSERT UPDATE DELETE",
    "entry_term": "SELECT INSERT DELETE",
    "episode": "SELECT INSERT UPDATE DELETE",
    "event_count": "SELECT INSERT UPDATE",
    "fact": "SELECT INSERT UPDATE DELETE",
    "forgetting": "SELECT INSERT",
    "graph_edge": "SELECT INSERT UPDATE DELETE",
    "graph_node": "SELECT INSERT UPDATE DELETE",
    "ingest_state": "SELECT INSERT UPDATE",
    "job_read": "SELECT INSERT UPDATE DELETE",
    "job_wait": "SELECT INSERT UPDATE",
    "lease": "SELECT INSERT UPDATE DELETE",
    "llm_usage": "SELECT INSERT",
    "long_term_record": "SELECT INSERT UPDATE DELETE",
    "maintenance_run": "SELECT INSERT",
    "memory_event": "SELECT INSERT DELETE",
    "memory_retrievals": "SELECT INSERT DELETE",
    "memory_snapshot": "SELECT INSERT",
    "namespace_grant": "SELECT INSERT UPDATE DELETE",
    "operation": "SELECT INSERT",
    "plan": "SELECT INSERT DELETE",
    "posting": "SELECT INSERT UPDATE DELETE",
    "predicate": "SELECT INSERT UPDATE",
    "reader_default": "SELECT INSERT UPDATE DELETE",
    "reader_set": "SELECT INSERT UPDATE DELETE",
    "resource": "SELECT INSERT",
    "setting": "SELECT INSERT UPDATE DELETE",
    "subscription": "SELECT INSERT UPDATE",
    "summary": "SELECT INSERT DELETE",
    "supersession": "SELECT INSERT UPDATE DELETE",
    "tenant": "SELECT INSERT",
    "tenant_record": "SELECT",
    "tool_result": "SELECT INSERT DELETE",
    "working_memory": "SELECT INSERT UPDATE DELETE",
}
_UPDATED_COLUMNS = {
    "api_key": "revoked_at",
    "channel_event": "payload",
    "forgetting": "topic entries purged finished_at kept_out",
    "memory_event": "subject predicate",
    "memory_retrievals": "preview memories notes skipped channel",
    "operation": "result",
}
_FUNCTIONS = {
    "agents_with_met_waits": _PUBLIC,
    "audience_of_entry": _PUBLIC,
    "audience_of_message": _PUBLIC,
    "backend_of": _PUBLIC,
    "begin_forgetting": _PUBLIC,
    "contract_of": _PUBLIC,
    "count_lexemes": _PUBLIC,
    "cut_messages": APPLICATION,
    "delete_orphans": APPLICATION,
    "duplicate_key": _PUBLIC,
    "enter_words": _PUBLIC,
    "fact_of_wait": _PUBLIC,
    "forget_claims": APPLICATION,
    "forget_messages": APPLICATION,
    "forgets": _PUBLIC,
    "hidden_entries": _PUBLIC,
    "is_reader": _PUBLIC,
    "is_wait_met": _PUBLIC,
    "list_words": _PUBLIC,
    "nearest_vectors": _PUBLIC,
    "own_audience": _PUBLIC,
    "pack_posting": _PUBLIC,
    "pending_agents": _PUBLIC,
    "reader_patterns": _PUBLIC,
    "redact_audit": APPLICATION,
    "redact_channel": APPLICATION,
    "redact_snapshot": APPLICATION,
    "refuse_update": _PUBLIC,
    "register_tenant": _PUBLIC,
    "remove_old_rows": APPLICATION,
    "remove_words": _PUBLIC,
    "renew_statistics": APPLICATION,
    "replace_claims": APPLICATION,
    "row_bytes": _PUBLIC,
    "unpack_postings": _PUBLIC,
    "waiting_agents": _PUBLIC,
    "words_apart": _PUBLIC,
    "words_of": _PUBLIC,
}
_VIEW = "tenant_record"  # has the condition of the policies itself
_WITHOUT_WALL = {"alembic_version", "tenant", _VIEW}

_LIST_RIGHTS, _LIST_WALLS = read_query("rights.list_rights"), read_query("rights.list_walls")
_LIST_VIEWS = read_query("rights.list_views")
_LIST_HOLES, _FIND_OWNER = read_query("rights.list_holes"), read_query("rights.find_owner")
_FIND_ROLE, _MAKE_ROLE = read_query("rights.find_role"), read_query("rights.make_role")

# Remedies name roles, tables, columns and functions, so they are put together by `psycopg.sql`.
_WEAKEN_ROLE = sql.SQL("ALTER ROLE {} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")
_ENABLE_WALL = sql.SQL("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
_FORCE_WALL = sql.SQL("ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
_MAKE_POLICY = sql.SQL("""
DROP POLICY IF EXISTS tenant ON {table};
CREATE POLICY tenant ON {table}
    USING (tenant_id = current_setting('mnestic.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('mnestic.tenant_id', true))
""")
_MAKE_VIEW = sql.SQL("""
CREATE OR REPLACE VIEW {} AS
SELECT tenant_id, agent_id, namespace, key, version, value, created_at, updated_at, expires_at, metadata
  FROM mnestic.long_term_record
 WHERE tenant_id = current_setting('mnestic.tenant_id', true)
""")
# What a reader sees: of these tables the rows of their audiences, of others that tell of what was said nothing.
_FOR_AUDIENCES = frozenset(
    {
        *("archived_entry", "claim", "embedding", "entry", "entry_term", "episode", "fact"),
        *("graph_edge", "ingest_state", "posting", "resource"),
    }
)
_FOR_NO_READER = frozenset(
    {
        *("audit_log", "channel_event", "document", "forgetting", "graph_node", "job_read"),
        *("job_wait", "llm_usage"),
        *("long_term_record", "maintenance_run", "memory_event", "memory_retrievals"),
        *("memory_snapshot", "operation", "plan", "reader_default", "tool_result"),
        "working_memory",
    }
)
_OF_AUDIENCES = (
    "((( SELECT strpos(current_setting('mnestic.audiences'::text, true), '{'::text) AS strpos)"
    " IS DISTINCT FROM 1) OR (audience = ANY ((( SELECT current_setting('mnestic.audiences'::text, true)"
    " AS current_setting))::integer[]))) ALL"
)
_OF_NO_READER = (
    "(( SELECT current_setting('mnestic.is_reader'::text, true) AS current_setting)"
    " IS DISTINCT FROM 'yes'::text) SELECT"
)
_MAKE_READERS = sql.SQL("""
DROP POLICY IF EXISTS readers ON {table};
CREATE POLICY readers ON {table} AS RESTRICTIVE FOR {of} USING {rule}
""")
_DROP_POLICY = sql.SQL("DROP POLICY {} ON {}")
_GRANT, _REVOKE = sql.SQL("GRANT {} ON {} {} TO {}"), sql.SQL("REVOKE {} ON {} {} FROM {}")


class _Right(NamedTuple):
    """What a role may do with a schema, a table, a column of one, or a function."""

    kind: str
    name: str
    part: str
    privilege: str
    role: str


@dataclass(frozen=True, slots=True)
class RightsProblem:
    """Something that is not as it should be, and the statement by which the owner puts it right."""

    what: str
    remedy: sql.Composed


def make_role(owner: psycopg.Connection[Any]) -> None:
    """Makes the application's role where the cluster has none, and who makes it a member of it."""
    if not fetch_rows(owner, _FIND_ROLE):
        fetch_rows(owner, _MAKE_ROLE)


def repair_rights(owner: psycopg.Connection[Any]) -> tuple[str, ...]:
    """Puts rights and walls right, in the connection's transaction; returns what was amiss.

    Raises:
        ConfigurationError: the connection's role does not own the schema.
    """
    found = find_rights_problems(owner)
    if found:
        _require_owner(owner)
    for one in found:
        owner.execute(one.remedy)
    return tuple(one.what for one in found)


def find_rights_problems(connection: psycopg.Connection[Any]) -> tuple[RightsProblem, ...]:
    """What is not as it should be of rights and walls in a schema of this code's version; any role may look."""
    return (
        *_role_amiss(connection),
        *_view_amiss(connection),
        *_rights_amiss(connection),
        *_walls_amiss(connection),
    )


def summarise(amiss: Sequence[str]) -> str:
    """The first of what is amiss, and how much more there is."""
    more = f" and {len(amiss) - _MOST_NAMED} more" if len(amiss) > _MOST_NAMED else ""
    return "; ".join(amiss[:_MOST_NAMED]) + more


def _role_amiss(connection: psycopg.Connection[Any]) -> Iterator[RightsProblem]:
    if any(role.is_strong for role in fetch_rows(connection, _FIND_ROLE)):
        remedy = _WEAKEN_ROLE.format(sql.Identifier(APPLICATION))
        yield RightsProblem("mnestic_app has rights of an administrator", remedy)


def _view_amiss(connection: psycopg.Connection[Any]) -> Iterator[RightsProblem]:
    if _VIEW not in {view.name for view in fetch_rows(connection, _LIST_VIEWS)}:
        remedy = _MAKE_VIEW.format(sql.Identifier("mnestic", _VIEW))
        yield RightsProblem(f"{_VIEW} does not show the rows of its tenant alone", remedy)


def _rights_amiss(connection: psycopg.Connection[Any]) -> Iterator[RightsProblem]:
    wanted = set(_wanted())
    ours = {right[:2] for right in wanted}
    found = {_Right(*row) for row in fetch_rows(connection, _LIST_RIGHTS)}
    for right in sorted(wanted - found):
        yield RightsProblem(f"{right.role} lacks {_described(right)}", _statement(_GRANT, right))
    for right in sorted(right for right in found - wanted if right[:2] in ours):
        yield RightsProblem(f"{right.role} has {_described(right)}", _statement(_REVOKE, right))


def _walls_amiss(connection: psycopg.Connection[Any]) -> Iterator[RightsProblem]:
    walls = {name: walls for name, *walls in fetch_rows(connection, _LIST_WALLS)}
    remedies = (
        ("has no row-level security", _ENABLE_WALL),
        ("does not hold its owner to it", _FORCE_WALL),
        ("has no policy of its tenant", _MAKE_POLICY),
    )
    for name in sorted(_TABLES.keys() - _WITHOUT_WALL):
        for is_there, (what, remedy) in zip(walls.get(name, ()), remedies, strict=False):
            if not is_there:
                table = sql.Identifier("mnestic", name)
                yield RightsProblem(f"{name} {what}", remedy.format(table=table))
    for name in sorted(_FOR_AUDIENCES | _FOR_NO_READER):
        rule = _OF_AUDIENCES if name in _FOR_AUDIENCES else _OF_NO_READER
        if name in walls and walls[name][-1] != rule:
            its = sql.Identifier("mnestic", name)
            shown, _, command = rule.rpartition(" ")
            policy = _MAKE_READERS.format(table=its, of=sql.SQL(command), rule=sql.SQL(shown))
            yield RightsProblem(f"{name} has no policy of readers", policy)
    for hole in fetch_rows(connection, _LIST_HOLES):
        of = sql.Identifier("mnestic", hole.tablename)
        what = f"{hole.tablename} has a policy {hole.policyname}, which lets more through"
        yield RightsProblem(what, _DROP_POLICY.format(sql.Identifier(hole.policyname), of))


def _wanted() -> Iterator[_Right]:
    yield _Right("SCHEMA", "mnestic", "", "USAGE", APPLICATION)
    for name, privileges in _TABLES.items():
        for privilege in privileges.split():
            yield _Right("TABLE", name, "", privilege, APPLICATION)
    for name, columns in _UPDATED_COLUMNS.items():
        for column in columns.split():
            yield _Right("TABLE", name, column, "UPDATE", APPLICATION)
    for name, role in _FUNCTIONS.items():
        yield _Right("FUNCTION", name, "", "EXECUTE", role)


def _described(right: _Right) -> str:
    return f"{right.privilege} on {right.name}" + (f".{right.part}" if right.part else "")


def _statement(form: sql.SQL, right: _Right) -> sql.Composed:
    column = sql.SQL(" ({})").format(sql.Identifier(right.part)) if right.part else sql.SQL("")
    path = (right.name,) if right.kind == "SCHEMA" else ("mnestic", right.name)
    role = sql.SQL(_PUBLIC) if right.role == _PUBLIC else sql.Identifier(right.role)
    return form.format(
        _keyword(right.privilege) + column, _keyword(right.kind), sql.Identifier(*path), role
    )


def _keyword(name: str) -> sql.SQL:
    """A word of this module's or of Postgres' own catalogue."""
    assert name.isalpha()
    return sql.SQL(name)


def _require_owner(connection: psycopg.Connection[Any]) -> None:
    (owner,) = fetch_rows(connection, _FIND_OWNER)
    if not owner.is_ours:
        raise ConfigurationError(
            setting="MNESTIC_DATABASE_ADMIN_URL",
            why=f"is of a role that does not own the schema mnestic, whose rights are amiss; name {owner.name}",
        )
