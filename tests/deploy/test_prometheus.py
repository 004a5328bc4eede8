"""Alerts fire when they must, and alerts and dashboard use series that `/metrics` exports."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from mnestic.memory.maintenance.samples import Sample
from mnestic.memory.retrieval.caches import CacheCount, CacheCounts
from mnestic.starter.http.metrics import MetricsOfTenants

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yaml"
OURS = re.compile(r"\bmnestic_\w+")


def promtool(*arguments: str | Path) -> str:
    """The output of promtool, of Debian's package `prometheus`."""
    program = shutil.which("promtool")
    assert program, "install promtool: apt-get install prometheus"
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def exported() -> set[str]:
    """The names of the samples that a scrape may have."""
    metrics, caches = MetricsOfTenants(), CacheCounts(answers=CacheCount(), vectors=CacheCount())
    text = metrics.text("tenant", [Sample(name="agents", labels={}, value=1)], caches).decode()
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        histogram = {f"{name}_{part}" for part in ("bucket", "count", "sum")}
        names |= histogram if kind == "histogram" else {name}
    return names


def test_each_alert_fires_when_it_must_and_none_on_a_healthy_service() -> None:
    assert "SUCCESS" in promtool("test", "rules", DEPLOY / "prometheus" / "rules_test.yaml")


def test_prometheus_takes_the_rules() -> None:
    assert "9 rules found" in promtool("check", "rules", "--lint-fatal", RULES)


def test_prometheus_takes_the_configuration() -> None:
    configuration = DEPLOY / "prometheus" / "prometheus.yaml"
    assert "SUCCESS" in promtool("check", "config", "--syntax-only", configuration)


def test_each_alert_watches_series_that_are_exported() -> None:
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]

    used = {name for rule in group["rules"] for name in OURS.findall(rule["expr"])}

    assert used
    assert used - exported() == set()


def test_the_dashboard_shows_each_series_that_is_exported(tmp_path: Path) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
    queries = [one["expr"] for panel in dashboard["panels"] for one in panel["targets"]]
    used = {name for query in queries for name in OURS.findall(query)}
    rules = [{"record": "job:panel", "expr": query.replace("$job", "x")} for query in queries]
    file = tmp_path / "queries.yaml"
    file.write_text(
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8"
    )

    promtool("check", "rules", "--lint", "none", file)
    stems = {re.sub(r"_(bucket|count|sum)$", "", name) for name in used}

    assert used - exported() == set()
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in exported()} - stems == set()
