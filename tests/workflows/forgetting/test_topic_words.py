"""Which entries a topic is found in: in any script, spelling and form, and no others."""

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.client.memory_client import MemoryClient

SPELLINGS = {
    "straße": {"Die STRASSE ist lang."},
    "Zürich": {"Wir wohnen in Zu\u0308rich."},
    "東京": {"来週東京に行きます。"},
    "Émile Zola": {"ZOLA, ÉMILE"},
    "divorce": {"They divorced in spring."},
    "nadia@north.example": {
        "Write to Nadia@North.example.",
        "Her address: nadia [at] north [dot] example",
    },
    "+33 6 12 34 56 78": {"Call 0033612345678.", "Call 06 12 34 56 78."},
}
OTHERS = ("It rains.", "Write to piet@north.example.", "Call +33 6 12 34 56 79.")


async def found(ada: MemoryClient, topic: str) -> set[str]:
    shown = await ada.preview_forget(topic)
    return {item.text for item in shown.items if item.kind == "entry"}


async def test_any_script_and_spelling_and_each_form_of_an_identifier_is_found(
    ada: MemoryClient,
) -> None:
    for content in (*(text for texts in SPELLINGS.values() for text in texts), *OTHERS):
        await ada.add(content)

    assert {topic: await found(ada, topic) for topic in SPELLINGS} == SPELLINGS
    with pytest.raises(InvalidInputError, match="topic"):
        await ada.preview_forget("the and of")


async def test_forms_are_found_in_the_language_of_each_entry(ada: MemoryClient) -> None:
    contents = {"english": "A red hat.", "german": "Zwei Häuser.", "dutch": "!"}
    for language, content in contents.items():
        await ada.settings.change(language=language)
        await ada.add(content)

    topics = ("Haus", "red hat", "das Haus am Fluss")
    texts = [await found(ada, topic) for topic in topics]

    assert texts == [{"Zwei Häuser."}, {"A red hat."}, set()]
