"""`mnestic memory facts`: what is believed, what was believed, and how it changed."""

from datetime import UTC, datetime

from mnestic.memory.knowledge.claims import Claim, ClaimSource, Span
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.cli.conftest import Ask
from tests.transactions import Begin

ADA = ("--agent", "ada")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def test_why_a_fact_is_believed_names_the_words_and_the_way_of_each_claim(
    ask: Ask, client: MnesticClient, begin: Begin
) -> None:
    said = "I moved. I live in \x1b[1m[b]Ghent[/b]."
    message = Resource(
        session_id="s", source_id="m1", channel="mail", speaker="Mara", content=said, at=NOON
    )
    await client.memory("ada").ingest([message])
    source = ClaimSource(
        extractor="rules/7",
        session_id="s",
        source_id="m1",
        span=Span(start=9, end=len(said)),
        job_id="j1",
        workflow_run="run-1",
    )
    claim = Claim(
        id="c", subject="Mara", predicate="lives_in", object="Ghent", said_at=NOON, source=source
    )
    async with begin() as transaction:
        (change,) = await transaction.facts.claim([claim])
    await ask("memory", "facts", "add", "Mara", "lives_in", "Ghent", *ADA)

    told = await ask("memory", "facts", "why", change.fact.id, *ADA)
    listed = await ask("memory", "facts", "why", change.fact.id, *ADA, "--json")

    lines = told.out.splitlines()
    start = lines.index("2026-03-01 12:00  affirmed by rules/7")
    assert lines[start + 1 : start + 5] == [
        f"  message s/m1, characters 9-{len(said)}",
        '  words "I live in \\u001b[1m[b]Ghent[/b]."',
        "  job j1",
        "  workflow run run-1",
    ]
    assert lines[-1].endswith("affirmed by person")
    assert [claim["words"] for claim in listed.document["claims"]] == [said[9:], None]
