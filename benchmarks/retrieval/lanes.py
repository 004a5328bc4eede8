"""The lanes of retrieval: queries with or without concurrent writes, on all sides in turn.

Each lane and size has new processes, so that none is warm from another's queries.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.retrieval.data import contents
from benchmarks.retrieval.figures import (
    Latency,
    NewProcess,
    latency_of,
    new_process,
)
from benchmarks.retrieval.peers import Block, Peer, Peers, Question

FIRST = 3  # questions of a new process that are reported
_SEED = 11


@dataclass(frozen=True, kw_only=True)
class Lane:
    """How a lane queries.

    Attributes:
        block: The number of questions for one side before the next side's turn.
        is_written: Whether another process adds an entry before each block.
        clients: Clients at once, in one process.
        before_message: Whether it retrieves before a message (`auto_retrieve`).
    """

    block: int = 10
    is_written: bool = False
    clients: int = 1
    before_message: bool = False


LANES = {
    "steady": Lane(),
    "mixed_1": Lane(block=1, is_written=True),
    "mixed_5": Lane(block=5, is_written=True),
    "clients_16": Lane(block=160, clients=16),
    "agents": Lane(),
    "before_message": Lane(before_message=True),
    "repeated": Lane(block=100),
}


async def measure_first(
    peers: Peers, questions: Sequence[Question], *, processes: int
) -> dict[str, NewProcess]:
    """The first questions of some new processes, one of each side in turn."""
    connects: dict[str, list[float]] = {side: [] for side in peers.sides}
    taken: dict[str, list[tuple[float, ...]]] = {side: [] for side in peers.sides}
    for number in range(processes):
        for side in peers.sides:
            async with peers.start(side) as peer:
                connects[side].append(peer.connect_ms)
                block = await peer.ask(questions[FIRST * number : FIRST * (number + 1)])
                taken[side].append(block.ms)
    return {side: new_process(connects[side], taken[side]) for side in peers.sides}


async def measure_lane(
    peers: Peers, name: str, *, warm_up: Sequence[Question], questions: Sequence[Question]
) -> dict[str, Latency]:
    """The questions, by all sides, after some that no figure is of."""
    lane = LANES[name]
    async with peers.open() as open_peers:
        for peer in open_peers.values():
            await _ask(peer, warm_up, lane)
        before = {side: peer.rss_mib() for side, peer in open_peers.items()}
        if lane.is_written:
            async with peers.open() as writers:
                found = await _alternate(peers, open_peers, questions, name=name, writers=writers)
                for writer in writers.values():
                    await writer.remove_added(questions[0][0])
        else:
            found = await _alternate(peers, open_peers, questions, name=name)
        grown = {side: peer.rss_mib() - before[side] for side, peer in open_peers.items()}
    return {
        side: one.model_copy(update={"grown_mib": round(grown[side], 1)})
        for side, one in found.items()
    }


def repeat(questions: Sequence[Question], *, number: int) -> list[Question]:
    """Some questions, few of them often, as people ask (Zipf's law, s = 1)."""
    often = 1 / np.arange(1, len(questions) + 1)
    drawn = np.random.default_rng(_SEED).choice(len(questions), size=number, p=often / often.sum())
    return [questions[place] for place in drawn]


async def _alternate(
    peers: Peers,
    open_peers: dict[str, Peer],
    questions: Sequence[Question],
    *,
    name: str,
    writers: dict[str, Peer] | None = None,
) -> dict[str, Latency]:
    """Block by block: one side after the other, in every second block from the last to the first."""
    lane = LANES[name]
    blocks: dict[str, list[Block]] = {side: [] for side in peers.sides}
    postgres_s = dict.fromkeys(peers.sides, 0.0)
    postgres = peers.backends()
    added = contents(len(questions), lane=name)
    for number, block in enumerate(_blocks(questions, lane.block)):
        content = next(added)
        for side in peers.sides if number % 2 else peers.sides[::-1]:
            if writers is not None:
                await writers[side].add(block[0][0], content)
            spent = postgres.cpu_s()
            blocks[side].append(await _ask(open_peers[side], block, lane))
            postgres_s[side] += postgres.cpu_s() - spent
    return {side: latency_of(blocks[side], postgres_s=postgres_s[side]) for side in peers.sides}


async def _ask(peer: Peer, questions: Sequence[Question], lane: Lane) -> Block:
    return await peer.ask(questions, clients=lane.clients, before_message=lane.before_message)


def _blocks(questions: Sequence[Question], size: int) -> Iterator[Sequence[Question]]:
    for start in range(0, len(questions), size):
        yield questions[start : start + size]
