"""`mnestic memory do`: each operation of a contract does what it does by every other way in."""

import json

from mnestic.memory.jobs.memory_operations import OPERATIONS, OperationName, access_of
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask, Done
from tests.starter.http.test_contract_operations import (
    AGENT,
    CALLS,
    DOCUMENT,
    EXPECTED,
    KEPT_OUT,
    REFUSED,
    SESSION,
    shown,
)


async def call(ask: Ask, name: OperationName, arguments: object) -> Done:
    session = ("--session", SESSION) if OPERATIONS[name].of_session else ()
    return await ask("memory", "do", name, json.dumps(arguments), "--agent", AGENT, *session)


async def test_each_operation_prints_what_it_gives_and_leaves_one_audit_row(
    ask: Ask, client: MnesticClient
) -> None:
    await client.contracts().apply(AGENT, DOCUMENT)

    done = {name: await call(ask, name, arguments) for name, (arguments, _) in CALLS.items()}
    one_of_each = {name: given for name, given, _, error in REFUSED if error != KEPT_OUT}
    refused = [await call(ask, name, given) for name, given in one_of_each.items()]
    misspelt = await ask("memory", "do", "remember", "--agent", AGENT)
    listed = await ask("memory", "do", "persist", "[]", "--agent", AGENT)

    rows, _ = await client.audit().list(agent_id=AGENT, limit=1000)
    own = [row for row in reversed(rows) if row.action.startswith("memory.")]
    assert {name: shown(one.document) for name, one in done.items()} == EXPECTED
    assert [row.target for row in own[: len(CALLS)]] == [
        access_of(name, arguments, session_id=SESSION)[1] for name, (arguments, _) in CALLS.items()
    ]
    assert {row.actor for row in own} == {"cli"}
    assert all(one.code and one.err.startswith("error: ") for one in refused)
    assert "'remember' is none of get_context, " in misspelt.error(code=2)
    assert "arguments: is no JSON object" in listed.error(code=2)
