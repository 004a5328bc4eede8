"""Steps of a forgetting that began before a table was renamed."""

import pytest

from mnestic.activities.forgetting.steps import PurgeInput
from mnestic.activities.forgetting.topic_rows import changed_tables


@pytest.mark.parametrize(
    ("named", "table"),
    [("learning", "ingest_state"), ("signal", "memory_event"), ("resource", "resource")],
)
def test_a_step_for_an_older_name_goes_through_the_table_of_today(named: str, table: str) -> None:
    document = {"tenant_id": "t", "agent_id": "ada", "forgetting_id": "f", "table": named}

    assert PurgeInput.model_validate(document).table == table


def test_counts_under_older_names_renew_the_statistics_of_tables_of_today() -> None:
    assert set(changed_tables({"learning": 1, "signal": 2})) == {
        *("forgetting", "ingest_state", "memory_event")
    }
