"""The local extractor on conversations that stand in `cases/`: what must be believed, and what must not.

A case is messages (speaker, moment, text, and `tool_result` for what a tool returned) and facts (subject,
predicate, object, and the days on which it began and ended, where they matter). `missed` and
`missed_archived` are facts that a careful reader would take and the extractor does not; a change that comes
to reach one has to say so there and in docs/knowledge.md.
"""

import asyncio
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.activities.clients.openai_compatible import openai_client
from mnestic.activities.clients.openai_extractor import OpenAIExtractor
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.extraction import Extracted, Turn, sound_claims
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.models.errors import ModelUnavailableError
from mnestic.memory.ports import Extractor
from tests.extraction.reworded import facts_of

HERE = Path(__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "knowledge.md"
SAMPLE = Path(__file__).parents[2] / "starter" / "samples" / "conversation.jsonl"
CASES_OF = {
    path.stem: yaml.load(path.read_text("utf-8"), Loader=yaml.CBaseLoader)
    for path in sorted((HERE / "cases").glob("*.yaml"))
}
CASES = [(category, case) for category, cases in CASES_OF.items() for case in cases]
ORDERS = {
    "as they came": lambda turns: turns,
    "backwards": lambda turns: turns[::-1],
    "twice": lambda turns: turns + turns,
}


def turns_of(case: dict[str, Any]) -> list[Turn]:
    messages = case["messages"]
    if messages == "sample":
        told = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
        messages = [(each["role"], each["timestamp"], each["content"]) for each in told]
    return [
        Turn(
            session_id="s",
            source_id=f"m{number:03}",
            speaker=message[0],
            content=message[2],
            at=message[1],
            kind=message[3] if len(message) > 3 else "message",
        )
        for number, message in enumerate(messages)
    ]


async def believed(turns: Sequence[Turn], extractor: Extractor) -> list[Fact]:
    """What is believed when all claims of the turns are."""
    told: list[tuple[Extracted, ...]] = []
    for start in range(0, len(turns), extractor.batch):
        told += (await extractor.extract(turns[start : start + extractor.batch])).claims
    return facts_of(turns, told, extractor)


async def read_each(
    conversations: Sequence[Sequence[Turn]],
) -> list[tuple[Sequence[Turn], list[tuple[Extracted, ...]]]]:
    """What the local extractor finds in conversations, all of which it reads at once: equal texts are parsed once."""
    apart = [
        [turn.model_copy(update={"session_id": f"s{number}"}) for turn in turns]
        for number, turns in enumerate(conversations)
    ]
    extraction = await EnglishExtractor().extract([turn for turns in apart for turn in turns])
    found = iter(extraction.claims)
    return [(turns, [next(found) for _ in turns]) for turns in apart]


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


@pytest.mark.parametrize("category", CASES_OF)
async def test_what_follows_from_a_conversation(category: str) -> None:
    """A fact that no case names is either a mistake, or missing in the case; the span of each claim holds its evidence."""
    tried = [(order, case) for order in ORDERS for case in CASES_OF[category]]

    found = await read_each([ORDERS[order](turns_of(case)) for order, case in tried])

    wrong, unsound = [], []
    for (order, case), (turns, claims) in zip(tried, found, strict=True):
        facts = facts_of(turns, claims, EnglishExtractor())
        faults = dict(faults_of(case, facts))
        if order == "as they came" and (surplus := surplus_of(case, facts)):
            faults["named by no case"] = surplus
        if faults:
            told = [(fact.subject, fact.predicate, fact.object, fact.status) for fact in facts]
            wrong.append(f"{case['name']}, {order}: {faults}; believed: {sorted(told)}")
        unsound += [
            (turn.content, each)
            for turn, each in zip(turns, claims, strict=True)
            if sound_claims(each, turn) != (each, ())
        ]
    assert not wrong, "\n".join(wrong)
    assert unsound == []


def faults_of(case: dict[str, Any], facts: Sequence[Fact]) -> Iterator[tuple[str, Any]]:
    """What is believed otherwise than a case says, by the field of the case."""
    for name in ("active", "archived"):
        wanted = case.get(name, ())
        if lacking := [each for each in wanted if not is_among(each, facts, status=name)]:
            yield f"not {name}", lacking
    for name, status in (("absent", None), ("missed", None), ("missed_archived", "archived")):
        if found := [each for each in case.get(name, ()) if is_among(each, facts, status=status)]:
            yield f"{name}, but there", found


def surplus_of(case: dict[str, Any], facts: Sequence[Fact]) -> list[tuple[str, str, str]]:
    """What is believed and stands nowhere in the case."""
    named = [*case.get("active", ()), *case.get("archived", ()), *case.get("also", ())]
    return [
        (fact.subject, fact.predicate, fact.object)
        for fact in facts
        if not is_among((fact.subject, fact.predicate, fact.object), _plain(facts, named))
    ]


def _plain(facts: Sequence[Fact], named: Sequence[Sequence[str]]) -> list[Fact]:
    """The facts that are named, whatever their days."""
    keys = {(name_key(each[0]), each[1], name_key(each[2])) for each in named}
    return [
        fact
        for fact in facts
        if (name_key(fact.subject), fact.predicate, name_key(fact.object)) in keys
    ]


def recall() -> dict[str, tuple[int, int]]:
    """Category -> how many of the facts that a careful reader takes are reached, and how many there are."""
    reached: dict[str, int] = defaultdict(int)
    missed: dict[str, int] = defaultdict(int)
    for category, case in CASES:
        reached[category] += len(case.get("active", ())) + len(case.get("archived", ()))
        missed[category] += len(case.get("missed", ())) + len(case.get("missed_archived", ()))
    return {each: (reached[each], reached[each] + missed[each]) for each in reached}


def test_the_page_states_the_recall_of_each_category() -> None:
    rows = re.findall(r"^\| (\w+) \| (\d+) of (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)

    stated = {name: (int(reached), int(all_)) for name, reached, all_ in rows}

    assert stated == {name: counts for name, counts in recall().items() if counts[1]}


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 80
    assert sum(bool(case.get("absent")) for _, case in CASES) >= 30


def test_the_sample_is_read_for_most_of_what_it_says() -> None:
    reached, all_ = recall()["sample"]

    assert reached / all_ >= 0.6


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

        told = await asyncio.gather(*(read(case) for _, case in CASES))

    taken = [
        (case["name"], each)
        for (_, case), facts in zip(CASES, told, strict=True)
        for each in case.get("absent", ())
        if is_among(each, facts)
    ]
    reached: dict[str, list[bool]] = defaultdict(list)
    for (category, case), facts in zip(CASES, told, strict=True):
        for status in ("active", "archived"):
            missed = "missed" if status == "active" else "missed_archived"
            wanted = [*case.get(status, ()), *case.get(missed, ())]
            reached[category] += [is_among(each, facts, status=status) for each in wanted]
    lines = [f"{category}: {sum(found)} of {len(found)}" for category, found in reached.items()]
    with capsys.disabled():
        sys.stdout.write("\n".join(["", f"reached by {extractor.name}", *lines, ""]))
    assert taken == []
