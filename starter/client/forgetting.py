"""`memory.forgetting`: starts forgetting a topic without waiting for the end."""

from typing import TYPE_CHECKING

from mnestic.memory.errors import ConfigurationError
from mnestic.memory.forgetting.requests import Purged, Suppression, TopicForgotten
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.starter.checked_texts import FreeText
from mnestic.starter.client.client_scope import ClientPart, ClientScope
from mnestic.starter.lazy_temporal import LazyTemporal
from mnestic.starter.started_workflow import StartedWorkflow

if TYPE_CHECKING:  # a third of a second, which only forgetting should cost
    from mnestic.starter.forgetting.forget_topic import TopicForgetting


class ForgettingClient(ClientPart):
    """Forgetting in two steps: start it, then report. `memory.preview_forget` and `memory.forget` do both."""

    def __init__(self, scope: ClientScope, *, lazy_temporal: LazyTemporal | None) -> None:
        super().__init__(scope)
        self._lazy_temporal = lazy_temporal

    async def start(
        self,
        topic: FreeText,
        *,
        confirm: str | None = None,
        keep_out: bool = False,
        request_id: str | None = None,
    ) -> StartedWorkflow[Purged]:
        """Starts forgetting, as `forget` does, without waiting for the end.

        The same `request_id` again gets the first start.

        Raises:
            InvalidInputError: as of `forget`.
            AlreadyExistsError: a request with the id is being started.
            ModelUnavailableError: the model of the entries' vectors does not answer.
            TemporalUnavailableError: Temporal does not answer.
        """
        forgetting = await topic_forgetting(self._scope, self._lazy_temporal, topic)
        if request_id is not None:
            started = await forgetting.find(request_id)
            if started is not None:
                return started
        preview = await forgetting.confirmed(topic, confirm)
        return await forgetting.start(topic, preview, keep_out=keep_out, request_id=request_id)

    async def keep_outs(self) -> tuple[Suppression, ...]:
        """What was forgotten and is kept from being learned again, the oldest first; nobody has its words any more."""
        async with self._scope.transaction(write=False) as transaction:
            return await transaction.suppression_list.list_suppressed()

    async def lift_keep_out(self, keep_out_id: str) -> None:
        """Lets what was forgotten be learned again when somebody says it; what is gone stays gone.

        Raises:
            NotFoundError: nothing is kept out under that id.
        """
        async with self._scope.transaction(write=True) as transaction:
            await transaction.suppression_list.lift(keep_out_id)

    async def report(
        self, topic: FreeText, done: Purged, *, preview: TopicForgotten | None = None
    ) -> TopicForgotten:
        """What a completed forgetting has purged, and what still matches the topic.

        Args:
            topic: The topic, which is stored nowhere any more.
            done: The result of `ForgetTopic`.
            preview: The preview, whose items are repeated in the report.
        """
        return await (await topic_forgetting(self._scope, self._lazy_temporal, topic)).report(
            topic, done, preview=preview
        )


async def topic_forgetting(
    scope: ClientScope, lazy_temporal: LazyTemporal | None, topic: str
) -> "TopicForgetting":
    """The forgetting of a topic.

    Raises:
        InvalidInputError: the topic has no content words, or is too long.
        ConfigurationError: the client has no way to Temporal.
        TemporalUnavailableError: Temporal does not answer.
    """
    scope.caller.check_writes()
    parse_topic(topic)
    if lazy_temporal is None:
        why = "is needed to forget; use the memory of a connected client"
        raise ConfigurationError(setting="TEMPORAL_ADDRESS", why=why)
    temporal_connection = await lazy_temporal.temporal()
    from mnestic.starter.forgetting.forget_topic import (  # noqa: PLC0415 - it imports Temporal
        TopicForgetting,
    )

    return TopicForgetting(scope.caller, models=scope.models, connection=temporal_connection)
