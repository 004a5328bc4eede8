"""What memory has for a message, for workflows that call models themselves."""

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from mnestic.activities.failures import failures
from mnestic.activities.operations import OperationInput
from mnestic.activities.retrieval.auto_retrieval import AutoRetriever
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.selections import AutoSelection


class RetrieveInput(OperationInput):
    """A message, what of memory is wanted for it, and the texts that the prompt has anyway."""

    message: str
    select: AutoSelection
    prompt_texts: tuple[str, ...] = ()


class RetrievedText(BaseModel):
    """Memories and notes as one quoted text for a prompt, empty where nothing was found, and its tokens."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    tokens: int


class RetrievalActivities:
    """Auto-retrieval for workflows."""

    def __init__(self, memory: Memory, auto: AutoRetriever) -> None:
        self._memory, self._auto = memory, auto

    @activity.defn(name="mnestic.auto_retrieve")
    async def auto_retrieve(self, params: RetrieveInput) -> RetrievedText:
        """Finds memories and notes to put before a message.

        Idempotent: it reads.
        """
        with failures():
            found = await self._auto.find(
                params.caller(self._memory),
                params.message,
                select=params.select,
                session_id=params.scope.session_id,
                prompt_texts=params.prompt_texts,
            )
            retrieved = self._auto.assemble(found, max_tokens=params.select.max_tokens)
            params.count_accesses(self._memory, retrieved.entry_ids)
            return RetrievedText(text=retrieved.text, tokens=retrieved.tokens)
