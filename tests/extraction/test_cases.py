"""The parser of English on conversations that stand in `cases/`, one file a kind: the rate of what is found, kept out and ended.

A case is messages (speaker, moment, text, and `tool_result` for what a tool returned) and facts (subject, predicate, object, and days).
`active` and `missed` are facts that a careful reader takes, `archived` and `missed_archived` such that have ended, `absent` false ones.
The cases were written with earlier rules, so what they give is a regression suite and says little of new messages.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.openai_extractor import OpenAIExtractor
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput, valid_claims
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.ports import Extractor
from tests.extraction.reworded import facts_of

HERE = Path(__file__).parent
SAMPLE = Path(__file__).parents[2] / "starter" / "samples" / "conversation.jsonl"
CASES_OF = {
    path.stem: yaml.load(path.read_text("utf-8"), Loader=yaml.CBaseLoader)
    for path in sorted((HERE / "cases").glob("*.yaml"))
}
CASES = [(kind, case) for kind, cases in CASES_OF.items() for case in cases]
FLOORS: dict[str, list[float]] = yaml.safe_load((HERE / "floors.yaml").read_text("utf-8"))
ORDERS: dict[str, Callable[[list[ExtractionInput]], list[ExtractionInput]]] = {
    "backwards": lambda turns: turns[::-1],
    "twice": lambda turns: turns + turns,
}


class Rates(NamedTuple):
    """Of a kind: which share of facts is found, of false ones kept out, of ended ones archived; 1 where there are none."""

    found: float
    absent: float
    archived: float


def turns_of(case: dict[str, Any]) -> list[ExtractionInput]:
    messages = case["messages"]
    if messages == "sample":
        told = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
        messages = [(each["role"], each["timestamp"], each["content"]) for each in told]
    return [
        ExtractionInput(
            session_id="s",
            source_id=f"m{number:03}",
            speaker=message[0],
            content=message[2],
            at=message[1],
            kind=message[3] if len(message) > 3 else "message",
        )
        for number, message in enumerate(messages)
    ]


async def believed(turns: Sequence[ExtractionInput], extractor: Extractor) -> list[Fact]:
    """What is believed when all claims of the turns are."""
    told: list[tuple[Extracted, ...]] = []
    for start in range(0, len(turns), extractor.batch):
        told += (await extractor.extract(turns[start : start + extractor.batch])).claims
    return facts_of(turns, told, extractor)


class Session(NamedTuple):
    """The messages of a case, as a session of its own, and what they claim."""

    turns: list[ExtractionInput]
    claims: list[tuple[Extracted, ...]]

    def facts(self) -> list[Fact]:
        """What is believed after it."""
        return facts_of(self.turns, self.claims, EnglishExtractor())


async def read_sessions(
    cases: Sequence[dict[str, Any]],
    order: Callable[[list[ExtractionInput]], list[ExtractionInput]] = list,
) -> list[Session]:
    sessions = [
        order([turn.model_copy(update={"session_id": f"s{number}"}) for turn in turns_of(case)])
        for number, case in enumerate(cases)
    ]
    extraction = await EnglishExtractor().extract([turn for turns in sessions for turn in turns])
    claims = iter(extraction.claims)
    return [Session(turns, [next(claims) for _ in turns]) for turns in sessions]


@pytest.fixture(scope="module")
async def sessions() -> list[Session]:
    """All cases, read at once."""
    return await read_sessions([case for _, case in CASES])


def is_among(wanted: Sequence[str], facts: Sequence[Fact], *, status: str | None = None) -> bool:
    """Whether a fact is there, with the days that are named."""
    subject, predicate, value, *days = wanted
    return any(
        name_key(fact.subject) == name_key(subject)
        and fact.predicate == predicate
        and name_key(fact.object) == name_key(value)
        and status in {None, fact.status}
        and all(
            day == f"{moment:%Y-%m-%d}"
            for day, moment in zip(days, (fact.valid_from, fact.valid_to), strict=False)
        )
        for fact in facts
    )


def rates_of(cases: Sequence[dict[str, Any]], believed_: Sequence[Sequence[Fact]]) -> Rates:
    wanted = {"active": ("active", "missed"), "archived": ("archived", "missed_archived")}
    told: dict[str, list[bool]] = {"active": [], "absent": [], "archived": []}
    for case, facts in zip(cases, believed_, strict=True):
        told["absent"] += [not is_among(each, facts) for each in case.get("absent", ())]
        for status, names in wanted.items():
            each_wanted = [each for name in names for each in case.get(name, ())]
            told[status] += [is_among(each[:3], facts, status=status) for each in each_wanted]
    shares = [sum(each) / len(each) if each else 1.0 for each in told.values()]
    return Rates(*shares)


def rates_by_kind(facts: Iterator[list[Fact]]) -> dict[str, Rates]:
    """The rates of each kind, given the facts of all cases in their order."""
    return {kind: rates_of(cases, [next(facts) for _ in cases]) for kind, cases in CASES_OF.items()}


def publish(rates: dict[str, Rates], capsys: pytest.CaptureFixture[str]) -> None:
    """Writes the rates out for whoever changes the extractor."""
    rows = (
        f"{kind:14} found {one.found:.2f} kept out {one.absent:.2f} ended {one.archived:.2f}"
        for kind, one in rates.items()
    )
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *rows, ""]))


def test_each_kind_keeps_its_rates(
    sessions: list[Session], capsys: pytest.CaptureFixture[str]
) -> None:
    """`floors.yaml` has the least of each kind."""
    rates = rates_by_kind(iter([session.facts() for session in sessions]))

    publish(rates, capsys)
    assert rates.keys() == FLOORS.keys()
    assert {
        kind: (one, FLOORS[kind])
        for kind, one in rates.items()
        if any(share < least for share, least in zip(one, FLOORS[kind], strict=True))
    } == {}


@pytest.mark.parametrize("order", ORDERS)
async def test_the_order_in_which_messages_arrive_changes_nothing(
    order: str, sessions: list[Session]
) -> None:
    some = slice(None, None, 4)

    other = await read_sessions([case for _, case in CASES[some]], ORDERS[order])

    assert [_keys(one.facts()) for one in other] == [_keys(one.facts()) for one in sessions[some]]


def _keys(facts: Sequence[Fact]) -> set[tuple[str, str, str, str]]:
    return {(fact.subject, fact.predicate, fact.object, fact.status) for fact in facts}


def test_each_claim_points_at_words_of_its_message(sessions: list[Session]) -> None:
    unsound = [
        (turn.content, claims)
        for turns, all_claims in sessions
        for turn, claims in zip(turns, all_claims, strict=True)
        if valid_claims(claims, turn) != (claims, ())
    ]

    assert unsound == []


@pytest.mark.skipif(
    "OPENAI_API_KEY" not in os.environ,
    reason="asks a model for every case: set OPENAI_API_KEY, and OPENAI_MODEL for another than gpt-5-mini",
)
async def test_a_model_takes_nothing_that_must_be_absent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slots = asyncio.Semaphore(8)
    base_url = os.environ.get("OPENAI_BASE_URL")
    async with openai_client(api_key=os.environ["OPENAI_API_KEY"], base_url=base_url) as client:
        extractor = OpenAIExtractor(client, model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"))

        async def read(case: dict[str, Any]) -> list[Fact]:
            while True:
                try:
                    async with slots:
                        return await believed(turns_of(case), extractor)
                except ModelUnavailableError as error:
                    if error.retry_after_s is None:
                        raise
                    await asyncio.sleep(error.retry_after_s)

        facts = iter(await asyncio.gather(*(read(case) for _, case in CASES)))

    rates = rates_by_kind(facts)
    publish(rates, capsys)
    assert [kind for kind, one in rates.items() if one.absent < 1] == []
