"""The regression suite of retrieval: questions on `worlds/`, and what must and must not come back by default settings.

A world is what its agents remember, in order: messages (`text`, with who said it, or which tool returned it,
when and where, and which message it `corrects`), entries that are added (`add`), settings (`set`), and changes by hand (`archive`, `remove`, `change`,
`fact`, `delete_fact`). A case asks it something, `with` fields of `RetrievalQuery`, or with a `budget` what a prompt is told; of the ids of entries
that come back `must` and `must_not` name some, `only` all; `first` and `first_of` tell which is the first,
`count` how many there are, and `empty` that there are none. Beside the cases a world may name questions that are
`beyond` what it can tell, such as that Chardonnay is a wine, and `why`.

Scopes, filters, removals and limits hold in each case. What words, names, facts and ranking find is a rate of each kind, with a floor in `floors.yaml`: most cases were written with earlier rules,
so a rate says little of new questions. `make rates` prints the rates, and docs/retrieval-quality.md has them.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import yaml

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.memory_wiring import token_counter
from tests.rates import TABLE, Rate, RecordProperty, markdown_table, published_rates
from tests.retrieval.conftest import WORLDS, World, load

pytestmark = pytest.mark.acceptance  # a regression suite: 51 worlds take two minutes

WORLD_NAMES = sorted(path.stem for path in WORLDS.glob("*.yaml"))
LOADED = {world: load(world) for world in WORLD_NAMES}
CASES = {
    world: [*told.get("cases", ()), *({"kind": "beyond"} | one for one in told.get("beyond", ()))]
    for world, told in LOADED.items()
}
EXPECTATIONS = {"must", "must_not", "only", "first", "first_of", "count", "empty"}
EXACT = {"scope", "filter", "removed", "budget", "control characters"}
FLOORS: dict[str, float] = yaml.safe_load((WORLDS.parent / "floors.yaml").read_text("utf-8"))
PAIRS = 3  # of a kind and its rate in a row of the table

WorldOf = Callable[[str], Awaitable[World]]


async def test_no_kind_falls_below_its_floor(
    world_of: WorldOf, record_property: RecordProperty
) -> None:
    failures: list[str] = []
    outcomes: defaultdict[str, list[bool]] = defaultdict(list)
    for name, cases in CASES.items():
        world = await world_of(name)
        for case in cases:
            failure = await what_is_wrong(world.memory_of(case), case)
            outcomes[case["kind"]].append(not failure)
            if failure and case["kind"] in EXACT:
                failures.append(f"{name}: {case['kind']}: {case['ask']}\n    {failure}")
    rates = {kind: Rate.of(each) for kind, each in sorted(outcomes.items())}

    record_property(TABLE, rates_table(rates))
    assert not failures, "\n".join(failures)
    assert {
        kind: str(rate) for kind, rate in rates.items() if rate.is_below(FLOORS.get(kind, 1.0))
    } == {}


def rates_table(rates: dict[str, Rate]) -> str:
    """The table of the page: each kind with its rate."""
    cells = [cell for kind, rate in rates.items() for cell in (kind, rate)]
    cells += [""] * (-len(cells) % (2 * PAIRS))
    rows = [cells[start : start + 2 * PAIRS] for start in range(0, len(cells), 2 * PAIRS)]
    return markdown_table(("kind", "holds") * PAIRS, rows)


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
        for case in CASES[world]:
            assert EXPECTATIONS & case.keys(), case
            named = [case.get(name, ()) for name in ("must", "must_not", "only", "first_of")]
            assert {each for names in named for each in names} <= kept, case
            assert case.get("first", next(iter(kept))) in kept, case


def test_each_kind_but_the_exact_ones_has_a_floor_close_to_its_published_rate() -> None:
    kinds = [case["kind"] for cases in CASES.values() for case in cases]

    published = {kind: rate for kind, (rate,) in published_rates("Worlds").items()}

    assert FLOORS.keys() == set(kinds) - EXACT
    assert {kind: rate and rate.count for kind, rate in published.items()} == Counter(kinds)
    assert [
        (kind, rate)
        for kind, rate in published.items()
        if rate and not rate.allows(FLOORS.get(kind, 1.0))
    ] == []
