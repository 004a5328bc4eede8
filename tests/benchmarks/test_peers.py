"""The comparison with peers fails where a ratio has become a quarter worse than the table of the docs says."""

from benchmarks.peers import RECORD, recorded_ratios, worsened

TABLE = """
| figure | Mnestic | plain statement | LangGraph | mem0 | ratio |
|---|---|---|---|---|---|
| search, p50, ms | 12 | 3 | 3.5 | 3.7 | 4 |
| bytes of an entry | 3,000 | 1,500 | | | 2.0 |

| another table | 1 |
"""


def test_a_ratio_fails_from_a_quarter_above_its_record() -> None:
    recorded = recorded_ratios(TABLE)

    assert recorded == {"search, p50, ms": 4, "bytes of an entry": 2}
    assert worsened({"search, p50, ms": 5, "bytes of an entry": 1}, recorded) == []
    assert [
        one.split(":")[0] for one in worsened({"search, p50, ms": 5.1, "new": 1}, recorded)
    ] == [
        "search, p50, ms",
        "new",
    ]


def test_the_docs_record_ratios() -> None:
    assert len(recorded_ratios(RECORD.read_text("utf-8"))) == 8
