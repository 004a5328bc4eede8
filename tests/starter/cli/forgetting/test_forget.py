"""`mnestic memory forget`: shows, asks, forgets."""

import io

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask

FORGET = ("memory", "forget", "Paris", "--agent", "ada")


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


async def entries(client: MnesticClient) -> list[str]:
    found, _ = await client.memory("ada").entries.list(EntryQuery())
    return sorted(entry.content for entry in found)


@pytest.fixture
async def told(client: MnesticClient) -> None:
    """What the agent knows."""
    await client.memory("ada").add("Paris is large.")
    await client.memory("ada").add("Tea is hot.")


@pytest.mark.usefixtures("worker", "told")
async def test_a_person_is_shown_what_would_go_and_asked(
    ask: Ask, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    kept = await ask(*FORGET)
    after_no = await entries(client)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    gone = await ask(*FORGET)

    assert "entry     Paris is large." in kept.err
    assert "Forget this permanently?" in kept.err
    assert (kept.code, kept.out) == (0, "Nothing is forgotten.\n")
    assert after_no == ["Paris is large.", "Tea is hot."]
    assert gone.code == 0
    assert "entry     Paris is large." in gone.out
    assert "1  entry" in gone.out
    assert await entries(client) == ["Tea is hot."]


@pytest.mark.usefixtures("worker", "told")
async def test_without_a_terminal_it_takes_yes_and_counts_what_is_too_much_to_show(
    ask: Ask, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(22):
        await client.memory("ada").add(f"Paris {number}.")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    refused = await ask(*FORGET)
    left = await entries(client)
    done = await ask(*FORGET, "--yes")

    assert "--yes: is needed without a terminal" in refused.error(code=2)
    assert len(left) == 24
    assert "Would be removed" in done.err
    assert "… and 3 more" in done.err
    assert "Removed or redacted:" in done.out
    assert await entries(client) == ["Tea is hot."]
