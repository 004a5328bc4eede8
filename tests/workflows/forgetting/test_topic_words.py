"""Which words a topic is found by: in any script, spelling and form."""

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import (
    forget,
    learn,
    said,
)

pytestmark = pytest.mark.acceptance  # each forgets whole memories and scans every table

SPELLINGS = [
    ("straße", "Die STRASSE ist lang.", "strasse"),
    ("Zürich", "Wir wohnen in Zu\u0308rich.", "rich"),
    ("東京", "来週東京に行きます。", "来週東京に行きます"),
    ("Émile Zola", "ZOLA, ÉMILE", "zola"),
    ("divorce", "They divorced in spring.", "divorced"),
]


@pytest.mark.usefixtures("worker")
async def test_any_script_and_spelling_is_found(client: MnesticClient, scan: Scan) -> None:
    memory = client.memory("ada")
    contents = [content for _, content, _ in SPELLINGS]
    await learn(
        client, *(said(str(number), text) for number, text in enumerate([*contents, "It rains."]))
    )
    assert all(scan(word) for _, _, word in SPELLINGS)

    for topic, _, word in SPELLINGS:
        done = await forget(memory, topic)
        assert (done.purged["entry"], scan(word)) == (1, {}), topic

    (left,), _ = await memory.entries.list(EntryQuery())
    assert left.content == "It rains."


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("language", "topic", "content", "other", "word"),
    [
        ("german", "das Haus", "Die Häuser am Fluss wurden verkauft.", "Das Huhn schläft.", "verkauft"),
        ("german", "Urlaub in der Toskana", "Toskana-Urlaube sind teuer.", "Wir essen in der Küche.", "teuer"),
        ("french", "le cheval", "Les chevaux dorment.", "Il pleut.", "chevaux"),
        ("spanish", "la receta", "Perdí las recetas.", "La reina está aquí.", "recetas"),
        ("russian", "книга", "Книги лежат на полке.", "Кот спит.", "полке"),
    ],
)  # fmt: skip
async def test_forms_of_a_word_are_found_in_the_agent_s_language(
    client: MnesticClient,
    scan: Scan,
    language: str,
    topic: str,
    content: str,
    other: str,
    word: str,
) -> None:
    memory = client.memory("ada")
    await memory.settings.change(language=language)
    await learn(client, said("1", content), said("2", other))
    assert scan(word)

    done = await forget(memory, topic)

    assert done.purged["entry"] == 1
    assert scan(word) == {}
    (left,), _ = await memory.entries.list(EntryQuery())
    assert left.content == other


@pytest.mark.usefixtures("worker")
async def test_forms_are_found_in_the_language_of_each_entry(client: MnesticClient) -> None:
    memory = client.memory("ada")
    for language, content in (
        ("english", "A red hat."),
        ("german", "Zwei Häuser."),
        ("dutch", "!"),
    ):
        await memory.settings.change(language=language)
        await memory.add(content)

    houses = await forget(memory, "Haus")
    hats = await forget(memory, "red hat")
    others = await forget(memory, "das Haus am Fluss")

    assert [done.purged.get("entry") for done in (houses, hats, others)] == [1, 1, None]
