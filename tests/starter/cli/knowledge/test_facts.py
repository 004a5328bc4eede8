"""`mnestic memory facts`: what is believed, what was believed, and how it changed."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from mnestic.memory.knowledge.claims import Claim, ClaimSource, Span
from mnestic.memory.knowledge.resources import Resource
from mnestic.memory.ports import Memory
from mnestic.starter.client.mnestic_client import MnesticClient

Ask = Callable[..., Awaitable[Any]]
ADA = ("--agent", "ada")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def moved(ask: Ask) -> str:
    """Mara has moved; returns the moment at which only her first home was known."""
    facts = ("memory", "facts", "add", "Mara", "lives_in")
    await ask(*facts, "Utrecht", "--since", "2020-01-01", *ADA)
    between = datetime.now(UTC).isoformat()
    await ask(*facts, "Ghent", "--since", "2024-05-01T00:00+02:00", *ADA)
    return between


async def objects(ask: Ask, *words: str) -> list[str]:
    done = await ask("memory", "facts", "list", *words, *ADA, "--json")
    return [fact["object"] for fact in done.document["facts"]]


async def test_what_was_so_at_a_time(ask: Ask, moved: str) -> None:
    assert await objects(ask, "--as-of", "2019-12-31") == []
    assert await objects(ask, "--as-of", "2022-06-01") == ["Utrecht"]
    assert await objects(ask, "--as-of", "2024-05-01") == ["Ghent"]
    assert await objects(ask, "--as-of", moved) == ["Ghent"]


async def test_what_was_believed_at_a_time_and_of_a_time(ask: Ask, moved: str) -> None:
    assert await objects(ask, "--believed-at", "2020-01-01") == []
    assert await objects(ask, "--believed-at", moved) == ["Utrecht"]
    assert await objects(ask, "--believed-at", moved, "--as-of", "2024-06-01") == ["Utrecht"]
    assert await objects(ask, "--believed-at", "2100-01-01", "--as-of", "2024-06-01") == ["Ghent"]
    assert await objects(ask, "--believed-at", "2100-01-01", "--all") == ["Utrecht", "Ghent"]


async def test_what_is_so_now_is_listed_with_what_is_to_come_marked_as_pending(ask: Ask) -> None:
    add = ("memory", "facts", "add", "Mara")
    await ask(*add, "lives_in", "Ghent", *ADA)
    await ask(*add, "lives_in", "Lyon", "--since", "2100-03-01", *ADA)
    await ask(*add, "employer", "Acme", "--until", "2100-01-01", *ADA)
    await ask(*add, "wants", "a dog", "--since", "2020-01-01", "--until", "2021-01-01", *ADA)

    listed = await ask("memory", "facts", "list", *ADA, "--json")
    shown = (await ask("memory", "facts", "list", *ADA)).out

    assert [(fact["object"], fact["pending"]) for fact in listed.document["facts"]] == [
        ("Acme", False),
        ("Ghent", False),
        ("Lyon", True),
    ]
    assert re.search(r"Ghent .*2100-03-01 .* ending ", shown), shown
    assert re.search(r"Lyon .*2100-03-01 .* pending ", shown), shown
    assert await objects(ask, "--as-of", "2100-02-01", "--predicate", "lives_in") == ["Ghent"]
    assert await objects(ask, "--all") == ["Acme", "Ghent", "Lyon", "a dog"]


async def test_what_was_over_when_it_was_believed_is_not_listed(ask: Ask) -> None:
    add = ("memory", "facts", "add", "Mara", "lives_in")
    await ask(*add, "Porto", "--since", "2020-01-01", "--until", "2100-01-01", *ADA)
    between = datetime.now(UTC).isoformat()
    await ask("memory", "facts", "add", "Mara", "lives_in", "Ghent", *ADA)

    assert await objects(ask, "--believed-at", between) == ["Porto"]
    assert await objects(ask, "--believed-at", "2100-06-01") == ["Ghent"]


@pytest.mark.parametrize("option", ["--as-of", "--believed-at"])
@pytest.mark.parametrize("time", ["Monday", "2026-02-30", "", "0001-01-01T00:00+14:00"])
async def test_a_time_that_is_none_is_one_clear_error(ask: Ask, option: str, time: str) -> None:
    done = await ask("memory", "facts", "list", option, time, *ADA)

    error = done.error(code=2)
    assert option in error
    assert "2026-01-31T12:00Z" in error


@pytest.mark.usefixtures("moved")
async def test_the_history_of_a_topic_reads_without_gaps(ask: Ask) -> None:
    told = (await ask("memory", "facts", "history", "mara", "lives_in", *ADA, "--json")).document
    utrecht, ghent = told["facts"]
    by_id = await ask("memory", "facts", "history", ghent["id"], *ADA, "--json")
    shown = await ask("memory", "facts", "history", "Mara", "lives_in", *ADA)

    assert (told["subject"], told["cardinality"], told["category"]) == ("Mara", "single", "profile")
    assert (utrecht["status"], utrecht["end"]) == ("archived", "superseded")
    assert utrecht["reason"] == "superseded by Ghent"
    assert (utrecht["superseded_by"], ghent["supersedes"]) == (ghent["id"], utrecht["id"])
    assert utrecht["valid_to"] == ghent["valid_from"] == "2024-04-30T22:00:00Z"
    assert (ghent["status"], ghent["valid_to"], ghent["reason"]) == ("active", None, None)
    assert [said["object"] for said in ghent["said"]] == ["Ghent"]
    assert by_id.document == told
    assert "superseded" in shown.out


async def test_a_time_may_be_in_words(ask: Ask) -> None:
    add = ("memory", "facts", "add", "Mara", "lives_in")
    await ask(*add, "Utrecht", "--since", "1 March 2020", "--until", "three days ago", *ADA)
    await ask(*add, "Ghent", "--since", "yesterday", *ADA)

    assert await objects(ask, "--as-of", "March 2020") == ["Utrecht"]
    assert await objects(ask, "--as-of", "2 days ago") == []
    assert await objects(ask, "--as-of", " Now ") == ["Ghent"]


async def test_a_predicate_that_is_none_is_refused_and_one_that_nobody_used_has_no_facts(
    ask: Ask,
) -> None:
    none = await ask("memory", "facts", "list", "--predicate", "lives in", *ADA)
    subject = await ask("memory", "facts", "history", "Mara", *ADA)

    assert "such as lives_in" in none.error(code=2)
    assert "give the predicate too" in subject.error(code=2)
    assert await objects(ask, "--predicate", "never_used") == []


@pytest.mark.parametrize("command", ["why", "delete", "reactivate"])
async def test_a_fact_that_is_none_is_one_clear_error(ask: Ask, command: str) -> None:
    assert "no fact nope" in (await ask("memory", "facts", command, "nope", *ADA)).error(code=2)
    assert "fact_id: is empty" in (await ask("memory", "facts", command, " ", *ADA)).error(code=2)


async def test_the_history_of_what_nobody_spoke_of_is_empty(ask: Ask) -> None:
    done = await ask("memory", "facts", "history", "Mara", "lives_in", *ADA)
    unknown = await ask("memory", "facts", "history", "no-such-id", *ADA)

    assert "No facts." in done.out
    assert "no fact no-such-id" in unknown.error(code=2)


async def test_a_deleted_fact_is_neither_so_nor_reactivated(ask: Ask) -> None:
    added = await ask("memory", "facts", "add", "Mara", "lives_in", "Ghent", *ADA, "--json")
    (change,) = added.document["changes"]
    await ask("memory", "facts", "delete", change["after"]["id"], *ADA)

    again = await ask("memory", "facts", "reactivate", change["after"]["id"], *ADA)

    assert "is deleted, not archived" in again.error(code=2)
    assert await objects(ask, "--as-of", "2100-01-01") == []
    history = await ask("memory", "facts", "history", change["after"]["id"], *ADA)
    assert "deleted for good" in history.out


async def test_why_a_fact_is_believed_names_the_words_and_the_way_of_each_claim(
    ask: Ask, client: MnesticClient, memory: Memory
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
    asked = {"tenant_id": client.settings.tenant_id, "agent_id": "ada", "actor": "test"}
    async with memory.transaction(**asked, write=True) as transaction:
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


async def test_an_object_of_several_lines_is_one_row(ask: Ask) -> None:
    await ask("memory", "facts", "add", "Mara", "likes", "tea\r\n  and\nrain", *ADA)

    told = await ask("memory", "facts", "list", *ADA)

    assert "Mara likes tea and rain " in told.out


async def test_a_fact_that_was_deleted_before_is_told_so(ask: Ask) -> None:
    fact_id = await added(ask, "Ghent")

    first = await ask("memory", "facts", "delete", fact_id, *ADA)
    again = await ask("memory", "facts", "delete", fact_id, *ADA)

    assert "before" not in first.out
    assert (again.code, again.out.splitlines()[-1]) == (0, "It was deleted already.")


async def added(ask: Ask, place: str) -> str:
    """Says that Mara lives somewhere; returns the id of that fact."""
    done = await ask("memory", "facts", "add", "Mara", "lives_in", place, *ADA, "--json")
    (found,) = [
        change["after"]["id"]
        for change in done.document["changes"]
        if change["after"]["status"] == "active"
    ]
    return str(found)


@pytest.mark.parametrize("is_back", [True, False])
async def test_an_earlier_period_is_not_reactivated_and_the_last_is_named(
    ask: Ask, is_back: bool
) -> None:
    first = await added(ask, "Utrecht")
    await added(ask, "Ghent")
    second = await added(ask, "Utrecht")
    now = "Utrecht"
    if not is_back:
        now = "Malmö"
        await added(ask, now)

    refused = await ask("memory", "facts", "reactivate", first, *ADA)

    error = refused.error(code=2)
    assert "earlier period of 'Utrecht'" in error
    assert second in error
    assert await objects(ask) == [now]


async def test_deleting_a_fact_takes_all_periods_of_its_object(ask: Ask) -> None:
    first = await added(ask, "Utrecht")
    await added(ask, "Ghent")
    await added(ask, "Utrecht")

    await ask("memory", "facts", "delete", first, *ADA)

    done = await ask("memory", "facts", "list", "--all", *ADA, "--json")
    assert [(fact["object"], fact["status"]) for fact in done.document["facts"]] == [
        ("Utrecht", "deleted"),
        ("Ghent", "archived"),
        ("Utrecht", "deleted"),
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("Mara", "lives in", "Ghent"), "such as lives_in"),
        (("Mara", "lives_in", " "), "is empty"),
        (("!", "lives_in", "Ghent"), "names nothing"),
        (("Mara", "likes", "x" * 1001), "at most 1000"),
        (("Mara", "lives_in", "Ghent", "--since", "9999-12-31"), "from 1000 to 8999"),
        (("Mara", "lives_in", "Ghent", "--until", "0900-12-31"), "from 1000 to 8999"),
        (("Mara", "lives_in", "Ghent", "--since", "2026-02-01", "--until", "2026-01-01"), "before"),
    ],
)
async def test_what_is_no_fact_is_one_clear_error(
    ask: Ask, words: tuple[str, ...], why: str
) -> None:
    done = await ask("memory", "facts", "add", *words, *ADA)

    assert why in done.error(code=2)


async def test_what_is_over_when_it_is_said_supersedes_nothing(ask: Ask) -> None:
    await ask("memory", "facts", "add", "Mara", "lives_in", "Ghent", *ADA)

    await ask(
        *("memory", "facts", "add", "Mara", "lives_in", "Porto", *ADA),
        *("--since", "2010-01-01", "--until", "2012-01-01", "--confidence", "0.5"),
    )

    assert await objects(ask) == ["Ghent"]
    assert await objects(ask, "--as-of", "2011-01-01") == ["Porto"]
