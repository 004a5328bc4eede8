"""Having an agent forget a topic, from outside a job."""

from typing import TYPE_CHECKING

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.forgetting.requests import Purged, TopicForgotten
from mnestic.memory.forgetting.topics import topic_words
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.contexts import ContextClient
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.started_workflow import StartedWorkflow

if TYPE_CHECKING:  # a third of a second, which only who forgets pays
    from mnestic.starter.forgetting.forget_topic import TopicForgetting


class ForgettingClient(ContextClient):
    """One agent's memory, which can forget."""

    _reach: LazyTemporal | None

    async def preview_forget(self, topic: FreeText) -> TopicForgotten:
        """What forgetting a topic would remove and what it would leave.

        `items` are the facts, entries and sentences that would go, `token` confirms just these. It changes nothing that
        anybody reads: entries that have no vector yet get theirs, as ingestion would give them, since they would be
        missed otherwise. Those of which the model makes none are named in `left`.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.

        Raises:
            InvalidInputError: the topic has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        return await (await self._forgetting(topic)).preview(topic)

    async def forget(self, topic: FreeText, *, confirm: str | None = None) -> TopicForgotten:
        """Has the agent forget a topic, for good: what has its words, and what was shown to be about it.

        Entries, their vectors and messages go, and with them what was learned from them; of summaries,
        records, sessions and snapshots of jobs that are over the sentences that speak of it. Jobs that run
        keep what they have in mind, and are named. A message that comes again is not learned from.

        Args:
            topic: A few words. A text speaks of it that has them all, in whichever form.
            confirm: The token of `preview_forget`. What has the topic's words goes also where it came
                since then; of what does not, only the entries that were shown.

        Raises:
            InvalidInputError: there is no token, or what would go is not what it was given for; the topic
                has no words that mean something, or is too long.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await self._forgetting(topic)
        shown = await forgetting.confirmed(topic, confirm)
        done = await (await forgetting.start(topic, shown)).result()
        return await forgetting.tell(topic, done, shown=shown)

    async def start_forgetting(
        self, topic: FreeText, *, confirm: str | None = None
    ) -> StartedWorkflow[Purged]:
        """Begins to forget, as `forget` does, and does not wait for the end.

        Raises:
            InvalidInputError: as of `forget`.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await self._forgetting(topic)
        return await forgetting.start(topic, await forgetting.confirmed(topic, confirm))

    async def tell_forgotten(
        self, topic: FreeText, done: Purged, *, shown: TopicForgotten | None = None
    ) -> TopicForgotten:
        """What a forgetting that has ended has purged, and what speaks of the topic still.

        Args:
            topic: The topic, which nobody else knows any more.
            done: The result of `ForgetTopic`.
            shown: The preview; its items are told once more.
        """
        return await (await self._forgetting(topic)).tell(topic, done, shown=shown)

    async def _forgetting(self, topic: str) -> "TopicForgetting":
        topic_words(topic)
        if self._reach is None:
            why = "is needed to forget; use the memory of a connected client"
            raise ConfigurationError(setting="TEMPORAL_ADDRESS", why=why)
        reach = await self._reach.temporal()
        from mnestic.starter.forgetting.forget_topic import (  # noqa: PLC0415 - it imports Temporal
            TopicForgetting,
        )

        return TopicForgetting(self._caller, models=self._models, reach=reach)
