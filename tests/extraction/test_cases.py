"""The parser of English on conversations that stand in `cases/`, one file a kind: the rate of what is found, kept out and ended.

A case is messages (speaker, moment, text, and `tool_result` for what a tool returned) and facts (subject, predicate, object, and days).
`active` and `missed` are facts that a careful reader takes, `archived` and `missed_archived` such that have ended, `absent` false ones.
The cases were written with earlier rules, so what they give is a regression suite and says little of new messages. `make rates` prints the rates, and
docs/retrieval-quality.md has them.
"""

import asyncio
import json
import os
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
from tests.rates import TABLE, Rate, RecordProperty, markdown_table, published_rates

HERE = Path(__file__).parent
SAMPLE = Path(__file__).parents[2] / "starter" / "samples" / "conversation.jsonl"
CASES_OF = {
    path.stem: yaml.load(path.read_text("utf-8"), Loader=yaml.CBaseLoader)
    for path in sorted((HERE / "cases").glob("*.yaml"))
}
CASES = [(kind, case) for kind, cases in CASES_OF.items() for case in cases]
FLOORS: dict[str, list[float | None]] = yaml.safe_load((HERE / "floors.yaml").read_text("utf-8"))
ORDERS: dict[str, Callable[[list[ExtractionInput]], list[ExtractionInput]]] = {
    "backwards": lambda turns: turns[::-1],
    "twice": lambda turns: turns + turns,
}


class KindRates(NamedTuple):
    """Of a kind: how many facts are found, how many false ones are kept out, and how many ended ones are archived."""

    found: Rate
    kept_out: Rate
    archived: Rate


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


def rates_of(cases: Sequence[dict[str, Any]], facts_by_case: Sequence[Sequence[Fact]]) -> KindRates:
    wanted = {"active": ("active", "missed"), "archived": ("archived", "missed_archived")}
    outcomes: dict[str, list[bool]] = {"active": [], "absent": [], "archived": []}
    for case, facts in zip(cases, facts_by_case, strict=True):
        outcomes["absent"] += [not is_among(each, facts) for each in case.get("absent", ())]
        for status, names in wanted.items():
            each_wanted = [each for name in names for each in case.get(name, ())]
            outcomes[status] += [is_among(each[:3], facts, status=status) for each in each_wanted]
    return KindRates(*map(Rate.of, outcomes.values()))


def rates_by_kind(facts: Iterator[list[Fact]]) -> dict[str, KindRates]:
    """The rates of each kind, given the facts of all cases in their order."""
    return {kind: rates_of(cases, [next(facts) for _ in cases]) for kind, cases in CASES_OF.items()}


def rates_table(rates: dict[str, KindRates]) -> str:
    """The table of the page."""
    rows = [(kind.replace("_", " "), *each) for kind, each in rates.items()]
    return markdown_table(("kind", "found", "kept out", "archived"), rows)


@pytest.mark.acceptance
def test_no_kind_falls_below_its_floor(
    sessions: list[Session], record_property: RecordProperty
) -> None:
    rates = rates_by_kind(iter([session.facts() for session in sessions]))

    record_property(TABLE, rates_table(rates))
    assert {
        kind: (list(map(str, each)), FLOORS[kind])
        for kind, each in rates.items()
        if any(rate.is_below(floor) for rate, floor in zip(each, FLOORS[kind], strict=True))
    } == {}


def test_each_kind_has_floors_close_to_its_published_rates() -> None:
    no_facts: list[list[Fact]] = [[] for _ in CASES]
    counts = {
        kind: [rate.count for rate in each] for kind, each in rates_by_kind(iter(no_facts)).items()
    }

    published = {kind.replace(" ", "_"): each for kind, each in published_rates("Facts").items()}

    assert published.keys() == FLOORS.keys()
    assert {
        kind: [rate.count if rate else 0 for rate in each] for kind, each in published.items()
    } == counts
    assert [
        (kind, rate, floor)
        for kind, each in published.items()
        for rate, floor in zip(each, FLOORS[kind], strict=True)
        if not (rate.allows(floor) if rate else floor is None)
    ] == []


@pytest.mark.acceptance
@pytest.mark.parametrize("order", ORDERS)
async def test_the_order_in_which_messages_arrive_changes_nothing(
    order: str, sessions: list[Session]
) -> None:
    some = slice(None, None, 4)

    other = await read_sessions([case for _, case in CASES[some]], ORDERS[order])

    assert [_keys(one.facts()) for one in other] == [_keys(one.facts()) for one in sessions[some]]


def _keys(facts: Sequence[Fact]) -> set[tuple[str, str, str, str]]:
    return {(fact.subject, fact.predicate, fact.object, fact.status) for fact in facts}


@pytest.mark.acceptance
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
    record_property: RecordProperty,
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
    record_property(TABLE, rates_table(rates))
    assert [kind for kind, one in rates.items() if one.kept_out.is_below(1)] == []
