"""Measures answers: `python benchmarks/questions/questions.py`; progress goes to standard error.

It asks the questions of `worlds/`, each by a search and before a message, with the default settings, and says how much of
what answers comes back (recall), how much of what comes back answers (precision), and how often nothing comes where
nothing answers. Everything runs on servers of its own, which are removed afterwards, with the local provider.
"""

import argparse
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict

from benchmarks.local_worker import local_worker
from mnestic.memory.errors import MnesticError
from mnestic.memory.knowledge.ingestion import IncomingMessage
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.cli.output import (
    exit_code,
    fail,
    print_json,
    print_progress,
    print_table,
    run,
)
from mnestic.starter.client.ingest_status import wait_for_end
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.embedded.runtime import EmbeddedRuntime
from mnestic.starter.logs import configure_logs
from mnestic.starter.settings import Settings
from mnestic.stores.postgres.schema import migrate

WORLDS = Path(__file__).with_name("worlds")
_CHANNEL = "chat"


class Message(BaseModel):
    """A message of a world; of a tool's result, `tool` says which tool returned it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str
    id: str
    session: str
    at: AwareDatetime
    text: str
    speaker: str | None = None
    tool: str | None = None


class Question(BaseModel):
    """A question with the ids of all messages that answer it.

    Those in `may` are neither wanted nor wrong, those in `must_not` say what is so no more.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str
    agent: str
    ask: str
    only: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    must_not: frozenset[str] = frozenset()
    empty: bool = False


class Answer(NamedTuple):
    """A question with what came back, the best first."""

    question: Question
    found: tuple[str, ...]


class Figures(BaseModel):
    """Shares; None where no question of the kind has any.

    `first` counts questions whose first result answers, `stale` those with a result that is so no more.
    """

    model_config = ConfigDict(frozen=True)

    questions: int
    recall: float | None
    precision: float | None
    first: float | None
    stale: float | None
    empty: float | None


Ask = Callable[[MemoryClient, str], Awaitable[tuple[str, ...]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the options, measures, and prints the figures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=Path, default=WORLDS, help="directory of other worlds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--wrong", action="store_true", help="list what is not as it should be")
    options = parser.parse_args(arguments)
    configure_logs(Settings.model_construct(log_level="WARNING"))
    try:
        answers = run(_measure(sorted(options.worlds.glob("*.yaml"))))
    except MnesticError as error:
        return fail(str(error), code=exit_code(error))
    figures = {way: _by_kind(found) for way, found in answers.items()}
    if options.json:
        print_json(
            {way: {k: f.model_dump() for k, f in each.items()} for way, each in figures.items()}
        )
        return 0
    for way, each in figures.items():
        columns = (way, *Figures.model_fields)
        print_table(
            columns, ((kind, *_shown(f)) for kind, f in each.items()), empty="No questions."
        )
    if options.wrong:
        for way, found in answers.items():
            for line in _wrong(found):
                print_progress(f"{way}: {line}")
    return 0


async def _measure(worlds: Sequence[Path]) -> dict[str, list[Answer]]:
    answers: dict[str, list[Answer]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="mnestic-bench-") as folder:
        settings = Settings.model_construct(data_dir=Path(folder))
        runtime = EmbeddedRuntime(
            settings, report=print_progress, migrate=migrate, start_worker=False
        )
        async with runtime, await MnesticClient.connect(settings) as client:
            for path in worlds:
                world = yaml.safe_load(path.read_text(encoding="utf-8"))
                await ingest_messages(
                    client, [Message.model_validate(each) for each in world["memory"]]
                )
                for each in world["cases"]:
                    question = Question.model_validate(each)
                    memory = client.memory(question.agent)
                    for way, ask in WAYS.items():
                        answers[way].append(Answer(question, await ask(memory, question.ask)))
                print_progress(f"{path.stem}: {len(world['cases'])} questions")
    return answers


async def ingest_messages(client: MnesticClient, messages: Sequence[Message]) -> None:
    """Has the agents of a world learn its messages."""
    for agent in dict.fromkeys(message.agent for message in messages):
        own = [_incoming(message) for message in messages if message.agent == agent]
        await client.memory(agent).ingest(own)
        async with local_worker(client):
            started = await start_ingest(client, agent_id=agent)
            await wait_for_end(client, started, report=print_progress)


def _incoming(message: Message) -> IncomingMessage:
    said = Resource(
        session_id=message.session,
        source_id=message.id,
        channel=_CHANNEL,
        speaker=message.tool or message.speaker or "",
        content=message.text,
        at=message.at,
    )
    return IncomingMessage(resource=said, kind="tool_result" if message.tool else "message")


async def _search(memory: MemoryClient, text: str) -> tuple[str, ...]:
    retrieval = await memory.retrieve(text)
    return _sources([each.entry.source_id for each in retrieval.results])


async def _before_message(memory: MemoryClient, text: str) -> tuple[str, ...]:
    retrieval = await memory.auto_retrieve(text, _CHANNEL)
    entries = [await memory.entries.get(entry_id) for entry_id in retrieval.entry_ids]
    return _sources([entry.source_id for entry in entries])


WAYS: dict[str, Ask] = {"search": _search, "before a message": _before_message}


def _sources(ids: Iterable[str | None]) -> tuple[str, ...]:
    """The messages that came back; an entry of a fact or an episode, which no message is, has no id here."""
    return tuple(dict.fromkeys(each or "derived" for each in ids))


def _by_kind(answers: Sequence[Answer]) -> dict[str, Figures]:
    kinds = sorted({answer.question.kind for answer in answers})
    by_kind = {kind: [a for a in answers if a.question.kind == kind] for kind in kinds}
    return {kind: _figures(of) for kind, of in by_kind.items()} | {"all": _figures(answers)}


def _figures(answers: Sequence[Answer]) -> Figures:
    answered = [answer for answer in answers if not answer.question.empty]
    right = [len(set(found) & question.only) for question, found in answered]
    wanted = [len(question.only) for question, _ in answered]
    brought = [len(set(found) - question.may) for question, found in answers]
    superseded = [a for a in answered if a.question.must_not]
    return Figures(
        questions=len(answers),
        recall=_share(sum(right), sum(wanted)),
        precision=_share(sum(right), sum(brought)),
        first=_share(
            sum(found[:1] != () and found[0] in q.only | q.may for q, found in answered),
            len(answered),
        ),
        stale=_share(
            sum(bool(set(a.found) & a.question.must_not) for a in superseded), len(superseded)
        ),
        empty=_share(
            sum(not a.found for a in answers if a.question.empty), len(answers) - len(answered)
        ),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _shown(figures: Figures) -> tuple[object, ...]:
    return tuple("" if value is None else value for value in figures.model_dump().values())


def _wrong(answers: Iterable[Answer]) -> Iterable[str]:
    for question, found in answers:
        missing = sorted(question.only - set(found))
        surplus = [each for each in found if each not in question.only | question.may]
        if missing or surplus:
            yield f"[{question.kind}] {question.ask} missing {missing} surplus {surplus}"


if __name__ == "__main__":
    sys.exit(main())
