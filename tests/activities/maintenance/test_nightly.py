"""The nightly maintenance of an agent: what expired goes, and importance follows age and accesses."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnestic.activities.maintenance.steps import StepResult
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.importance import ImportancePolicy, importance
from mnestic.memory.ports import Memory
from mnestic.starter.client.client_scope import client_caller
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.activities.learning_models import Begin, Execute
from tests.activities.maintenance.conftest import NOON
from tests.activities.maintenance.waiting_jobs import wait_with

Run = Callable[..., Any]


async def test_importance_is_what_it_would_be_if_the_entry_were_written_now(
    ada: MemoryClient, run: Run, begin: Begin
) -> None:
    parent = await ada.add("The boiler was replaced.", at=NOON - timedelta(days=12, hours=5))
    await ada.add("It hums. " * 90, parent=parent.id, at=NOON - timedelta(days=3))
    await ada.add("Never cut the red pipe.", critical=True, at=NOON - timedelta(days=300))
    await ada.add("We prefer oil.", entry_type="preference", at=NOON + timedelta(days=1))
    await ada.retrieve("boiler")

    done = await run()

    async with begin() as transaction:
        entries, _ = await transaction.entries.list_entries(EntryQuery())
        children = await transaction.entries.count_children([entry.id for entry in entries])
    assert len(entries) == 4
    for entry in entries:
        wanted = importance(entry, now=NOON, children=children[entry.id], policy=ImportancePolicy())
        assert entry.importance == pytest.approx(wanted, abs=1e-6), entry.content
    assert done == StepResult(agents=1, counts={"importance_changed": 3})
    assert (await run(NOON + timedelta(minutes=1))).counts == {}


async def test_what_has_expired_goes_from_the_tables_and_nothing_else(
    ada: MemoryClient, run: Run, execute: Execute
) -> None:
    today = datetime.now(UTC)
    gone = await ada.add("The code is 4711.", expires_at=today + timedelta(hours=1))
    stays = await ada.add("The code is 4712.", expires_at=today + timedelta(days=9))
    await ada.records.set("door", "old", {"code": 4711}, ttl=timedelta(hours=1))
    await ada.records.set("door", "new", {"code": 4712}, ttl=timedelta(days=9))
    for code in range(20):  # which is no removal that stops a run
        await ada.add(f"The code is {code}.", expires_at=today + timedelta(hours=1))

    dry = await run(today + timedelta(days=1), dry_run=True)
    before = await ada.entries.get(gone.id)
    done = await run(today + timedelta(days=1))

    entries, _ = await ada.entries.list(EntryQuery())
    records, _ = await ada.records.list("door")
    texts = execute("SELECT content FROM mnestic.resource WHERE tenant_id = %s")
    assert texts == [("The code is 4712.",)]
    assert dry == done
    assert before.importance == gone.importance
    assert {entry.id for entry in entries} == {stays.id}
    assert [record.key for record in records] == ["new"]
    assert (done.counts["entries_expired"], done.counts["records_expired"]) == (21, 1)
    assert (await ada.records.set("door", "old", {"code": 1})).version == 2


async def test_what_a_waiting_job_refers_to_expires_once_the_job_has_ended(
    ada: MemoryClient, run: Run, memory: Memory, settings: Settings, begin: Begin
) -> None:
    ends = datetime.now(UTC) + timedelta(hours=1)
    cited = await ada.add("The code is 4711.", expires_at=ends)
    await ada.add("The code of the session is 4712.", session_id="s1", expires_at=ends)
    await ada.add("The code is 4713.", critical=True, expires_at=ends)
    await wait_with(memory, settings, {"seen": cited.id})

    during = await run()
    async with begin() as transaction:
        await transaction.waits.cancel_open("j1")
    after = await run(NOON + timedelta(days=1))

    # Whoever gave a critical entry an end decided that.
    assert during.counts["entries_expired"] == 1
    assert after.counts["entries_expired"] == 2


async def test_an_agent_that_cannot_be_read_is_a_problem_and_others_are_maintained(
    ada: MemoryClient, run: Run, client: MnesticClient, execute: Execute
) -> None:
    abe = client.memory("abe")
    for memory in (abe, ada):
        await memory.add("The code is 4711.", expires_at=NOON)
    execute("UPDATE mnestic.entry SET subjects = '7' WHERE tenant_id = %s AND agent_id = 'abe'")

    done = await run()

    assert (done.agents, done.counts["agents_stopped"], done.counts["entries_expired"]) == (2, 1, 1)
    assert [problem.partition(":")[0] for problem in done.problems] == ["agent abe"]
    assert "restore the row" in done.problems[0]


@pytest.mark.parametrize(("agent_id", "after"), [(None, "adb"), ("ada", "ada")])
async def test_an_attempt_goes_on_after_the_agent_of_the_last_heartbeat(
    ada: MemoryClient, run: Run, agent_id: str | None, after: str
) -> None:
    await ada.add("We prefer oil.", at=NOON - timedelta(days=9))
    done = StepResult(agents=5, counts={"entries_expired": 3}, after=after)

    result = await run(agent_id=agent_id, last=done)

    assert result == StepResult(agents=5, counts={"entries_expired": 3})
    assert (await run()).agents == 1


Run = Callable[..., Any]
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = datetime(2030, 3, 3, 12, tzinfo=UTC)


async def test_a_fact_gains_once_for_each_night_in_which_it_was_used(
    ada: MemoryClient, run: Run, count_accesses: Run, set_policy: Run
) -> None:
    (change,) = await ada.facts.add("Mara", "likes", "tea", confidence=0.6)
    await ada.facts.add("Mara", "likes", "jazz", confidence=0.6)
    await count_accesses(change.fact.id, times=3)

    first = await run()
    again = await run(LATER)
    await count_accesses(change.fact.id)
    third = await run(LATER.replace(hour=13))
    confidences = await _confidences(ada)
    edges = (await ada.graph.read("Mara", at=LATER)).edges
    await set_policy(promotion=0.5)  # however much is added, no use makes it certain
    await count_accesses(change.fact.id)
    await run(LATER.replace(hour=14))

    assert (first.counts["promoted"], third.counts["promoted"]) == (1, 1)
    assert "promoted" not in again.counts
    assert confidences == {"tea": 0.64, "jazz": 0.6}
    assert [edge.weight for edge in edges] == [0.64, 0.6]
    assert (await _confidences(ada))["tea"] == 0.99


async def test_the_message_of_a_fact_that_was_retrieved_counts_as_well(
    ada: MemoryClient, run: Run, count_accesses: Run, begin: Begin
) -> None:
    entry = await ada.add("Mara likes tea.", source_id="1", at=MONDAY)
    await _claim(begin, "tea", source_id="1")
    await count_accesses(entry.id)

    done = await run()

    assert done.counts["promoted"] == 1
    assert await _confidences(ada) == {"tea": 0.62}


async def test_what_use_has_added_stays_when_the_facts_are_computed_again(
    ada: MemoryClient, run: Run, count_accesses: Run, begin: Begin
) -> None:
    (change,) = await ada.facts.add("Mara", "likes", "tea", confidence=0.6)
    await count_accesses(change.fact.id)
    await run()
    before = await _facts(ada)

    await _claim(begin, "jazz", source_id="2")
    same = await _facts(ada)
    await _claim(begin, "tea", source_id="3")
    surer = await _facts(ada)

    assert same["tea"] == before["tea"]
    assert same["tea"].promotion == 0.02
    assert surer["tea"].confidence == 0.86  # two claims of .6, and .02
    assert surer["tea"].used_at == before["tea"].used_at


async def _facts(memory: MemoryClient) -> dict[str, Fact]:
    facts, _ = await memory.facts.list(subject="Mara")
    return {fact.object: fact for fact in facts}


async def _confidences(memory: MemoryClient) -> dict[str, float]:
    return {name: fact.confidence for name, fact in (await _facts(memory)).items()}


async def _claim(begin: Begin, value: str, *, source_id: str) -> None:
    claim = Claim(
        id=f"claim-{source_id}",
        subject="Mara",
        predicate="likes",
        object=value,
        confidence=0.6 if value == "tea" else 0.5,
        said_at=MONDAY,
        source=ClaimSource(extractor="test", session_id="added", source_id=source_id),
    )
    async with begin() as transaction:
        await transaction.facts.claim([claim])


async def test_a_backfilled_night_leaves_importance_as_it_is(ada: MemoryClient, run: Run) -> None:
    now = datetime.now(UTC)
    entry = await ada.add("We prefer oil.", at=now - timedelta(days=20))

    done = await run(now - timedelta(days=15))

    assert "importance_changed" not in done.counts
    assert (await ada.entries.get(entry.id)).importance == entry.importance


async def test_private_messages_are_in_no_summary_and_merge_with_none_of_others(
    ada: MemoryClient,
    memory: Memory,
    settings: Settings,
    run: Run,
    begin: Begin,
    execute: Execute,
) -> None:
    mara, jonas = (
        MemoryClient(
            client_caller(memory, tenant_id=settings.tenant_id, agent_id="ada", reader=reader)
        )
        for reader in ("user.mara", "user.jonas")
    )
    for readers in (None, ["user.mara"], ["user.mara"]):
        for at in (NOON - timedelta(days=9), NOON - timedelta(days=2)):
            await ada.add("We prefer oil.", readers=readers, session_id=f"s{at:%d}", at=at)
    async with begin() as transaction:
        await transaction.keep_to(["user.mara"])
        said = Claim(
            id="c",
            subject="Mara",
            predicate="lives_in",
            object="Ghent",
            said_at=NOON - timedelta(days=3),
            source=ClaimSource(extractor="rules"),
        )
        await transaction.facts.claim([said])

    execute("UPDATE mnestic.ingest_state SET state = 'learned' WHERE tenant_id = %s")
    await run()

    entries, _ = await ada.entries.list(EntryQuery())
    of_mara, _ = await mara.entries.list(EntryQuery())
    of_jonas, _ = await jonas.entries.list(EntryQuery())
    assert (len(entries), len(of_mara), len(of_jonas)) == (2, 2, 1)
    assert not [
        one for one in await ada.contexts.list_categories() if "Ghent" in (one.summary or "")
    ]


async def test_old_rows_of_the_audit_log_and_of_ended_jobs_go(
    ada: MemoryClient,
    client: MnesticClient,
    run: Run,
    execute: Execute,
) -> None:
    await ada.add("Porto is old.")
    for job_id in ("ended", "waiting"):
        execute(
            "INSERT INTO mnestic.memory_snapshot (tenant_id, id, agent_id, job_id, schema_version, sha256, body, "
            f"memory_revision, created_at) VALUES (%s, '{job_id}', 'ada', '{job_id}', 1, '', '', 1, now() - interval '400 days')"
        )
    execute(  # of a job that was started again under its id
        "INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at) "
        "VALUES (%s, 'again/ended', 'write', 'ada', 'ended', '', now() - interval '2 days')"
    )
    for name, job_id in (("end", "ended"), ("write", "ended"), ("write", "waiting")):
        execute(
            "INSERT INTO mnestic.operation (tenant_id, key, name, agent_id, job_id, request_hash, created_at) "
            f"VALUES (%s, '{name}/{job_id}', '{name}', 'ada', '{job_id}', '', now() - interval '400 days')"
        )
    for action, actor in (("entry.search", "client"), ("entry.change", "client")):
        execute(
            "INSERT INTO mnestic.audit_log (tenant_id, agent_id, at, actor, action, target) "
            f"VALUES (%s, 'ada', now() - interval '400 days', '{actor}', '{action}', 'e1')"
        )

    # Rows are in the order of their times, so what is newer is written last.
    execute("DELETE FROM mnestic.audit_log WHERE tenant_id = %s AND at > now() - interval '1 day'")
    await client.maintenance.set_policy("nightly.retention_days", value=None)
    forever = await run(datetime.now(UTC))
    await client.maintenance.set_policy("nightly.retention_days", value=365)
    done = await run(datetime.now(UTC))

    left = execute("SELECT job_id FROM mnestic.memory_snapshot WHERE tenant_id = %s")
    ledger = execute(
        "SELECT key FROM mnestic.operation WHERE tenant_id = %s AND created_at < now() - interval '1 day' ORDER BY 1"
    )
    audited = execute(
        "SELECT action FROM mnestic.audit_log WHERE tenant_id = %s AND at < now() - interval '1 day'"
    )
    assert "old_rows_removed" not in forever.counts
    assert done.counts["old_rows_removed"] == 3
    assert left == [("waiting",)]
    assert ledger == [("again/ended",), ("end/ended",), ("write/waiting",)]
    assert audited == [("entry.change",)]
