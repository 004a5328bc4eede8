"""A collection of 20,000 documents: its search is that of an exact scan with a filter, and nearly so by its index."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import psycopg
import pytest

from mnestic.memory.jobs.long_term.document_store import DocumentSearch
from mnestic.memory.jobs.long_term.filters import FieldCondition
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.retrieval.vector_indexes import index_vectors
from tests.transactions import Begin

pytestmark = pytest.mark.nightly  # its index takes half a minute

COUNT, WIDTH, CLUSTERS = 20_000, 64, 200
_FILL = (
    """
    INSERT INTO mnestic.entry (tenant_id, agent_id, id, kind, entry_type, status, content, summary, session_id, source_id,
                               subjects, keywords, tags, aliases, times, related, replaces, importance, critical,
                               access_count, language, at, created_at, updated_at, features)
    SELECT %(tenant)s, 'ada/guides', 'd' || n || '#0', 'document', 'knowledge', 'active', 'text ' || n, '', 'd' || n, '0',
           '[]', '[]', '[]', '[]', '[]', '[]', '[]', 0.5, false, 0, 'english', now(), now(), now(), 0
      FROM generate_series(1, %(count)s) AS n""",
    """
    INSERT INTO mnestic.document (tenant_id, agent_id, collection_id, id, metadata, places, numbers, created_at, updated_at)
    SELECT tenant_id, 'ada', 'guides', session_id, jsonb_build_object('share', mod(CAST(substr(session_id, 2) AS integer), 100)),
           '[{}]', ARRAY[number], now(), now()
      FROM mnestic.entry WHERE tenant_id = %(tenant)s AND agent_id = 'ada/guides'""",
    """
    INSERT INTO mnestic.corpus (tenant_id, agent_id, entries, lexemes, languages, active_model)
    VALUES (%(tenant)s, 'ada/guides', %(count)s, 0, '{}', 'test-64')""",
    """
    INSERT INTO mnestic.embedding_model (tenant_id, agent_id, model, entries, complete_to)
    VALUES (%(tenant)s, 'ada/guides', 'test-64', %(count)s, 0)""",
)
_EMBED = """
    INSERT INTO mnestic.embedding (tenant_id, agent_id, model, entry_number, dimensions, vector)
    SELECT %(tenant)s, 'ada/guides', 'test-64', e.number, %(width)s, CAST(v.vector AS halfvec)
      FROM unnest(%(ids)s::text[], %(vectors)s::text[]) AS v (id, vector)
      JOIN mnestic.entry AS e ON e.tenant_id = %(tenant)s AND e.agent_id = 'ada/guides' AND e.session_id = v.id
"""


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.fixture
def vectors(admin_url: str, settings: Settings) -> Any:
    """Vectors in clusters, as those of texts are, of documents that are stored."""
    random = np.random.default_rng(7)
    centres = unit(random.normal(size=(CLUSTERS, WIDTH)))
    spread = random.normal(size=(COUNT, WIDTH)) * 0.08
    made = unit(centres[random.integers(CLUSTERS, size=COUNT)] + spread)
    values = {
        "tenant": settings.tenant_id,
        "count": COUNT,
        "width": WIDTH,
        "ids": [f"d{number}" for number in range(1, COUNT + 1)],
        "vectors": [json.dumps(one) for one in made.round(5).tolist()],
    }
    with psycopg.connect(admin_url) as owner:
        for statement in (*_FILL, _EMBED):
            owner.execute(statement.encode(), values)
    return made


async def test_recall_with_a_filter_is_that_of_an_exact_scan(
    begin: Begin, vectors: Any, admin_url: str, settings: Settings
) -> None:
    index_vectors(admin_url, settings.tenant_id)
    random = np.random.default_rng(8)
    queries = unit(
        vectors[random.integers(COUNT, size=20)] + random.normal(size=(20, WIDTH)) * 0.05
    )
    passing = np.arange(1, COUNT + 1) % 100 == 42

    async def recall(where: FieldCondition | None, exact: Callable[[Any], list[int]]) -> float:
        shares = []
        for query in queries:
            async with begin() as transaction:
                found = await transaction.documents.search(
                    "guides",
                    DocumentSearch(
                        name="test-64",
                        vector=np.asarray(query, "<f4").tobytes(),
                        metric="cosine",
                        limit=10,
                        where=where,
                    ),
                )
            wanted = {f"d{number + 1}" for number in exact(vectors @ query)}
            shares.append(len(wanted & {one.id for one in found}) / 10)
        return float(np.mean(shares))

    of_filter = await recall(
        FieldCondition(field="share", value=42),
        lambda scores: list(np.argsort(-np.where(passing, scores, -2))[:10]),
    )
    of_all = await recall(None, lambda scores: list(np.argsort(-scores)[:10]))

    assert of_filter >= 0.99  # of equals in 16 bits another may be the tenth
    assert of_all >= 0.95
