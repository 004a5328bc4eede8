"""`GET /v1/metrics`: what Prometheus reads of memory, and who may read it."""

import uuid

import httpx2
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.maintenance_wiring import create_schedules
from mnestic.starter.tenants import Tenants
from mnestic.stores.postgres.memory import PostgresMemory
from tests.starter.http.conftest import NewKey, opened

SECRET = "Mara moved to Porto."


async def scraped(app: FastAPI, key: str) -> tuple[str, dict[tuple[str, ...], float]]:
    """The text of a scrape, and its values by name and labels."""
    async with opened(app, key) as http:
        answer = await http.get("/v1/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    return answer.text, values


async def test_retrievals_are_counted_with_their_results(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add(SECRET)
    key = await new_key(agents=("*",))

    async with opened(app, key) as http:
        for question in ("Where does Mara live?", "Where does Mara live?", "xyzzy"):
            params = {"q": question, "agent_id": "ada"}
            assert (await http.get("/v1/retrieve", params=params)).status_code == 200
        statistics = (await http.get("/v1/memory/stats", params={"agent_id": "ada"})).json()
    _, values = await scraped(app, key)

    assert values["mnestic_retrieval_seconds_count", "hybrid"] == 3
    assert values["mnestic_retrievals_empty_total", "hybrid"] == 1
    assert values["mnestic_retrieval_results_total", "message"] == 2
    assert values["mnestic_http_request_seconds_count", "GET", "/v1/retrieve", "200"] == 3
    assert values["mnestic_cache_lookups_total", "answers", "hit"] >= 1
    counts = {"searches": 3, "with_results": 2, "cached": 1}
    assert statistics["searches"] == [{"mode": "hybrid", "source": "key", **counts}]
    assert statistics["last_learned_at"] is None


async def test_the_stores_are_measured(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    client.settings.data_dir.mkdir(exist_ok=True)
    await client.memory("ada").add(SECRET)

    _, values = await scraped(app, await new_key(agents=("*",)))

    assert (values["mnestic_agents",], values["mnestic_entries",]) == (1, 1)
    assert values["mnestic_ingest_messages", "received"] == 1
    assert values["mnestic_ingest_messages", "parked"] == 0
    assert values["mnestic_temporal_up",] == 1
    assert values["mnestic_jobs", "waiting"] == 0
    assert values["mnestic_disk_free_bytes", "data"] > 0


async def test_a_kind_of_maintenance_that_is_not_set_up_is_not_scheduled(
    app: FastAPI, new_key: NewKey, client: MnesticClient, memory: PostgresMemory
) -> None:
    await create_schedules(memory, client.temporal, client.settings)
    await client.maintenance.pause("weekly")

    _, values = await scraped(app, await new_key(agents=("*",)))

    scheduled = {
        labels[0] for name, *labels in values if name.startswith("mnestic_maintenance_scheduled")
    }
    assert scheduled == {"nightly", "cleanup", "monthly"}


async def test_no_label_names_an_agent_or_quotes_memory(
    app: FastAPI, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("agent-with-a-name").add(SECRET)
    key = await new_key(agents=("*",))
    async with opened(app, key) as http:
        await http.get("/v1/retrieve", params={"q": "Porto?", "agent_id": "agent-with-a-name"})
        await http.request("BREW", "/v1/Porto")

    text, _ = await scraped(app, key)

    assert "agent-with-a-name" not in text
    assert "Porto" not in text
    assert "BREW" not in text


async def test_requests_without_a_key_are_counted(app: FastAPI, new_key: NewKey) -> None:
    async with opened(app, "nonsense") as http:
        refused: httpx2.Response = await http.get("/v1/agents")

    _, values = await scraped(app, await new_key(agents=("*",)))

    assert refused.status_code == 401
    assert values["mnestic_http_requests_without_key_total", "401"] == 1


async def test_a_tenant_sees_its_own_requests_and_sizes_alone(
    app: FastAPI, new_key: NewKey, tenants: Tenants
) -> None:
    other = tenants.client(f"other-{uuid.uuid4().hex}")
    await other.memory("ada").add(SECRET)
    issued = await other.api_keys().create(agents=("*",), actions=("read",))
    async with opened(app, issued.text) as http:
        params = {"q": "Where does Mara live?", "agent_id": "ada"}
        assert (await http.get("/v1/retrieve", params=params)).status_code == 200
    key = await new_key(agents=("*",))

    text, values = await scraped(app, key)
    async with opened(app, key) as http:
        checks = (await http.get("/v1/health/detailed")).json()["checks"]

    (cache,) = (one["found"] for one in checks if one["part"] == "cache")
    assert 'route="/v1/retrieve"' not in text
    assert "table" not in text
    assert {value for name, value in values.items() if "_cache_" in name[0]} == {0}
    assert cache.startswith("answers: 0 of 0 lookups found")
    assert cache.endswith("0 bytes")
