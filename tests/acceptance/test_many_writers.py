"""Processes that write the same thing, or contradict each other, at the same moment."""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mnestic.memory.knowledge.entries import EntryQuery
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient

pytestmark = pytest.mark.acceptance
Write = Callable[[str, int], None]


@pytest.fixture
def write(environment: dict[str, str], tmp_path: Path, processes: Any) -> Write:
    """Has so many processes write, which begin at one moment, and waits until all are done."""

    def at_once(what: str, number: int) -> None:
        program, go = Path(__file__).with_name("writing_process.py"), tmp_path / "go"
        writers = [
            processes.start(sys.executable, program, what, f"Town {index}", go, env=environment)
            for index in range(number)
        ]
        for writer in writers:
            writer.until(lambda writer=writer: "ready" in writer.out, what="ready")
        go.touch()
        assert [writer.until_over(300).code for writer in writers] == [0] * number, [
            writer.err for writer in writers
        ]

    return at_once


@pytest.fixture
async def memory(client: MnesticClient) -> MemoryClient:
    return client.memory("ada")


async def test_a_hundred_identical_adds_from_four_processes_leave_one_entry(
    write: Write, memory: MemoryClient
) -> None:
    write("add", 4)

    entries, _ = await memory.entries.list(EntryQuery())
    count = await memory.messages.count()
    assert [entry.content for entry in entries] == ["Ana collects stamps."]
    assert count.waiting == 1


async def test_eight_processes_that_contradict_each_other_leave_one_fact_and_a_whole_chain(
    write: Write, memory: MemoryClient
) -> None:
    write("contradict", 8)

    every, _ = await memory.facts.list(
        subject="Ana", predicate="lives_in", statuses=("active", "archived"), limit=1000
    )
    (now,) = [fact for fact in every if fact.status == "active"]
    by_id = {fact.id: fact for fact in every}
    chain = [now]
    while chain[-1].supersedes:
        chain.append(by_id[chain[-1].supersedes])
    assert {fact.object for fact in chain} == {
        f"Town {index} {number}" for index in range(8) for number in range(10)
    }
    assert len(chain) == len(every) == 80
    for later, earlier in pairwise(chain):
        assert (earlier.superseded_by, earlier.end) == (later.id, "superseded")
        assert earlier.valid_to == later.valid_from
