"""A part of a cleanup reads as many archived entries as it looks at, however large the archive is and old its statistics are."""

from datetime import UTC, datetime
from typing import Any

import psycopg

from mnestic.memory.maintenance.policies import CleanupPolicy
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.queries import read_query
from mnestic.stores.postgres.transaction_setup import begin_statements
from tests.stores.plan_samples import parts_of, plans_of

AGENT = "ada"
ARCHIVED, LIMIT = 5000, 20
ARCHIVE = """
INSERT INTO mnestic.archived_entry (tenant_id, agent_id, id, archived_at, reason, run, entry, models, vectors)
SELECT %s, %s, 'e' || n, now(), 'unimportant', 'r0',
       jsonb_build_object('id', 'e' || n, 'importance', 0, 'at', now(), 'critical', false), '{}', '{}'
  FROM generate_series(1, %s) AS n
"""


async def test_a_part_reads_no_more_of_the_archive_than_it_looks_at(
    settings: Settings, admin_url: str, application_url: str
) -> None:
    with psycopg.connect(admin_url, autocommit=True) as owner:
        owner.execute("ANALYZE mnestic.archived_entry")
        for other in range(200):  # of which the statistics do not know
            owner.execute(ARCHIVE, [f"{settings.tenant_id}-{other}", AGENT, 10])
        owner.execute(ARCHIVE, [settings.tenant_id, AGENT, ARCHIVED])
    values: dict[str, Any] = {
        **CleanupPolicy(delete_archived=True).model_dump(exclude={"enabled", "times"}),
        "tenant_id": settings.tenant_id,
        "agent_id": AGENT,
        "now": datetime.now(UTC),
        "run": "r1",
        "after": "e2",
        "limit": LIMIT,
    }

    (listed,) = await plans_of(
        application_url,
        [
            *begin_statements(settings.tenant_id, write=True),
            read_query("deletable_entries.set_sorting").bind({"sorting": "off"}),
            read_query("deletable_entries.list").bind(values),
            ("COMMIT", ()),
        ],
        "ANALYZE,",
    )

    scans = [
        part for part in parts_of(listed.plan) if part.get("Relation Name") == "archived_entry"
    ]
    assert len(scans) >= 2
    for scan in scans:
        read = scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0)
        assert read * scan["Actual Loops"] <= LIMIT
