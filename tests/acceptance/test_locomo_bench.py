"""The benchmark on LoCoMo from a shell: one object, of a conversation whose answers are known."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.nightly

LIMIT_S = 120.0
SAID = [
    ("Ana", "I bought a red kayak at the harbour market."),
    ("Ben", "Nice! My grandmother taught me to bake rye bread."),
    ("Ana", "The violin teacher moved our lesson to Thursday."),
    ("Ben", "My dentist found a cracked molar."),
    ("Ana", "We planted forty tulip bulbs behind the shed."),
    ("Ben", "The train to Vienna was cancelled by a snowstorm."),
]
ASKED = [
    ("What colour is Ana's kayak?", ["D1:1"], 4),
    ("Who taught Ben to bake bread?", ["D1:2"], 1),
    ("When is the violin lesson?", ["D1:3"], 2),
    ("Which flowers might bloom in Ana's garden?", ["D2:5; D9:9"], 3),
    ("What colour is Ben's kayak?", ["D1:1"], 5),
    ("Who is not in the conversation?", [], 4),
]
CUTS, SESSION_CUTS = {"5", "10", "20"}, {"1", "5", "10"}


@pytest.fixture(scope="module")
def report(processes: Any, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What it prints, of two samples."""
    path = tmp_path_factory.mktemp("locomo") / "data.json"
    path.write_text(json.dumps([sample("conv-1"), sample("conv-2")]), "utf-8")
    words = (root / "benchmarks" / "locomo" / "locomo.py", "--data", str(path))
    done = processes.run(sys.executable, *words, "--json", limit_s=LIMIT_S)
    assert done.code == 0, done.err
    assert "left out: 2" in done.err
    return done.document


def sample(name: str) -> dict[str, Any]:
    turns = [
        {"speaker": speaker, "dia_id": f"D{1 + place // 3}:{place + 1}", "text": text}
        for place, (speaker, text) in enumerate(SAID)
    ]
    questions = [
        {"question": text, "answer": "", "evidence": evidence, "category": category}
        for text, evidence, category in ASKED
    ]
    return {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns[:3],
            "session_2_date_time": "9:00 am on 2 June, 2023",
            "session_2": turns[3:],
        },
        "qa": questions,
    }


def test_it_prints_one_object_of_these_keys(report: Any) -> None:
    assert set(report) == {
        *("questions", "turn_recall", "by_category", "session_recall"),
        *("tokens_p50", "ms", "baselines", "messages"),
    }
    assert report["questions"] == 8
    assert set(report["turn_recall"]) == CUTS
    assert set(report["session_recall"]) == SESSION_CUTS
    assert set(report["by_category"]) == {"1", "2", "3", "4"}
    assert set(report["ms"]) == {"p50", "p95"}


def test_what_was_said_in_the_same_words_is_found(report: Any) -> None:
    assert report["by_category"]["4"] == {"5": 1, "10": 1, "20": 1}
    assert report["by_category"]["1"]["5"] == 1
    assert report["session_recall"]["5"] >= 0.75
    assert report["tokens_p50"] > 5
    assert 0 < report["ms"]["p50"] <= report["ms"]["p95"]


def test_the_plain_searches_stand_beside_it(report: Any) -> None:
    assert set(report["baselines"]) == {"bm25", "vectors", "rank_fusion"}
    for found in report["baselines"].values():
        assert set(found["turn_recall"]) == CUTS
        assert set(found["session_recall"]) == SESSION_CUTS
        assert found["turn_recall"]["10"] >= 0.75  # six turns in all
