"""Integrity: whether a sample of entries can be found as it should be, and jobs can go on from their snapshots.

It is looked at each night, and when somebody asks.
"""

from collections.abc import Sequence

from pydantic import ConfigDict, NonNegativeInt

from mnestic.memory.deferred_model import DeferredModel

_NAMED = 10  # jobs in a problem


class IndexSample(DeferredModel):
    """How many entries of a tenant were looked at, and how many of them the indexes do not find.

    Attributes:
        entries: The entries of the sample, of several agents.
        without_words: Those that full text search lacks words of.
        without_vector: Those that have no vector yet.
        not_nearest: Those that their own vector does not find.
    """

    model_config = ConfigDict(frozen=True)

    entries: NonNegativeInt
    without_words: NonNegativeInt
    without_vector: NonNegativeInt
    not_nearest: NonNegativeInt


def find_damage(
    sample: IndexSample, *, jobs: Sequence[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """What is damaged, as counts of a report, and as its problems with their remedies.

    Args:
        sample: What the indexes find.
        jobs: The jobs that wait with a snapshot that cannot be verified.
    """
    of = f"of {sample.entries} sampled entries"
    more = ", …" if len(jobs) > _NAMED else ""
    damage = {
        "damaged_words": (
            sample.without_words,
            f"{of} that full text search lacks words of: mnestic maintenance run monthly",
        ),
        "damaged_vectors": (
            sample.not_nearest,
            f"{of} that their vectors do not find: REINDEX the indexes embedding_hnsw_…",
        ),
        "damaged_snapshots": (
            len(jobs),
            f"jobs that wait with a broken snapshot: mnestic job override ({', '.join(jobs[:_NAMED])}{more})",
        ),
    }
    found = {name: number for name, (number, _) in damage.items() if number}
    return found, tuple(f"{found[name]} {damage[name][1]}" for name in found)
