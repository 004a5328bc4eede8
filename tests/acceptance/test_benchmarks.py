"""The benchmark runs to its end; of its figures, those that no clock measures are held to their targets."""

import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.nightly

LIMIT_S = 600.0
SPREADS = (
    "snapshot_ms",
    "floor_snapshot_ms",
    "restore_ms",
    "restore_drifted_ms",
    "floor_restore_ms",
)


RETRIEVAL_LANES = {
    *("steady", "mixed_1", "mixed_5", "clients_16", "agents"),
    *("before_message", "repeated"),
}
INGEST_RATES = ("bulk_per_s", "bulk_extract_per_s", "floor_copy_per_s", "embed_per_s")


def is_spread(found: Any) -> bool:
    return set(found) == {"p50", "p95"} and 0 < found["p50"] <= found["p95"]


def figures_of(processes: Any, script: Path) -> Any:
    """What a benchmark prints on standard output: one object."""
    done = processes.run(sys.executable, str(script), "--json", "--quick", limit_s=LIMIT_S)
    assert done.code == 0, done.err
    return done.document


@pytest.fixture(scope="module")
def figures(processes: Any, root: Path) -> Any:
    """Of jobs."""
    return figures_of(processes, root / "benchmarks/jobs/jobs.py")


@pytest.fixture(scope="module")
def ingest_figures(processes: Any, root: Path) -> Any:
    """Of learning."""
    return figures_of(processes, root / "benchmarks/ingest/ingest.py")


@pytest.fixture(scope="module")
def retrieval_figures(processes: Any, root: Path) -> Any:
    """Of retrieval."""
    return figures_of(processes, root / "benchmarks/retrieval/retrieval.py")


@pytest.fixture(scope="module")
def api_figures(processes: Any, root: Path) -> Any:
    """Of the HTTP API."""
    return figures_of(processes, root / "benchmarks/api.py")


@pytest.fixture(scope="module")
def page_figures(processes: Any, root: Path) -> Any:
    """Of the pages."""
    return figures_of(processes, root / "benchmarks/pages.py")


def test_requests_over_http_are_measured_beside_the_client(api_figures: Any) -> None:
    for call in ("retrieve", "ingest"):
        assert set(api_figures[call]) == {"1", "16", "64"}
        for found in api_figures[call].values():
            for side in (found["http"], found["client"]):
                assert 0 < side["p50"] <= side["p95"]
                assert side["per_s"] > 0
                assert side["cpu_ms"] > 0


def test_each_page_is_measured(page_figures: Any) -> None:
    pages = page_figures["pages"]

    assert {"facts", "search by both", "graph", "costs", "maintenance", "audit"} <= set(pages)
    for found in pages.values():
        assert is_spread(found["warm_ms"])
        assert found["first_ms"] > 0


def test_each_lane_of_retrieval_is_measured_beside_the_plain_statement(
    retrieval_figures: Any,
) -> None:
    lanes = retrieval_figures["lanes"]

    assert set(lanes) == RETRIEVAL_LANES
    for name, sizes in lanes.items():
        assert set(sizes) == ({"40"} if name == "agents" else {"400"})
        for found in sizes.values():
            assert set(found) == {"product", "floor", "ratio"}
            assert all(ratio > 0 for ratio in found["ratio"].values())
            for side in (found["product"], found["floor"]):
                assert 0 < side["p50"] <= side["p95"] <= side["max"]
                assert side["per_s"] > 0
                assert side["cpu_ms"] > 0


def test_a_new_process_is_measured_from_its_import_on(retrieval_figures: Any) -> None:
    (found,) = retrieval_figures["first"].values()

    for side in (found["product"], found["floor"]):
        assert side["connect"] > 0
        assert len(side["questions"]) == 3
        assert side["together"] == pytest.approx(sum(side["questions"]), rel=0.01)


def test_answers_to_repeated_questions_come_from_the_cache(retrieval_figures: Any) -> None:
    lanes = retrieval_figures["lanes"]

    assert lanes["repeated"]["400"]["product"]["hit_rate"] >= 0.5
    assert lanes["steady"]["400"]["product"]["hit_rate"] == 0


def test_learning_is_told_beside_a_bare_copy(ingest_figures: Any) -> None:
    sizes = ingest_figures["bytes_per_entry"]

    assert is_spread(ingest_figures["add_ms"])
    assert all(ingest_figures[name] > 0 for name in INGEST_RATES)
    assert all(rate > 0 for rate in ingest_figures["growth"].values())
    assert {"entry", "entry_pkey", "posting", "embedding", "embedding_pkey"} <= set(sizes)
    assert sizes.pop("all") == pytest.approx(sum(sizes.values()), abs=1)


def test_latencies_are_told_beside_their_floor(figures: Any) -> None:
    for name in ("resume_to_activity_ms", "floor_ms"):
        assert set(figures[name]) == {"warm", "cold"}
        assert all(is_spread(found) for found in figures[name].values())


def test_snapshots_are_told_by_size(figures: Any) -> None:
    for name in SPREADS:
        assert set(figures[name]) == {"16", "256", "1024"}
        assert all(is_spread(found) for found in figures[name].values())


def test_rates_and_memory_are_told(figures: Any) -> None:
    memory = figures["worker_rss_mb"]

    assert figures["jobs_per_s"] > 0
    assert figures["floor_jobs_per_s"] > 0
    assert figures["share_of_floor"] > 0
    for used in (figures["job_cpu_ms"], figures["floor_job_cpu_ms"]):
        assert set(used) == {"worker", "temporal", "postgres", "client"}
        assert used["worker"] > 0
        assert used["temporal"] > 0
    assert figures["worker_idle_rss_mb"] > 0
    assert len(memory) == 2
    assert set(figures["floor_worker_rss_mb"]) == set(memory)
    assert all(parked.isdigit() and rss > 0 for parked, rss in memory.items())


def test_a_wait_adds_little_history(figures: Any) -> None:
    assert 0 < figures["events_per_wait"] <= 16
    assert 0 < figures["bytes_per_wait"] <= 8192


def test_the_machine_is_told(figures: Any) -> None:
    machine = figures["machine"]

    assert machine["cores"] >= 1
    assert machine["memory_gib"] >= 1
    assert all(machine[name] for name in ("system", "python", "postgres", "temporal"))
    assert {"mnestic", "temporalio"} <= set(machine["versions"])
