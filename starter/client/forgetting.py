"""`memory.forgetting`: forgetting a topic without waiting for the end."""

from typing import TYPE_CHECKING

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.forgetting.requests import Purged, TopicForgotten
from mnestic.memory.forgetting.topics import topic_words
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.client_scope import ClientPart, ClientScope
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.started_workflow import StartedWorkflow

if TYPE_CHECKING:  # a third of a second, which only who forgets pays
    from mnestic.starter.forgetting.forget_topic import TopicForgetting


class ForgettingClient(ClientPart):
    """What forgetting takes that does not wait. `memory.preview_forget` and `memory.forget` do."""

    def __init__(self, scope: ClientScope, *, reach: LazyTemporal | None) -> None:
        super().__init__(scope)
        self._reach = reach

    async def start(
        self, topic: FreeText, *, confirm: str | None = None
    ) -> StartedWorkflow[Purged]:
        """Begins to forget, as `forget` does, and does not wait for the end.

        Raises:
            InvalidInputError: as of `forget`.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await topic_forgetting(self._scope, self._reach, topic)
        return await forgetting.start(topic, await forgetting.confirmed(topic, confirm))

    async def report(
        self, topic: FreeText, done: Purged, *, preview: TopicForgotten | None = None
    ) -> TopicForgotten:
        """What a forgetting that has ended has purged, and what speaks of the topic still.

        Args:
            topic: The topic, which nobody else knows any more.
            done: The result of `ForgetTopic`.
            preview: The preview, whose items are repeated in the report.
        """
        return await (await topic_forgetting(self._scope, self._reach, topic)).report(
            topic, done, preview=preview
        )


async def topic_forgetting(
    scope: ClientScope, reach: LazyTemporal | None, topic: str
) -> "TopicForgetting":
    """What forgets a topic.

    Raises:
        InvalidInputError: the topic has no words that mean something, or is too long.
        ConfigurationError: the client has no way to Temporal.
        TemporalUnavailableError: Temporal does not answer.
    """
    topic_words(topic)
    if reach is None:
        why = "is needed to forget; use the memory of a connected client"
        raise ConfigurationError(setting="TEMPORAL_ADDRESS", why=why)
    reached = await reach.temporal()
    from mnestic.starter.forgetting.forget_topic import (  # noqa: PLC0415 - it imports Temporal
        TopicForgetting,
    )

    return TopicForgetting(scope.caller, models=scope.models, reach=reached)
