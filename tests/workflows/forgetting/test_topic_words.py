"""Which words a topic is found by: in any script, spelling and form."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import contents, forget, learn, said

# Each forgets whole memories and scans every table.
pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("worker")]

SPELLINGS = [
    ("straße", "Die STRASSE ist lang.", "strasse"),
    ("Zürich", "Wir wohnen in Zu\u0308rich.", "rich"),
    ("東京", "来週東京に行きます。", "来週東京に行きます"),
    ("Émile Zola", "ZOLA, ÉMILE", "zola"),
    ("divorce", "They divorced in spring.", "divorced"),
]


async def test_any_script_and_spelling_is_found(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    texts = [*(content for _, content, _ in SPELLINGS), "It rains."]
    await learn(client, *(said(str(number), text) for number, text in enumerate(texts)))
    assert all(scan(word) for _, _, word in SPELLINGS)

    for topic, _, word in SPELLINGS:
        done = await forget(ada, topic)
        assert (done.purged["entry"], scan(word)) == (1, {}), topic

    assert await contents(ada) == {"It rains."}


async def test_forms_are_found_in_the_language_of_each_entry(ada: MemoryClient) -> None:
    for language, content in (
        ("english", "A red hat."),
        ("german", "Zwei Häuser."),
        ("dutch", "!"),
    ):
        await ada.settings.change(language=language)
        await ada.add(content)

    topics = ("Haus", "red hat", "das Haus am Fluss")
    done = [(await forget(ada, topic)).purged.get("entry") for topic in topics]

    assert done == [1, 1, None]
