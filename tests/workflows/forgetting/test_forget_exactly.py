"""`ForgetTopic` is exact: an identifier goes in each of its forms and no other does, and sentences go rather than messages."""

import pytest

from mnestic.starter.client.memory_client import MemoryClient
from tests.workflows.forgetting.conftest import Scan
from tests.workflows.forgetting.forget_samples import contents, forget

pytestmark = pytest.mark.usefixtures("worker")


@pytest.mark.parametrize(
    ("topic", "gone", "stays", "word"),
    [
        (
            "nadia@north.example",
            ["Write to Nadia@North.example.", "Her address: nadia [at] north [dot] example"],
            ["Write to piet@north.example.", "Nadia lives in the north."],
            "dot",
        ),
        (
            "+33 6 12 34 56 78",
            ["Call 0033612345678.", "Call 06 12 34 56 78."],
            ["Call +33 6 12 34 56 79.", "Call +34 612 345 678."],
            "0033612345678",
        ),
    ],
)
async def test_an_identifier_goes_in_each_form_and_its_neighbours_stay(
    ada: MemoryClient, scan: Scan, topic: str, gone: list[str], stays: list[str], word: str
) -> None:
    for content in (*gone, *stays):
        await ada.add(content)
    blue = {"note": f"Blue. {gone[-1]}", "said": stays[0]}
    await ada.records.set("people", "nadia", blue | {"number": 33612345678})

    shown = await ada.preview_forget(topic)
    done = await forget(ada, topic)

    assert {item.text for item in shown.items if item.kind == "entry"} == {*gone}
    assert done.purged["entry"] == len(gone)
    assert await contents(ada) == {*stays}
    record = await ada.records.get("people", "nadia")
    number = "[forgotten]" if topic.startswith("+") else 33612345678
    assert record.value == {"note": "Blue. [forgotten]", "said": stays[0], "number": number}
    assert scan(word) == {}
