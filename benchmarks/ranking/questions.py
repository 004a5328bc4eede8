"""Questions with known answers, each with the memory that is asked: LoCoMo's, those of nine settings, and those of the tests' worlds.

Only they know what is labelled how.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from benchmarks.local_worker import local_worker
from benchmarks.locomo.measurement import agent_of
from benchmarks.locomo.questions import Sample
from benchmarks.questions.questions import WORLDS, Message, Question, ingest_messages
from mnestic.memory.retrieval.queries import Retrieval
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from tests.retrieval.conftest import WORLDS as TEST_WORLDS
from tests.retrieval.conftest import World, load

Source = Literal["locomo", "elsewhere", "settings", "worlds"]
_OF_SETTINGS = 2.0  # how much a result counts, beside one of the tests' worlds, whose questions the rules of language were made on
_OTHER_MODE = 0.3  # of its weight, for the results by words or meaning alone


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """A question with its answers.

    `right` are the source ids of what answers, `wrong` those of what does not: of None, all others. `ignored` are neither. `world` is what it is asked of.
    """

    source: Source
    world: str
    memory: MemoryClient
    text: str
    right: AbstractSet[str] = frozenset()
    wrong: AbstractSet[str] | None = None
    ignored: AbstractSet[str] = frozenset()
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def modes(self) -> Mapping[str, float]:
        """The modes in which it is asked, with the weight of a result."""
        weight = _OF_SETTINGS if self.source == "settings" else 1.0
        if self.source in {"locomo", "elsewhere"} or "mode" in self.fields:
            return {self.fields.get("mode", "hybrid"): weight}
        return {"hybrid": weight, "text": _OTHER_MODE * weight, "semantic": _OTHER_MODE * weight}

    async def ask(self, **more: Any) -> Retrieval:
        """Asks it, with more fields."""
        return await self.memory.retrieve(self.text, **{**self.fields, "is_access": False, **more})

    def label(self, source_id: str) -> float | None:
        """1 if an entry answers, 0 if not, None if that is not known."""
        if source_id in self.ignored:
            return None
        if source_id in self.right:
            return 1.0
        return 0.0 if self.wrong is None or source_id in self.wrong else None


def locomo_questions(
    client: MnesticClient, samples: Sequence[Sample]
) -> Iterator[LabelledQuestion]:
    """LoCoMo's, each put to its own conversation, and to the next one, where nothing answers."""
    for number, sample in enumerate(samples):
        other = (number + 1) % len(samples)
        for asked in sample.questions:
            yield LabelledQuestion(
                source="locomo",
                world=f"conversation {number}",
                memory=client.memory(agent_of(number)),
                text=asked.text,
                right=asked.evidence,
                fields={"asked_at": sample.ends_at},
            )
            yield LabelledQuestion(
                source="elsewhere",
                world=f"conversation {number}",
                memory=client.memory(agent_of(other)),
                text=asked.text,
                fields={"asked_at": samples[other].ends_at},
            )


async def setting_questions(client: MnesticClient) -> AsyncIterator[LabelledQuestion]:
    """Those of `benchmarks/questions`."""
    for path in sorted(WORLDS.glob("*.yaml")):
        world = yaml.safe_load(path.read_text(encoding="utf-8"))
        await ingest_messages(client, [Message.model_validate(each) for each in world["memory"]])
        for asked in map(Question.model_validate, world["cases"]):
            yield LabelledQuestion(
                source="settings",
                world=path.stem,
                memory=client.memory(asked.agent),
                text=asked.ask,
                right=asked.only,
                ignored=asked.may,
            )


async def world_questions(client: MnesticClient) -> AsyncIterator[LabelledQuestion]:
    """Those of the tests' worlds, each of a tenant of its own."""
    for path in sorted(TEST_WORLDS.glob("*.yaml")):
        kept, world = load(path.stem), World(client, path.stem)
        async with local_worker(client):
            await world.keep(kept["memory"])
        for case in kept.get("cases", ()):
            if "budget" not in case:
                yield _of_case(case, world.memory_of(case), world=path.stem)


def _of_case(case: Mapping[str, Any], memory: MemoryClient, *, world: str) -> LabelledQuestion:
    named = (case.get(name, ()) for name in ("only", "must", "first_of"))
    right = frozenset(each for names in named for each in names) | {case.get("first", "")} - {""}
    is_closed = "only" in case or case.get("empty")
    return LabelledQuestion(
        source="worlds",
        world=world,
        memory=memory,
        text=case["ask"],
        right=right,
        wrong=None if is_closed else frozenset(case.get("must_not", ())),
        fields=case.get("with", {}),
    )
