"""What a job is about to store, without what was forgotten and is kept out.

A job goes on where a person is refused: nobody is there to lift a keep-out.
"""

from collections.abc import Sequence

from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.jobs.episodes import Episode
from mnestic.memory.jobs.writes import RecordWrite
from mnestic.memory.ports import Transaction


async def allowed_records(
    transaction: Transaction, records: Sequence[RecordWrite]
) -> list[RecordWrite]:
    """Records without those that speak of what is kept out."""
    texts = [texts_of([one.namespace, one.key, one.value]) for one in records]
    are_out = await transaction.suppression_list.are_kept_out(texts)
    if any(are_out):
        transaction.note("record.keep_out", f"{sum(are_out)} records")
    return [one for one, is_out in zip(records, are_out, strict=True) if not is_out]


async def allowed_episode(transaction: Transaction, episode: Episode) -> Episode:
    """An episode without the clauses that are kept out; what it was made from goes as a whole if it speaks of that."""
    (summary,) = await transaction.suppression_list.left_of([(episode.summary,)])
    (is_out,) = await transaction.suppression_list.are_kept_out([texts_of(episode.payload)])
    if summary == episode.summary and not is_out:
        return episode
    transaction.note("episode.keep_out", episode.id)
    payload = {} if is_out else episode.payload
    return episode.model_copy(update={"summary": summary, "payload": payload})
