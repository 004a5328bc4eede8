"""What an extractor makes of messages in people's own words: the cases of a file, and what of them came out."""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mnestic.memory.knowledge.claims import Claim, name_key
from mnestic.memory.knowledge.extraction import Extracted, ExtractionInput, claim_of, valid_claims
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import default_predicate
from mnestic.memory.knowledge.resolution import resolve
from mnestic.memory.ports import Extractor

_FIRST = datetime(2026, 1, 1, 9, tzinfo=UTC)


class Outcome(NamedTuple):
    """Of one pattern of a case: whether it came out, and what was believed."""

    case: str
    kind: str
    pattern: str
    is_right: bool
    believed: tuple[str, ...]


def cases_of(path: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = yaml.safe_load(path.read_text("utf-8"))
    return cases


def turns_of(case: dict[str, Any]) -> list[ExtractionInput]:
    return [
        ExtractionInput(
            session_id="s",
            source_id=f"m{number:03}",
            speaker=speaker,
            content=text,
            at=_FIRST + timedelta(days=day, minutes=number),
        )
        for number, (day, speaker, text) in enumerate(case["say"])
    ]


def facts_of(
    turns: Sequence[ExtractionInput], found: Sequence[Sequence[Extracted]], extractor: Extractor
) -> list[Fact]:
    """What follows from what an extractor found in turns."""
    grouped: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    for turn, claims in zip(turns, found, strict=True):
        for each in valid_claims(claims, turn)[0]:
            claim = claim_of(each, turn, extractor=extractor.name)
            grouped[name_key(claim.subject), claim.predicate].append(claim)
    return [
        fact
        for (subject, predicate), claims in grouped.items()
        for fact in resolve(
            claims, owner=f"agent/{subject}", predicate=default_predicate(predicate)
        )
    ]


async def outcomes(cases: Sequence[dict[str, Any]], extractor: Extractor) -> list[Outcome]:
    """What became of each pattern of the cases."""
    found = []
    sessions = [
        [turn.model_copy(update={"session_id": f"s{number}"}) for turn in turns_of(case)]
        for number, case in enumerate(cases)
    ]
    everything = [turn for turns in sessions for turn in turns]
    claims = iter((await extractor.extract(everything)).claims)
    for case, turns in zip(cases, sessions, strict=True):
        facts = facts_of(turns, [next(claims) for _ in turns], extractor)
        told = {
            status: [
                f"{fact.subject} {fact.predicate} {fact.object}"
                for fact in facts
                if (fact.status == "active") == (status == "active")
            ]
            for status in ("active", "archived")
        }
        everything = tuple(f"{status}: {one}" for status in told for one in told[status])
        for kind in ("active", "absent", "archived"):
            for pattern in case.get(kind, ()):
                among = told["archived" if kind == "archived" else "active"]
                is_there = any(re.search(pattern, one, re.IGNORECASE) for one in among)
                is_right = is_there != (kind == "absent")
                found.append(Outcome(case["name"], kind, pattern, is_right, everything))
    return found


def rates(found: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Kind -> how many patterns are right, and how many there are."""
    return {
        kind: (
            sum(one.is_right for one in found if one.kind == kind),
            sum(one.kind == kind for one in found),
        )
        for kind in ("active", "absent", "archived")
    }
