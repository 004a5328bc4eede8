"""The parser of English on what people say in their own words: the least that is demanded; docs/knowledge.md has the figures."""

from pathlib import Path

import pytest

from mnestic.activities.clients.english.extractor import EnglishExtractor
from tests.extraction.reworded import cases_of, outcomes, rates

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    ("name", "found", "absent", "archived"),
    [
        ("reworded.yaml", 0.55, 0.88, 0.70),
        ("reworded_later.yaml", 0.90, 0.95, 0.80),
        ("reworded_third.yaml", 0.80, 0.90, 0.70),
        ("reworded_corrections.yaml", 0.75, 0.90, 1),
        ("reworded_names.yaml", 0.90, 0.90, 1),
    ],
)
async def test_rates_on_reworded_facts(
    name: str, found: float, absent: float, archived: float
) -> None:
    told = await outcomes(cases_of(HERE / name), EnglishExtractor())

    shares = {kind: right / count if count else 1 for kind, (right, count) in rates(told).items()}

    wrong = [one for one in told if not one.is_right]
    assert shares["active"] >= found, wrong
    assert shares["absent"] >= absent, wrong
    assert shares["archived"] >= archived, wrong
