"""Namesakes of one speaker: who is meant in messages, in facts and in questions."""

import pytest

from mnestic.memory.ports import Memory
from mnestic.starter.settings import Settings
from tests.activities.knowledge.test_correcting_messages import remember

SAID = (
    ("Lena", "My brother Otto lives in Graz."),
    ("Lena", "Otto from logistics lives in Linz."),
    ("Lena", "My dog Otto is 7."),
    ("Lena", "Otto is 52."),
    ("Otto", "I live in Wels."),
)


async def test_facts_of_one_namesake_supersede_none_of_another(
    memory: Memory, settings: Settings
) -> None:
    client = await remember(memory, settings, *SAID)

    facts, _ = await client.facts.list(limit=100)

    assert {
        ("Otto (pet of Lena)", "age", "7"),
        ("Otto", "age", "52"),
        ("Otto (sibling of Lena)", "lives_in", "Graz"),
        ("Otto", "lives_in", "Wels"),
    } <= {(fact.subject, fact.predicate, fact.object) for fact in facts}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How old is Lena's dog?", "My dog Otto is 7."),
        ("How old is my dog Otto?", "My dog Otto is 7."),
        ("Where does Otto live?", "I live in Wels."),
    ],
)
async def test_a_description_in_a_question_finds_the_right_one(
    memory: Memory, settings: Settings, question: str, answer: str
) -> None:
    client = await remember(memory, settings, *SAID)

    found = await client.retrieve(question)

    assert [one.entry.content for one in found.results][:1] == [answer]


async def test_namesakes_are_separated_in_messages_one_by_one_too(
    memory: Memory, settings: Settings
) -> None:
    client = await remember(memory, settings, *SAID, at_once=False)

    found = await client.retrieve("How old is Lena's dog?")

    assert [one.entry.content for one in found.results][:1] == ["My dog Otto is 7."]


async def test_the_only_one_of_a_name_is_updated_by_it(memory: Memory, settings: Settings) -> None:
    client = await remember(
        memory,
        settings,
        ("Lena", "My brother Otto lives in Graz."),
        ("Lena", "Otto moved to Salzburg."),
    )

    facts, _ = await client.facts.list(subject="Otto", predicate="lives_in")

    assert [fact.object for fact in facts] == ["Salzburg"]
