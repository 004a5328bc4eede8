"""Filling in templates that name memory.

All activities find the same under `${memory…}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mnestic.activities.jobs.contexts import load_context
from mnestic.activities.jobs.tools import load_results
from mnestic.activities.operations import OperationInput
from mnestic.memory.jobs.contexts import ContextSelection, JobContext, PinnedEpisodes
from mnestic.memory.jobs.templates import as_text, names_under, resolve
from mnestic.memory.jobs.working_memory import WorkingMemory
from mnestic.memory.ports import Retriever, Transaction
from mnestic.memory.retrieval.selections import AutoSelection

Selection = TypeVar("Selection", bound=AutoSelection)
_OF_CONTEXT = frozenset({"episodes", "records"})
_FILLED_BYTES = (
    16_777_216  # more than any prompt or write is; it keeps a worker from running out of memory
)


@dataclass(frozen=True)
class TemplateValues:
    """What templates find beside working memory: results of nodes by id, and the job's context."""

    results: Mapping[str, Any] = field(default_factory=dict)
    context: JobContext = field(default_factory=JobContext)


async def load_values(
    transaction: Transaction,
    retriever: Retriever,
    request: OperationInput,
    *,
    value: Any,
    results: Mapping[str, Any],
    sealed_tail: PinnedEpisodes | None,
) -> TemplateValues:
    """What the templates of a value may find; the job's context is read where one names it.

    Raises:
        NotFoundError: a result that the job holds by reference is not there any more.
        StoredValueError: it is not the one that was stored.
    """
    context = JobContext()
    if _OF_CONTEXT & names_under(value, "memory"):
        context = await load_context(
            transaction, retriever, request, select=ContextSelection(), sealed_tail=sealed_tail
        )
    return TemplateValues(await load_results(transaction, results), context)


def fill_selection(select: Selection, state: WorkingMemory, values: TemplateValues) -> Selection:
    """A selection with the templates of its question, its reader and its asker filled in."""
    given = {"question": select.question, "reader": select.reader, "asker": select.asker}
    return select.model_copy(
        update={
            name: as_text(fill_in(value, state, values))
            for name, value in given.items()
            if value is not None
        }
    )


def fill_in(value: Any, state: WorkingMemory, values: TemplateValues) -> Any:
    """Fills in the templates that name memory.

    Raises:
        InvalidInputError: a template names something that is not there.
    """
    memory = {
        "results": values.results,
        "variables": state.variables,
        "scratchpad": state.scratchpad,
        "task": state.current_task or "",
        "message_count": len(state.messages),
        **values.context.as_roots(),
    }
    return resolve(value, {"memory": memory}, limit_bytes=_FILLED_BYTES)
