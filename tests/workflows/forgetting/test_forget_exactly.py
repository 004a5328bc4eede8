"""`ForgetTopic` is exact: an identifier goes in each of its forms and no other does, and sentences go rather than messages."""

from collections.abc import Callable
from functools import partial

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.ingestion import start_ingest
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.word_scan import scan_tables
from tests.workflows.forgetting.forget_samples import forget, learn, said

Scan = Callable[..., dict[str, int]]


@pytest.fixture
def scan(admin_url: str, client: MnesticClient) -> Scan:
    """Counts the rows of every table of an agent in which a word stands, in whatever column."""
    return partial(scan_tables, admin_url, tenant=client.settings.tenant_id)


@pytest.fixture
def ada(client: MnesticClient) -> MemoryClient:
    """The memory of one agent."""
    return client.memory("ada")


async def contents(memory: MemoryClient) -> set[str]:
    entries, _ = await memory.entries.list(EntryQuery())
    return {entry.content for entry in entries}


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    ("topic", "gone", "stays"),
    [
        (
            "nadia@north.example",
            [
                "Write to Nadia@North.example.",
                "Her address: nadia [at] north [dot] example",
                "She uses nadia+shop@north.example.",
                'Or "nadia"@north.example.',
            ],
            [
                "Write to piet@north.example.",
                "Write to nadia.bos@north.example.",
                "Nadia lives in the north.",
            ],
        ),
        (
            "API key rk_test_7Hd2Kp9Wz",
            ["It is rk_test_7Hd2Kp9Wz.", "Put rk.test.7Hd2Kp9Wz there."],
            ["It is rk_test_7Hd2Kp9Wx.", "The key is new."],
        ),
        (
            "219-09-9999",
            ["The number is 219099999.", "It is 219 09 9999."],
            ["The number is 219-09-9998.", "She was born in 1999."],
        ),
        (
            "card 5500 0000 0000 0004",
            ["Paid by 5500-0000-0000-0004.", "Paid by 5500000000000004."],
            ["Paid by 5500 0000 0000 0040.", "The card is blue."],
        ),
        (
            "+33 6 12 34 56 78",
            ["Call 0033612345678.", "Call 06 12 34 56 78."],
            ["Call +33 6 12 34 56 79.", "Call +34 612 345 678."],
        ),
        (
            "ticket OPS-311",
            ["ops-311 is about the login.", "Who has OPS 311?"],
            ["OPS-312 is about the logout.", "OPS-3110 is done.", "The ticket is new."],
        ),
    ],
)
async def test_an_identifier_goes_in_each_form_and_its_neighbours_stay(
    ada: MemoryClient, topic: str, gone: list[str], stays: list[str]
) -> None:
    for content in (*gone, *stays):
        await ada.add(content)

    shown = await ada.preview_forget(topic)
    done = await forget(ada, topic)

    assert {item.text for item in shown.items if item.kind != "fact"} == {*gone}
    assert done.purged["entry"] == len(gone)
    assert await contents(ada) == {*stays}


@pytest.mark.usefixtures("worker")
async def test_documents_lose_an_identifier_in_any_form(ada: MemoryClient, scan: Scan) -> None:
    await ada.records.set("people", "nadia", {"ssn": 219099999, "note": "Blue. It is 219 09 9999."})
    await ada.records.set("people", "piet", {"ssn": "219-09-9998"})

    await forget(ada, "219-09-9999")

    nadia, piet = await ada.records.get("people", "nadia"), await ada.records.get("people", "piet")
    assert nadia.value == {"ssn": "[forgotten]", "note": "Blue. [forgotten]"}
    assert piet.value == {"ssn": "219-09-9998"}
    assert scan("219099999") == {}


@pytest.mark.usefixtures("worker")
async def test_a_command_and_alternatives_are_understood(ada: MemoryClient) -> None:
    for content in (
        "Nadia sings.",
        "Надя поёт.",
        "Надежда is somebody else.",
        "Everything is fine.",
    ):
        await ada.add(content)

    await forget(ada, "everything you know about Nadia / Надя")

    assert await contents(ada) == {"Надежда is somebody else.", "Everything is fine."}


@pytest.mark.usefixtures("worker")
async def test_a_statement_goes_and_what_is_left_keeps_its_facts(
    client: MnesticClient, ada: MemoryClient, scan: Scan
) -> None:
    text = "My e-mail is mara@north.example; I live in Ghent. I like tea. Nadia hates it, but I do not care."
    await learn(client, said("1", text))

    shown = await ada.preview_forget("mara@north.example")
    await forget(ada, "mara@north.example")
    await forget(ada, "everything about Nadia")
    await (await start_ingest(client, agent_id="ada")).result()

    facts, _ = await ada.facts.list(statuses=("active",))
    assert {(fact.predicate, fact.object) for fact in facts} >= {
        ("lives_in", "Ghent"),
        ("likes", "tea"),
    }
    assert await contents(ada) == {"I live in Ghent. I like tea."}
    assert [(item.text, item.left) for item in shown.items if item.kind == "sentence"] == [
        (
            "My e-mail is mara@north.example",
            "I live in Ghent. I like tea. Nadia hates it, but I do not care.",
        )
    ]
    found = await ada.retrieve("Where does Mara live?")
    assert [one.entry.content for one in found.results] == ["I live in Ghent. I like tea."]
    assert scan("nadia") == scan("north") == {}
