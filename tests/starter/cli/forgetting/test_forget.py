"""`mnestic memory forget`: shows, asks, forgets."""

import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
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
async def test_it_forgets_what_it_showed_before(ask: Ask, client: MnesticClient) -> None:
    shown = (await ask(*FORGET, "--dry-run", "--json")).document
    before = await entries(client)
    done = (await ask(*FORGET, "--confirm", shown["token"], "--json")).document
    again = await ask(*FORGET, "--yes")

    assert before == ["Paris is large.", "Tea is hot."]
    (item,) = shown["items"]
    assert (item["kind"], item["text"], item["by"]) == ("entry", "Paris is large.", "text")
    assert (shown["dry_run"], shown["forgetting_id"], shown["left"]) == (True, None, [])
    assert (done["dry_run"], done["items"], done["left"]) == (False, [item], [])
    assert done["forgetting_id"]
    assert done["purged"]["entry"] == shown["purged"]["entry"] == 1
    assert await entries(client) == ["Tea is hot."]
    assert "Nothing matched the topic." in again.out


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


@pytest.mark.usefixtures("told")
async def test_nothing_goes_where_nobody_can_be_asked(
    ask: Ask, client: MnesticClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    refused = await ask(*FORGET)

    assert "--yes: is needed without a terminal" in refused.error(code=2)
    assert await entries(client) == ["Paris is large.", "Tea is hot."]


@pytest.mark.parametrize("topic", ["", "the and", "x" * 100_000, "?!"])
async def test_a_topic_that_says_nothing_is_one_clear_error(ask: Ask, topic: str) -> None:
    refused = await ask("memory", "forget", topic, "--agent", "ada", "--yes")

    assert refused.error(code=2).startswith("error: topic: ")


async def test_no_temporal_is_said_and_no_word_of_the_topic_stays(
    ask: Ask, client: MnesticClient, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.memory("ada").add("Paris is large.")
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{closed_port}")

    refused = await ask(*FORGET, "--yes")

    assert refused.code == 3
    assert await entries(client) == ["Paris is large."]


@pytest.mark.usefixtures("worker", "told")
async def test_yes_shows_what_goes_first(ask: Ask, client: MnesticClient) -> None:
    done = await ask(*FORGET, "--yes")

    assert "entry     Paris is large." in done.err
    assert "Would be removed" in done.err
    assert "Removed or redacted:" in done.out
    assert await entries(client) == ["Tea is hot."]


@pytest.mark.usefixtures("told")
async def test_a_token_of_something_else_forgets_nothing(ask: Ask, client: MnesticClient) -> None:
    shown = await ask(*FORGET, "--dry-run")
    (token,) = [line.split()[-1] for line in shown.out.splitlines() if "--confirm" in line]
    await client.memory("ada").add("Paris is wide.")

    refused = await ask(*FORGET, "--confirm", token)

    assert "what would go has changed; look again" in refused.error(code=2)
    assert len(await entries(client)) == 3


@pytest.mark.usefixtures("worker")
async def test_many_are_counted_and_json_has_all(ask: Ask, client: MnesticClient) -> None:
    for number in range(23):
        await client.memory("ada").add(f"Paris {number}.")

    shown = (await ask(*FORGET, "--dry-run")).out
    document = (await ask(*FORGET, "--dry-run", "--json")).document

    assert "… and 3 more" in shown
    assert len(document["items"]) == 23
