"""Measures retrieval on LoCoMo: how much of the evidence is among the first results.

Everything runs on an embedded runtime of its own, in a directory that is removed afterwards, with the
local provider: no model is asked, and whatever the settings say is not read. Questions go through
the same `MemoryClient.retrieve` that everybody calls: with its defaults for what an answer takes, and with
`min_score=0`, where nothing found is left out, for where the evidence stands, as in the baselines beside it.
"""

import asyncio
import tempfile
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import psycopg
from pydantic import BaseModel, ConfigDict

from benchmarks.local_worker import local_worker
from benchmarks.locomo.baselines import PlainIndex, lexemes_of
from benchmarks.locomo.messages import AskedSample, MessageFigures, measure_messages
from benchmarks.locomo.questions import CATEGORIES, Question, Sample
from mnestic.memory.retrieval.queries import RetrievedEntry
from mnestic.starter.client.ingest_status import wait_for_end
from mnestic.starter.client.ingestion import receive_conversation, start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.memory_wiring import embedder_of, token_counter
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

_TURNS = (5, 10, 20)
_SESSIONS = (1, 5, 10)
_SEARCHED = 100  # entries, so that ten sessions are among them
_ANSWER = 10  # of which an answer is made
_CHANNEL = "locomo"

Answered = TypeVar("Answered")
Report = Callable[[str], None]
Recall = dict[str, float]


class RecallFigures(BaseModel):
    """The share of the evidence among the first turns and the first sessions of the results."""

    model_config = ConfigDict(frozen=True)

    turn_recall: Recall
    session_recall: Recall


class Milliseconds(BaseModel):
    """The duration of a call for the client, with the question's embedding and the database."""

    model_config = ConfigDict(frozen=True)

    p50: float
    p95: float


class LocomoReport(RecallFigures):
    """The figures. `tokens_p50` is of the ten first entries, a line each with its day and speaker.

    `baselines` are plain searches over the same entries, words and vectors, by their names. `messages` are the shares
    by the number of words around a question; there are none of a single sample.
    """

    questions: int
    by_category: dict[str, Recall]
    tokens_p50: float
    ms: Milliseconds
    baselines: dict[str, RecallFigures]
    messages: dict[str, MessageFigures]


class _SearchedQuestion(NamedTuple):
    """A question with the ranking of each search: source ids, the best first."""

    question: Question
    sessions: Mapping[str, str]
    rankings: Mapping[str, Sequence[str]]
    tokens: int
    ms: float


async def measure_locomo(samples: Sequence[Sample], *, report: Report) -> LocomoReport:
    """Ingests each conversation into an agent of its own, and queries it.

    Raises:
        MnesticError: something did not answer, or refused.
    """
    async with knowing_samples(samples, report=report) as client:
        searched = [
            each
            for number, sample in enumerate(samples)
            for each in await _ask(client, sample, agent_id=agent_of(number))
        ]
        asked = [
            AskedSample(sample, client.memory(agent_of(number)), sample.ends_at)
            for number, sample in enumerate(samples)
        ]
        messages = await measure_messages(asked) if asked[1:] else {}
    return _report(searched, messages)


async def ask_samples(
    samples: Sequence[Sample],
    ask: Callable[[MemoryClient, Sample], Awaitable[Answered]],
    *,
    report: Report,
) -> list[Answered]:
    """Ingests each conversation into an agent of its own, and asks the memory of each in some way.

    Raises:
        MnesticError: something did not answer, or refused.
    """
    async with knowing_samples(samples, report=report) as client:
        return [
            await ask(client.memory(agent_of(number)), sample)
            for number, sample in enumerate(samples)
        ]


@asynccontextmanager
async def knowing_samples(
    samples: Sequence[Sample], *, report: Report
) -> AsyncIterator[MnesticClient]:
    """A client of servers whose agents know the conversations, each its own."""
    with tempfile.TemporaryDirectory(prefix="mnestic-bench-") as folder:
        settings = Settings.model_construct(
            data_dir=Path(folder)
        )  # the defaults, of no environment
        runtime = EmbeddedRuntime(settings, report=report, migrate=migrate, start_worker=False)
        async with runtime, await MnesticClient.connect(settings) as client:
            async with local_worker(client):
                for number, sample in enumerate(samples):
                    await _learn(client, sample, agent_id=agent_of(number), report=report)
            yield client


