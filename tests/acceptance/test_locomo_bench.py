"""The benchmark on LoCoMo from a shell: one object, of a conversation whose answers are known."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.starter.case_files import read_cases

pytestmark = pytest.mark.nightly

LIMIT_S = 120.0
CUTS, SESSION_CUTS = {"5", "10", "20"}, {"1", "5", "10"}


def test_it_prints_one_object_of_what_was_found_beside_the_plain_searches(
    processes: Any, root: Path, tmp_path: Path
) -> None:
    conversation = read_cases(__file__, "locomo_bench")
    questions = [question | {"answer": ""} for question in conversation.pop("qa")]
    samples = [
        {"sample_id": name, "conversation": conversation, "qa": questions}
        for name in ("conv-1", "conv-2")
    ]
    data, script = tmp_path / "data.json", root / "benchmarks" / "locomo" / "locomo.py"
    data.write_text(json.dumps(samples), "utf-8")

    done = processes.run(sys.executable, script, "--data", data, "--json", limit_s=LIMIT_S)

    report = done.document
    assert done.code == 0, done.err
    assert "left out: 2" in done.err
    assert (report["questions"], set(report["by_category"])) == (8, {"1", "2", "3", "4"})
    assert set(report) == {
        *("questions", "turn_recall", "by_category", "session_recall"),
        *("tokens_p50", "ms", "baselines", "messages"),
    }
    assert set(report["ms"]) == {"p50", "p95"}
    assert report["by_category"]["4"] == {"5": 1, "10": 1, "20": 1}
    assert report["by_category"]["1"]["5"] == 1
    assert report["session_recall"]["5"] >= 0.75
    assert report["tokens_p50"] > 5
    assert 0 < report["ms"]["p50"] <= report["ms"]["p95"]
    assert set(report["baselines"]) == {"bm25", "vectors", "rank_fusion"}
    for found in (report, *report["baselines"].values()):
        assert set(found["turn_recall"]) == CUTS
        assert set(found["session_recall"]) == SESSION_CUTS
        assert found["turn_recall"]["10"] >= 0.75  # six turns in all
