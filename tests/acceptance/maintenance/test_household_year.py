"""A year of everyday messages with all maintenance: what is still answered with the cleanup, and how much it saves."""

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest
from temporalio.testing import ActivityEnvironment

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.activities.clients.tokens import count_tokens
from mnestic.activities.knowledge.ingestion import IngestActivities
from mnestic.activities.maintenance.steps import MaintenanceActivities, MaintenanceStep, StepResult
from mnestic.activities.models.embedders import Embedders
from mnestic.memory.maintenance.policies import SETTING, MaintenanceKind
from mnestic.memory.ports import Memory
from mnestic.memory.retrieval.queries import PRESETS, RetrievalPolicy, RetrievedEntry
from mnestic.memory.scope import EVERY_AGENT
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.acceptance.maintenance.household_year import (
    ASKED_AT,
    BEGAN,
    QUESTIONS,
    Question,
    messages_of,
)
from tests.activities.learning_models import Steps

pytestmark = pytest.mark.nightly
log = logging.getLogger(__name__)

WEEKS, RESULTS = 52, 5
# The agents, each with its changes to the policy of the cleanup; None: it has no cleanup. docs/maintenance.md has a row for each, and
# for others that were measured by adding them here.
WITHOUT, DEFAULTS, DELETING = "without", "defaults", "delete_archived"
AGENTS: dict[str, dict[str, Any] | None] = {
    WITHOUT: None,
    DEFAULTS: {},
    DELETING: {"delete_archived": True},
}


class Answered(NamedTuple):
    """How many questions of each kind are answered, by how many archived entries, and how much the memory holds."""

    questions: Counter[str]
    archived_answers: int
    live: int
    archived: int


@pytest.fixture
def year(client: MnesticClient, memory: Memory, settings: Settings) -> "Year":
    """A year that begins."""
    return Year(client, memory, settings)


class Year:
    """The year of the agents: all hear the same."""

    def __init__(self, client: MnesticClient, memory: Memory, settings: Settings) -> None:
        self._client, self._memory, self._settings = client, memory, settings
        ingestion = IngestActivities(
            memory, extractor=EnglishExtractor(), embedders=Embedders(TokenVectorEmbedder())
        )
        self._steps = [Steps(ingestion, settings, agent_id=name) for name in AGENTS]
        self._maintenance = MaintenanceActivities(
            memory, index_vectors=_no_indexes, count_tokens=count_tokens
        )

    async def live(self, week: int) -> None:
        """A week: its messages, its nights, cleanups and end, and after four weeks a month's."""
        for name in AGENTS:
            await self._client.memory(name).ingest([*messages_of(week)])
        for steps in self._steps:
            await steps.extract()
            await steps.learn()
            await steps.embed()
        ends = BEGAN + timedelta(weeks=week + 1)
        for at in (ends - timedelta(days=3), ends):
            await self._maintain("nightly", at)
            for name, changes in AGENTS.items():
                if changes is not None:
                    policy = {"cleanup": {"enabled": True, **changes}}
                    await self._set_policy(policy)
                    await self._maintain("cleanup", at, agent_id=name)
        await self._maintain("weekly", ends)
        if week % 4 == 3:
            await self._maintain("monthly", ends)

    async def _set_policy(self, policy: dict[str, Any]) -> None:
        async with self._memory.transaction(
            tenant_id=self._settings.tenant_id, agent_id=EVERY_AGENT, actor="test", write=True
        ) as transaction:
            await transaction.settings.put(SETTING, policy)

    async def _maintain(self, kind: MaintenanceKind, at: datetime, **fields: str) -> None:
        step = MaintenanceStep(
            tenant_id=self._settings.tenant_id, kind=kind, scheduled_at=at, **fields
        )
        done: StepResult = await ActivityEnvironment().run(self._maintenance.maintain, step)
        assert done.problems == (), (kind, at)

    async def ask(self, name: str, policy: RetrievalPolicy | None = None) -> Answered:
        """Asks an agent all questions at the end of the year."""
        agent = self._client.memory(name)
        questions, archived = Counter[str](), 0
        for kind, asked in QUESTIONS.items():
            for question in asked:
                found = await agent.retrieve(
                    question.text,
                    policy=policy,
                    limit=RESULTS,
                    as_of=ASKED_AT,
                    asked_at=ASKED_AT,
                    is_access=False,
                )
                if answer := _answer(question, found.results):
                    questions[kind] += 1
                    archived += answer.archived
                else:
                    log.info("not answered: %s %s", name, question.text)
        stats = await agent.stats()
        held = sum(stats.entries.by_kind.values()), sum(stats.archived.values())
        return Answered(questions, archived, *held)


def _answer(question: Question, results: tuple[RetrievedEntry, ...]) -> RetrievedEntry | None:
    """The result that answers a question, unless one before it says what was so earlier."""
    for one in results:
        if question.answer in one.entry.content:
            return one
        if any(other in one.entry.content for other in question.outdated):
            return None
    return None


async def test_a_year_with_the_cleanup_answers_nearly_as_much_out_of_less_than_half(
    year: Year,
) -> None:
    for week in range(WEEKS):
        await year.live(week)
    never = PRESETS["mnestic"].model_copy(update={"archived": "never"})
    answered = {name: await year.ask(name) for name in AGENTS}
    answered["archived never"] = await year.ask(DEFAULTS, never)
    for name, one in answered.items():
        log.info("%s: %d of 40, %s", name, one.questions.total(), one)

    defaults, without = answered[DEFAULTS], answered[WITHOUT]
    assert without.questions.total() >= 39
    assert defaults.questions.total() >= 37
    assert defaults.questions["once"] >= 13
    assert defaults.questions["current"] >= 9
    assert 2 * defaults.live < without.live
    assert answered["archived never"].questions < defaults.questions
    assert answered[DELETING].archived < defaults.archived


async def _no_indexes(*_: object) -> tuple[int, int]:
    return 0, 0