async def _learn(client: MnesticClient, sample: Sample, *, agent_id: str, report: Report) -> None:
    began = time.monotonic()
    received = 0
    async for batch in receive_conversation(
        client, sample.conversation, agent_id=agent_id, channel=_CHANNEL
    ):
        received += batch.new
    await wait_for_end(client, await start_ingest(client, agent_id=agent_id), report=report)
    took = time.monotonic() - began
    report(f"{sample.conversation.title}: {received} turns extracted ({took:.1f} s)")


async def _ask(client: MnesticClient, sample: Sample, *, agent_id: str) -> list[_SearchedQuestion]:
    """Asks the questions of a sample, one after the other."""
    memory, sessions = client.memory(agent_id), sample.sessions
    at = sample.ends_at
    embedder = embedder_of(client.settings, None)
    count = token_counter()
    url = client.endpoints.database_admin_url.get_secret_value()
    searched = []
    async with await psycopg.AsyncConnection.connect(url) as connection:
        plain = await PlainIndex.load(
            connection,
            tenant_id=client.settings.tenant_id,
            agent_id=agent_id,
            model=embedder.name,
        )
        # With names in the question, vectors alone find a third of what they find without.
        bare = [sample.without_speakers(each.text) for each in sample.questions]
        vectors = (await embedder.embed(bare)).vectors
        for question, text, vector in zip(sample.questions, bare, vectors, strict=True):
            began = time.perf_counter()
            retrieval = await memory.retrieve(
                question.text, limit=_ANSWER, asked_at=at, is_access=False
            )
            ms = (time.perf_counter() - began) * 1000
            answer = _rendered(retrieval.results)
            retrieval = await memory.retrieve(
                question.text, limit=_SEARCHED, min_score=0, asked_at=at, is_access=False
            )
            found = plain.rank(await lexemes_of(connection, text), vector)
            found[""] = [each.entry.source_id or "" for each in retrieval.results]
            tokens = await asyncio.to_thread(count, answer)
            searched.append(_SearchedQuestion(question, sessions, found, tokens, ms))
    return searched


def agent_of(number: int) -> str:
    """The agent that knows a conversation."""
    return f"conversation-{number}"


def _rendered(results: Iterable[RetrievedEntry]) -> str:
    entries = [each.entry for each in results]
    return "\n".join(f"{entry.at:%Y-%m-%d} {entry.speaker}: {entry.content}" for entry in entries)


def _report(
    searched: Sequence[_SearchedQuestion], messages: Mapping[str, MessageFigures]
) -> LocomoReport:
    ms = [each.ms for each in searched]
    searches = searched[0].rankings.keys() - {""}
    by_category = {
        str(category): [each for each in searched if each.question.category == category]
        for category in CATEGORIES
    }
    return LocomoReport(
        questions=len(searched),
        turn_recall=_turn_recall(searched, ""),
        by_category={name: _turn_recall(those, "") for name, those in by_category.items() if those},
        session_recall=_session_recall(searched, ""),
        tokens_p50=float(np.median([each.tokens for each in searched])),
        ms=Milliseconds(
            p50=round(float(np.median(ms)), 2), p95=round(float(np.percentile(ms, 95)), 2)
        ),
        baselines={
            search: RecallFigures(
                turn_recall=_turn_recall(searched, search),
                session_recall=_session_recall(searched, search),
            )
            for search in sorted(searches)
        },
        messages=dict(messages),
    )


def _turn_recall(searched: Sequence[_SearchedQuestion], search: str) -> Recall:
    return _recall(((each.rankings[search], each.question.evidence) for each in searched), _TURNS)


def _session_recall(searched: Sequence[_SearchedQuestion], search: str) -> Recall:
    """Sessions in the order of their first turns."""
    ranked = (
        (
            list(dict.fromkeys(each.sessions[turn] for turn in each.rankings[search])),
            {each.sessions[turn] for turn in each.question.evidence},
        )
        for each in searched
    )
    return _recall(ranked, _SESSIONS)


def _recall(ranked: Iterable[tuple[Sequence[str], Collection[str]]], cuts: Sequence[int]) -> Recall:
    """The mean recall among the first results."""
    shares = [
        [len(wanted & set(found[:cut])) / len(wanted) for cut in cuts]
        for found, wanted in ((found, set(wanted)) for found, wanted in ranked)
    ]
    return {
        str(cut): round(float(mean), 4)
        for cut, mean in zip(cuts, np.mean(shares, axis=0), strict=True)
    }
