"""The regression suite of retrieval: questions on `worlds/`, and what must and must not come back by default settings.

A world is what its agents remember, in order: messages (`text`, with who said it, or which tool returned it,
when and where, and which message it `corrects`), entries that are added (`add`), settings (`set`), and changes by hand (`archive`, `remove`, `change`,
`fact`, `delete_fact`). A case asks it something, `with` fields of `RetrievalQuery`, or with a `budget` what a prompt is told; of the ids of entries
that come back `must` and `must_not` name some, `only` all; `first` and `first_of` tell which is the first,
`count` how many there are, and `empty` that there are none. Beside the cases a world may name questions that are
`beyond` what it can tell, such as that Chardonnay is a wine, and `why`; what is beyond that no more
is a case.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.memory_wiring import token_counter
from tests.retrieval.conftest import WORLDS, World, load

pytestmark = pytest.mark.acceptance  # a regression suite: 26 worlds take a minute

WORLD_NAMES = sorted(path.stem for path in WORLDS.glob("*.yaml"))
LOADED = {world: load(world) for world in WORLD_NAMES}
CASES, BEYOND = (
    {world: cases for world, told in LOADED.items() if (cases := told.get(name, ()))}
    for name in ("cases", "beyond")
)
EXPECTATIONS = {"must", "must_not", "only", "first", "first_of", "count", "empty"}
KINDS = {
    *("supersession", "as of", "alias", "scope", "typo", "prefix", "paraphrase", "off topic"),
    *("near-duplicates", "sessions", "filter", "time", "expired", "archived", "removed", "deleted"),
    *(
        "budget",
        "namesakes",
        "negated",
        "command",
        "words",
        "language",
        "stemming",
        "control characters",
        "name",
    ),
}

WorldOf = Callable[[str], Awaitable[World]]


@pytest.mark.parametrize("world", CASES)
async def test_what_comes_back_and_what_does_not(world_of: WorldOf, world: str) -> None:
    kept = await world_of(world)

    wrong = {
        f"{case['kind']}: {case['ask']}": told
        for case in CASES[world]
        if (told := await what_is_wrong(kept.memory_of(case), case))
    }

    assert not wrong, "\n".join(f"{question}\n    {told}" for question, told in wrong.items())


@pytest.mark.parametrize("world", BEYOND)
async def test_what_is_called_beyond_is_so(world_of: WorldOf, world: str) -> None:
    kept = await world_of(world)

    held = [
        case["ask"] for case in BEYOND[world] if not await what_is_wrong(kept.memory_of(case), case)
    ]

    assert held == [], "they hold, so they are cases"
    assert all(case["why"] for case in BEYOND[world])


async def what_is_wrong(memory: MemoryClient, case: dict[str, Any]) -> str:
    """What is otherwise than a case says, with what came back and why; nothing if it holds."""
    if "budget" in case:
        found = await within_budget(memory, case)
        wrong = dict(faults(case, found))
        return f"{wrong}; {found}" if wrong else ""
    retrieval = await memory.retrieve(case["ask"], **case.get("with", {}))
    told = {each.entry.source_id or "": each.score for each in retrieval.results}
    wrong = dict(faults(case, list(told)))
    why = {each.entry.source_id: each.signals for each in retrieval.results}
    read = f"{retrieval.words}, {retrieval.names}, {retrieval.period}"
    return f"{wrong}; {told}; {read}; {why}" if wrong else ""


async def within_budget(memory: MemoryClient, case: dict[str, Any]) -> list[str]:
    """What a prompt is told by search within a budget, which holds exactly; what is not told is named."""
    budget = case["budget"]
    asked = {"tiers": ("search",), **case.get("with", {})}
    whole = await memory.context_for_query(case["ask"], **asked)

    told = await memory.context_for_query(case["ask"], max_tokens=budget, **asked)

    assert told.tokens == token_counter()(told.text) <= budget, case["ask"]
    left_out = {part.name for part in told.dropped if part.why}
    untold = {part.name for part in whole.kept} - {part.name for part in told.kept} - left_out
    assert not untold, case["ask"]
    return [(await memory.entries.get(part.name)).source_id or "" for part in told.kept]


def faults(case: dict[str, Any], found: list[str]) -> Iterator[tuple[str, Any]]:
    """What is otherwise than a case says."""
    missing = [each for each in case.get("must", ()) if each not in found]
    surplus = [each for each in case.get("must_not", ()) if each in found]
    if "only" in case or case.get("empty"):
        only = case.get("only", ())
        missing += [each for each in only if each not in found]
        surplus += [each for each in found if each not in only]
    if missing:
        yield "missing", missing
    if surplus:
        yield "surplus", surplus
    first = [each for each in (*case.get("first_of", ()), case.get("first")) if each]
    if first and not set(found[:1]) & set(first):
        yield "first", found[:1]
    if case.get("count", len(found)) != len(found):
        yield "count", len(found)


def test_each_case_can_fail() -> None:
    for world, told in LOADED.items():
        kept = {item["id"] for item in told["memory"] if "id" in item}
        for case in [*CASES.get(world, ()), *BEYOND.get(world, ())]:
            assert EXPECTATIONS & case.keys(), case
            named = [case.get(name, ()) for name in ("must", "must_not", "only", "first_of")]
            assert {each for names in named for each in names} <= kept, case
            assert case.get("first", next(iter(kept))) in kept, case


def test_there_are_enough_cases_of_each_kind() -> None:
    cases = [case for asked in CASES.values() for case in asked]
    kinds = Counter(case["kind"] for case in cases)

    assert kinds.keys() >= KINDS
    assert len(cases) >= 180
    assert sum("must" in case or "only" in case for case in cases) >= 60
    assert sum("must_not" in case or "empty" in case for case in cases) >= 60
