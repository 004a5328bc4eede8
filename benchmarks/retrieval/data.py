"""The memories of the benchmark: one agent ingests messages, others and the floor get shares of its rows.

What is there already is left alone, so that one directory serves many runs.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg

from benchmarks.lanes import Lane, Lanes
from benchmarks.messages import messages
from benchmarks.retrieval.crowd import crowd
from benchmarks.retrieval.peers import Question
from benchmarks.retrieval.plain_statement import build_plain
from benchmarks.retrieval.queries import questions
from mnestic.activities.clients.token_vectors import TokenVectorEmbedder
from mnestic.memory.language.terms import first_terms
from mnestic.starter.cli.output import print_progress
from mnestic.starter.client.ingestion import start_ingest

TENANT = "crowd"
_BASE = "base"  # its memory is made through the public client
_SEED, _QUESTION_SEED, _ADDED_SEED = 11, 12, 13
_AT_ONCE = 500  # messages sent in one transaction
_LACK_TOKENS = "SELECT DISTINCT content FROM mnestic.entry WHERE tenant_id = %s AND tokens IS NULL"
_FILL_TOKENS = """
UPDATE mnestic.entry AS e SET tokens = f.tokens FROM filling AS f
 WHERE e.tenant_id = %s AND e.content = f.content AND e.tokens IS NULL
"""
_COUNT = "SELECT count(*) FROM mnestic.entry WHERE tenant_id = %s AND agent_id = %s"
_SAMPLE = "SELECT speaker, content FROM plain.entry WHERE agent = %s ORDER BY md5(content) LIMIT %s"


@dataclass(frozen=True, kw_only=True)
class Population:
    """Agents with so many entries each, and many others that have as many as the smallest of them.

    Each is a share of the largest, so that all sizes divide it.
    """

    sizes: tuple[int, ...] = (1000, 10_000, 100_000)
    many: int = 300

    @property
    def shares(self) -> dict[str, int]:
        """By agent, of how many of the largest one's sessions it has one."""
        sized = {agent_of(size): max(self.sizes) // size for size in self.sizes}
        return sized | dict.fromkeys(self.many_agents, max(self.sizes) // min(self.sizes))

    @property
    def many_agents(self) -> tuple[str, ...]:
        """The names of the many."""
        return tuple(f"one-of-many-{number}" for number in range(self.many))


def agent_of(size: int) -> str:
    """The agent with so many entries."""
    return f"one-of-{size}"


async def build(lanes: Lanes, owner: psycopg.AsyncConnection, population: Population) -> None:
    """Creates the data that is missing.

    Raises:
        ValueError: other agents were built there.
    """
    largest = max(population.sizes)
    began = time.monotonic()
    if await _count(owner, _BASE) < largest:
        async with lanes.open(TENANT) as lane:
            await _learn(lane, largest)
        print_progress(f"{largest} entries learned ({time.monotonic() - began:.0f} s)")
    began = time.monotonic()
    if not await _count(owner, agent_of(largest)):
        await crowd(owner, tenant=TENANT, agent=_BASE, shares=population.shares)
        print_progress(f"Copied to other agents ({time.monotonic() - began:.0f} s)")
    lacking = [agent for agent in population.shares if not await _count(owner, agent)]
    if lacking:
        raise ValueError(f"{lacking[0]} is not in this directory, which was built for other sizes")
    began = time.monotonic()
    if filled := await fill_tokens(owner, TENANT):
        print_progress(f"{filled} entries got tokens ({time.monotonic() - began:.0f} s)")
    began = time.monotonic()
    there = await (await owner.execute("SELECT to_regclass('plain.entry')")).fetchone()
    if there == (None,):
        sized = {agent_of(size): size for size in population.sizes}
        await build_plain(owner, tenant=TENANT, large=sized, others=population.many_agents)
        print_progress(f"Copied to the plain table ({time.monotonic() - began:.0f} s)")


async def fill_tokens(owner: psycopg.AsyncConnection, tenant: str) -> int:
    """Gives a tenant's entries in a directory that is older than the column the tokens with which they would be added now."""
    lacking = await (await owner.execute(_LACK_TOKENS, [tenant])).fetchall()
    if not lacking:
        return 0
    contents = [content for (content,) in lacking]
    tokens = TokenVectorEmbedder().tokenize([" ".join(first_terms(one)) for one in contents])
    async with owner.transaction():
        await owner.execute("CREATE TEMPORARY TABLE filling (content text, tokens bytea)")
        async with owner.cursor().copy("COPY filling FROM STDIN") as copy:
            for row in zip(contents, tokens, strict=True):
                await copy.write_row(row)
        await owner.execute("ANALYZE filling")
        filled = (await owner.execute(_FILL_TOKENS, [tenant])).rowcount
        await owner.execute("DROP TABLE filling")
    await owner.execute("VACUUM FULL mnestic.entry")  # every row has been written once more
    return filled


async def questions_to(
    owner: psycopg.AsyncConnection, agent: str, *, number: int, seed: int = _QUESTION_SEED
) -> list[Question]:
    """Questions to an agent, none of them twice."""
    entries = await (await owner.execute(_SAMPLE, [agent, number])).fetchall()
    return [(agent, question) for question in questions(entries, number=number, seed=seed)]


async def questions_in_turn(
    owner: psycopg.AsyncConnection, agents: Sequence[str]
) -> list[Question]:
    """One question to each agent."""
    return [
        question
        for seed, agent in enumerate(agents)
        for question in await questions_to(owner, agent, number=1, seed=seed)
    ]


def contents(number: int, *, lane: str) -> Iterator[str]:
    """Texts to add meanwhile, none of them twice, in whatever lane: the same one once more is no write."""
    for place, message in enumerate(messages(number, seed=_ADDED_SEED)):
        yield f"{message.content} ({lane}, {place})"


async def _learn(lane: Lane, number: int) -> None:
    memory = lane.client.memory(_BASE)
    batch = []
    for message in messages(number, seed=_SEED):
        batch.append(message)
        if len(batch) == _AT_ONCE:
            await memory.ingest(batch)
            await start_ingest(lane.client, agent_id=_BASE)
            batch = []
    await memory.ingest(batch)
    handle = await start_ingest(lane.client, agent_id=_BASE)
    await handle.result()


async def _count(owner: psycopg.AsyncConnection, agent: str) -> int:
    row = await (await owner.execute(_COUNT, [TENANT, agent])).fetchone()
    assert row is not None
    return int(row[0])
