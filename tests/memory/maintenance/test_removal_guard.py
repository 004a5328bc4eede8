"""The guard: how much of an agent's memory a run may remove."""

import pytest

from mnestic.memory.maintenance.policies import MaintenancePolicy
from mnestic.memory.maintenance.removal_guard import ActiveMemory, find_excess


def test_what_is_within_the_share_goes_on() -> None:
    assert _excess((0, 0), (0, 0)) is None
    assert _excess((10, 10), (0, 0)) is None, "few may always go"
    assert _excess((100, 100), (80, 80)) is None, "the share itself"
    assert _excess((100, 100), (120, 100)) is None, "there is more than before"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ((100, 100), (100, 79), "21 of 100 active entries (21%)"),
        ((100, 100), (79, 100), "21 of 100 active facts (21%)"),
        ((0, 11), (0, 0), "11 of 11 active entries (100%)"),
    ],
)
def test_what_is_above_says_who_how_much_and_what_to_do(
    before: tuple[int, int], after: tuple[int, int], said: str
) -> None:
    excess = _excess(before, after)

    assert excess is not None
    assert excess.startswith(f"agent ada: {said} would be removed, and at most 20% may be")
    assert "`mnestic maintenance run nightly --agent ada --allow-removals`" in excess


def test_the_policy_says_how_much_that_is() -> None:
    policy = MaintenancePolicy(largest_removal_share=0, always_removable=2)

    assert _excess((9, 9), (7, 7), policy) is None
    assert _excess((9, 9), (9, 6), policy) is not None


def test_what_earlier_runs_have_archived_counts_too() -> None:
    assert _excess((100, 100), (100, 95), archived=(0, 5), earlier=(0, 90)) is None
    excess = _excess((100, 100), (100, 94), archived=(0, 6), earlier=(0, 90))

    assert excess is not None
    assert (
        "96 of 190 active entries (51%) would be removed within 30 days, and at most 50%" in excess
    )
    assert _excess((100, 100), (100, 90), earlier=(900, 900)) is None, "it archives nothing itself"


def _excess(
    before: tuple[int, int],
    after: tuple[int, int],
    policy: MaintenancePolicy | None = None,
    *,
    archived: tuple[int, int] = (0, 0),
    earlier: tuple[int, int] = (0, 0),
) -> str | None:
    return find_excess(
        "ada",
        kind="nightly",
        before=ActiveMemory(*before),
        after=ActiveMemory(*after),
        archived=ActiveMemory(*archived),
        earlier=ActiveMemory(*earlier),
        policy=policy or MaintenancePolicy(),
    )
