"""The parser of English on what people say in their own words, and on the bundled conversation."""

import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from mnestic.activities.clients.english.extractor import EnglishExtractor
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.extraction import Turn, sound_claims
from tests.extraction.reworded import believed, cases_of, outcomes, rates, turns_of

HERE = Path(__file__).parent
SETS = (
    "reworded.yaml",
    "reworded_later.yaml",
    "reworded_third.yaml",
    "reworded_fourth.yaml",
    "reworded_corrections.yaml",
    "reworded_corrections_later.yaml",
    "reworded_names.yaml",
    "reworded_names_later.yaml",
)
OPPOSITES = {("ended", "likes"), ("ended", "dislikes")}  # what a taste ends
SAMPLE = Path(__file__).parents[2] / "starter" / "samples" / "conversation.jsonl"


@pytest.mark.parametrize("name", SETS)
async def test_facts_in_peoples_own_words_are_found_kept_out_and_ended(name: str) -> None:
    """The least that is demanded; docs/knowledge.md has the figures."""
    found = await outcomes(cases_of(HERE / name), EnglishExtractor())

    shares = {kind: right / count if count else 1 for kind, (right, count) in rates(found).items()}

    wrong = [one for one in found if not one.is_right]
    assert shares["active"] >= 0.75, wrong
    assert shares["absent"] >= 0.95, wrong
    assert shares["archived"] >= 0.80, wrong


@pytest.mark.parametrize("name", SETS)
async def test_each_claim_points_at_words_of_its_message(name: str) -> None:
    turns = [turn for case in cases_of(HERE / name) for turn in turns_of(case)]
    turns = [turn.model_copy(update={"session_id": f"s{n}"}) for n, turn in enumerate(turns)]

    extraction = await EnglishExtractor().extract(turns)

    unsound = [
        (turn.content, claims)
        for turn, claims in zip(turns, extraction.claims, strict=True)
        if sound_claims(claims, turn) != (claims, ())
    ]
    assert unsound == []


async def test_the_bundled_conversation_gives_all_that_the_rules_find() -> None:
    (case,) = yaml.load((HERE / "cases" / "sample.yaml").read_text("utf-8"), yaml.BaseLoader)
    messages = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    turns = [
        Turn(
            session_id="s",
            source_id=f"m{number:03}",
            speaker=each["role"],
            content=each["content"],
            at=each["timestamp"],
        )
        for number, each in enumerate(messages)
    ]

    facts = await believed(turns, EnglishExtractor())

    told = {
        (fact.status, name_key(fact.subject), fact.predicate, name_key(fact.object))
        for fact in facts
    }
    wanted = {
        (status, name_key(subject), predicate, name_key(value))
        for status in ("active", "archived")
        for subject, predicate, value, *_ in case[status]
    }
    absent = {
        (name_key(subject), predicate, name_key(value))
        for subject, predicate, value in case["absent"]
    }
    assert wanted - told == set()
    assert absent & {(subject, predicate, value) for _, subject, predicate, value in told} == set()


def turns_of_locomo(path: Path) -> Iterator[tuple[str, Turn]]:
    """The turns of LoCoMo's conversations, each with its id there."""
    for conversation in json.loads(path.read_text("utf-8")):
        sessions: dict[str, Any] = conversation["conversation"]
        numbers = sorted(int(key[8:]) for key in sessions if key[8:].isdigit())
        for number in numbers:
            name = f"session_{number}"
            date = sessions[f"{name}_date_time"]
            at = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for place, turn in enumerate(sessions[name]):
                yield (
                    f"{conversation['sample_id']} {turn['dia_id']}",
                    Turn(
                        session_id=f"{conversation['sample_id']}/{name}",
                        source_id=f"{place:04}",
                        speaker=turn["speaker"],
                        content=turn["text"],
                        at=at,
                    ),
                )


@pytest.mark.skipif(
    "LOCOMO_DATA" not in os.environ, reason="reads LoCoMo: set LOCOMO_DATA to its file"
)
async def test_the_claims_of_random_turns_of_locomo_are_those_that_were_judged() -> None:
    """A claim that is not listed was never judged; the list says of each whether it is right."""
    judged = yaml.safe_load((HERE / "locomo_claims.yaml").read_text("utf-8"))
    everything = list(turns_of_locomo(Path(os.environ["LOCOMO_DATA"])))
    chosen = set(random.Random(judged["seed"]).sample(range(len(everything)), judged["turns"]))

    extraction = await EnglishExtractor().extract([turn for _, turn in everything])

    made = {
        f"{everything[place][0]} | {each.kind} | {each.subject} | {each.predicate} | {each.object}"
        for place, claims in enumerate(extraction.claims)
        if place in chosen
        for each in claims
        if (each.kind, each.predicate) not in OPPOSITES
    }
    known = {line for verdict in ("right", "wrong") for line in judged[verdict]}
    assert made <= known, made - known
    right = sum(line in judged["right"] for line in made)
    assert right >= 0.9 * len(made)
