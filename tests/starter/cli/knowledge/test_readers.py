"""Commands for readers: what is added under readers by any of them is shown to these alone by all of them."""

import json
from pathlib import Path

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.reader_episode import ROLES, SHORT, STRANGER, leaks, tell
from tests.starter.cli.conftest import Ask
from tests.starter.cli.test_app import ALL

pytestmark = pytest.mark.usefixtures("worker")
ADA = ("--agent", "ada")
LINES = [
    {"role": "Ben", "content": "My locker is 12.", "timestamp": "2026-03-02T09:00:00Z"},
    {
        "role": "Ben",
        "content": "My knee hurts.",
        "timestamp": "2026-03-02T09:01:00Z",
        "readers": ["user.doctor"],
    },
]


async def readers_of(client: MnesticClient) -> dict[str, set[str]]:
    """Who of some readers is shown each entry."""
    found: dict[str, set[str]] = {}
    for reader in ("user.ben", "user.hr.ida", "user.doctor"):
        entries, _ = await client.memory("ada", reader=reader).entries.list(EntryQuery())
        for entry in entries:
            found.setdefault(entry.content, set()).add(reader)
    return found


async def test_what_is_added_ingested_and_imported_has_readers(
    ask: Ask, client: MnesticClient, tmp_path: Path
) -> None:
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    (tmp_path / "chat.txt").write_text(
        "[02.03.26, 09:00:00] Ben: I start at seven.\n[02.03.26, 09:01:00] Ida: Fine with me.\n",
        encoding="utf-8",
    )
    for words in (
        ("add", "The bonus is 900 euros.", "--readers", "user.hr.*", "--readers", "user.ben"),
        ("ingest", "said.jsonl", "--readers", "user.ben"),
        ("import", "chat.txt", "--readers", "user.hr.*", "--date-order", "day-first"),
        ("readers", "set", "channel", "hr", "user.hr.*"),
    ):
        assert (await ask("memory", *words, *ADA)).code == 0, words
    await client.memory("ada").add("Ida leaves in June.", channel="hr")
    listed = await ask("memory", "readers", "list", *ADA, "--json")
    removed = await ask("memory", "readers", "remove", "channel", "hr", *ADA)
    await client.memory("ada").add("The office has a garden.", channel="hr")

    assert listed.document == [{"kind": "channel", "name": "hr", "readers": ["user.hr.*"]}]
    assert removed.out == "channel hr is read by everybody from now on.\n"
    assert await readers_of(client) == {
        "The bonus is 900 euros.": {"user.ben", "user.hr.ida"},
        "My locker is 12.": {"user.ben"},
        "My knee hurts.": {"user.doctor"},
        "I start at seven.": {"user.hr.ida"},
        "Fine with me.": {"user.hr.ida"},
        "Ida leaves in June.": {"user.hr.ida"},
        "The office has a garden.": {"user.ben", "user.hr.ida", "user.doctor"},
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("add", "Hello there.", "--readers", "two words"), "no id or pattern"),
        (("ingest", "said.jsonl", "--readers", "two words"), "--readers: 0: 'two words' is no id"),
        (("import", "said.jsonl", "--readers", ""), "--readers: 0: '' is no id or pattern"),
        (("readers", "set", "session", "s1", "two words"), "no id or pattern"),
        (("readers", "set", "agent", "s1", "user.ben"), "session"),
    ],
)
async def test_readers_that_cannot_be_are_refused(
    ask: Ask, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    (tmp_path / "said.jsonl").write_text(json.dumps(LINES[0]), encoding="utf-8")

    refused = await ask("memory", *words, *ADA)

    assert refused.code == 2
    assert why in refused.err


@pytest.fixture
async def clinic(client: MnesticClient) -> dict[str, str]:
    """What commands name in the clinic: an entry and a fact that few may read."""
    memory = await tell(client, "clinic")
    entries, _ = await memory.entries.list(EntryQuery(speaker="Dan"))
    facts, _ = await memory.facts.list(subject="Ben", predicate="lives_in")
    (private,) = [fact.id for fact in facts if fact.object == "Lelystad"]
    return {"entry": entries[0].id, "fact": private}


# What follows each command that takes a reader.
READING = {
    "memory search": ["{question}", "--min-score", "0"],
    "memory context": ["{question}"],
    "memory why": ["{question}", "--expect", "{entry}"],
    "memory show": ["{entry}"],
    "memory list": [],
    "memory graph": [],
    "memory archived": [],
    "memory export": [],
    "memory world": ["Ben"],
    "memory categories": [],
    "memory summaries": [],
    "memory facts list": ["--all"],
    "memory facts history": ["Ben", "lives_in"],
    "memory facts why": ["{fact}"],
}
HIDDEN = {"memory why", "memory show", "memory facts why"}


@pytest.mark.acceptance
async def test_each_command_for_a_reader_shows_nothing_of_others(
    ask: Ask, clinic: dict[str, str]
) -> None:
    taking = {words for words, one in ALL.items() if any("--reader" in p.opts for p in one.params)}
    assert taking == {*READING, "mcp"}

    found, codes, seen = {}, {}, ""
    for reader, question in ((ROLES["anna"], SHORT[0]), (STRANGER, SHORT[1])):
        for command, words in READING.items():
            named = [word.format(**clinic, question=question) for word in words]
            done = await ask(*command.split(), *named, "--agent", "clinic", "--reader", reader)
            seen, codes[command] = seen + done.out, done.code
            if leaked := leaks(done.out + done.err, reader, but=question):
                found[command, reader] = leaked

    assert found == {}
    assert {command for command, code in codes.items() if code} == HIDDEN
    assert "The practice opens at eight" in seen
