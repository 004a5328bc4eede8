"""`mnestic maintenance run`, and what `mnestic stats` shows of it."""

import json

import pytest

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.rotten_snapshots import rot_snapshots
from tests.starter.cli.conftest import Ask, Cli
from tests.transactions import Execute

ADA = ("--agent", "ada")


@pytest.mark.usefixtures("worker", "maintenance_worker")
async def test_what_the_guard_stops_is_an_exit_code_and_a_finding_of_the_doctor(ask: Ask) -> None:
    await ask("maintenance", "policy", "set", "always_removable", "0")
    for end in ".!":
        await ask("memory", "add", f"The ferry leaves at nine{end}", *ADA, "--wait")

    stopped = await ask("maintenance", "run", "nightly", "--json")
    report = json.loads(stopped.out)
    doctor = json.loads((await ask("doctor", "--json")).out)
    checks = {check["part"]: check for check in doctor["checks"]}
    allowed = await ask("maintenance", "run", "nightly", *ADA, "--allow-removals")

    assert (stopped.code, report["counts"]["agents_stopped"]) == (1, 1)
    assert not checks["maintenance"]["ok"]
    assert "agent ada: 1 of 2 active entries (50%)" in checks["maintenance"]["found"]
    assert (allowed.code, "merged: 1" in allowed.out) == (0, True)


@pytest.mark.usefixtures("maintenance_worker")
async def test_a_night_finds_what_is_damaged(
    ask: Ask, client: MnesticClient, waiting: str, execute: Execute, admin_url: str
) -> None:
    await ask("memory", "add", "The ferry leaves at nine.", *ADA)
    await ask("maintenance", "run", "nightly")
    whole = await damaged(client)
    rot_snapshots(admin_url, tenant_id=client.settings.tenant_id)
    execute("DELETE FROM mnestic.posting WHERE tenant_id = %s AND lexeme = 'ferri'")

    report = (await ask("maintenance", "run", "nightly", "--json")).document
    doctor = json.loads((await ask("doctor", "--json")).out)

    checks = {check["part"]: check for check in doctor["checks"]}
    assert {*whole} == {"rows", "words", "vectors", "snapshots", "pages", "indexes"}
    assert {*whole.values()} == {0}
    assert await damaged(client) == whole | {"words": 1, "snapshots": 1}
    assert [problem.partition(" ")[0] for problem in report["problems"]] == ["1", "1"]
    assert waiting in report["problems"][1]
    assert not checks["maintenance"]["ok"]


async def damaged(client: MnesticClient) -> dict[str, float]:
    """What of the tenant is damaged, as Prometheus reads it."""
    samples = await client.maintenance.list_samples()
    return {one.labels["kind"]: one.value for one in samples if one.name == "damaged"}


@pytest.mark.usefixtures("maintenance_worker")
async def test_a_run_shows_its_progress_to_a_person(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask("memory", "add", "The ferry leaves at nine.", *ADA)
    elsewhere = await ask("maintenance", "run", "nightly", "--json")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal

    seen = await ask("maintenance", "run", "nightly", "--json")

    assert elsewhere.document["agents"] == 1
    assert elsewhere.err.startswith("run nightly-")
    assert elsewhere.err.endswith(" has started\n")
    assert elsewhere.err.count("\n") == 1
    assert seen.document["agents"] == 1
    assert "nightly: agents" in seen.err
    assert "1/1" in seen.err


@pytest.mark.usefixtures("maintenance_worker")
async def test_statistics_show_the_archive_and_the_growth_since_the_last_run(ask: Ask) -> None:
    added = (await ask("memory", "add", "The ferry leaves at nine.", *ADA, "--json")).document
    before = (await ask("stats", *ADA, "--json")).document
    await ask("maintenance", "run", "nightly")
    await ask("memory", "archive", added["id"], *ADA)

    document = (await ask("stats", *ADA, "--json")).document
    table = (await ask("stats", *ADA)).out

    since = document["growth"]["since_last"]["nightly"]
    assert (before["archived"], before["growth"]["since_last"]) == ({}, {})
    assert document["archived"] == {"by_hand": 1}
    assert (since["entries"], since["archived"], since["messages"]) == (-1, 1, 0)
    assert document["growth"]["sizes"]["messages"] == 1
    assert "archived as by_hand" in table
    (grown,) = (line for line in table.splitlines() if "since the last nightly" in line)
    assert "entries -1, archived +1" in grown
    assert "messages" not in grown


@pytest.mark.usefixtures("maintenance_worker")
async def test_a_run_of_one_agent_or_one_that_failed_is_not_that_of_all(ask: Ask) -> None:
    await ask("memory", "add", "The ferry leaves at nine.", *ADA)
    await ask("maintenance", "run", "nightly", *ADA)
    await ask("maintenance", "run", "nightly", "--dry-run")
    nobody = await ask("maintenance", "run", "nightly", "--agent", "nobody")
    failed = await ask("maintenance", "run", "backup")
    statistics = (await ask("stats", *ADA)).out
    reports = (await ask("maintenance", "reports")).out

    assert "last nightly" not in statistics
    assert "agent ada " in reports
    assert "1 agent, dry run" in reports
    assert (nobody.code, "agent nobody has no memory" in nobody.err) == (0, True)
    error = failed.err.splitlines()[-1]
    assert (failed.code, failed.out) == (1, "")
    assert "failed: MNESTIC_BACKUP_DIRECTORY: is not set" in error
    assert "last backup" not in statistics


def test_the_owner_of_the_tables_sees_the_sizes_of_all_tenants(wired: Cli) -> None:
    for name, number in (("sizes-of-one", 1), ("sizes-of-two", 2)):
        for place in range(number):
            text = f"The ferry leaves at {place}."
            assert wired("--tenant", name, "memory", "add", text, *ADA).code == 0

    document = wired("maintenance", "sizes", "--json").document
    table = wired("maintenance", "sizes").out

    (entry,) = (one for one in document["tables"] if one["name"] == "entry")
    of = {name: document["tenants"][f"sizes-of-{name}"]["entries"] for name in ("one", "two")}
    assert of == {"one": 1, "two": 2}
    assert min(entry["table_bytes"], entry["index_bytes"]) > 0
    assert "sizes-of-two" in table
