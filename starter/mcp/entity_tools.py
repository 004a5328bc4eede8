"""The nine tools of the reference memory server: entities with observations, and relations between them.

An entity is a subject of facts. Its type is the fact `is_a`, an observation is a memory about it, and a relation is a fact
about two entities. So what these tools write is found by every other way in, and the other way round.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver.tools import Tool
from pydantic import BaseModel, ConfigDict, Field

from mnestic.memory.errors import NotFoundError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import predicate_of
from mnestic.starter.mcp.memory_tools import ADDS, READS, REPLACES, Call
from mnestic.starter.mcp.strict_tools import strict_tool
from mnestic.starter.mcp.tool_scope import CHANNEL, ScopeOf, tool
from mnestic.starter.pagination import list_all

if TYPE_CHECKING:  # a second, which a server that was not called need not wait for
    from mnestic.starter.client.memory_client import MemoryClient

_TYPE = "is_a"
_UNKNOWN_TYPE = "unknown"
_MOST_ITEMS = 500  # of a call
_MOST_ROWS = 1000  # facts and observations of a graph; `list_facts` of the other profile has pages
_MOST_RESULTS = 20


class _Wire(BaseModel):
    """The reference server writes camel case."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)


class Entity(_Wire):
    """A person or a thing."""

    name: str = Field(description="Its name.")
    entity_type: str = Field(alias="entityType", description="What it is, such as person.")
    observations: list[str] = Field(description="What is known about it, a sentence each.")


class Relation(_Wire):
    """A directed relation of two entities, in the active voice."""

    source: str = Field(alias="from", description="The entity that it begins at.")
    target: str = Field(alias="to", description="The entity that it ends at.")
    relation_type: str = Field(alias="relationType", description="Such as works_for.")


class Observations(_Wire):
    """What to add to an entity."""

    entity_name: str = Field(alias="entityName")
    contents: list[str]


class AddedObservations(_Wire):
    """What was added to an entity; what it had already is left out."""

    entity_name: str = Field(alias="entityName")
    added_observations: list[str] = Field(alias="addedObservations")


class Deletion(_Wire):
    """What to remove from an entity."""

    entity_name: str = Field(alias="entityName")
    observations: list[str]


class EntityList(_Wire):
    """Entities that were created."""

    entities: list[Entity]


class RelationList(_Wire):
    """Relations that were created."""

    relations: list[Relation]


class ObservationList(_Wire):
    """What was added, by entity."""

    results: list[AddedObservations]


class Deleted(_Wire):
    """How many rows were removed: observations go to the archive, facts are deleted."""

    observations: int = 0
    facts: int = 0


class EntityGraph(_Wire):
    """Entities and the relations between them."""

    entities: list[Entity]
    relations: list[Relation]
    is_cut: bool = Field(
        False, alias="isCut", description="Whether there is more than a call returns."
    )


class EntityTools:
    """The tools, for the agent that the transport names."""

    def __init__(self, scope_of: ScopeOf) -> None:
        self._scope_of = scope_of

    def tools(self) -> list[Tool]:
        """The tools."""
        calls = (
            (self.create_entities, ADDS),
            (self.create_relations, ADDS),
            (self.add_observations, ADDS),
            (self.delete_entities, REPLACES),
            (self.delete_observations, REPLACES),
            (self.delete_relations, REPLACES),
            (self.read_graph, READS),
            (self.search_nodes, READS),
            (self.open_nodes, READS),
        )
        return [strict_tool(call, annotations) for call, annotations in calls]

    @tool
    async def create_entities(
        self, ctx: Call, entities: Annotated[list[Entity], Field(max_length=_MOST_ITEMS)]
    ) -> EntityList:
        """Creates entities; one that exists stays as it is."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        created = []
        for entity in entities:
            if await _is_known(memory, entity.name):
                continue
            await memory.facts.add(entity.name, _TYPE, entity.entity_type)
            await _observe(memory, entity.name, entity.observations)
            created.append(entity)
        return EntityList(entities=created)

    @tool
    async def create_relations(
        self, ctx: Call, relations: Annotated[list[Relation], Field(max_length=_MOST_ITEMS)]
    ) -> RelationList:
        """Creates relations; one that exists is left out. Of a predicate with a single object the new one supersedes the last."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        predicates = [predicate_of(relation.relation_type) for relation in relations]
        created = []
        for relation, predicate in zip(relations, predicates, strict=True):
            if await _find_fact(memory, relation, predicate=predicate) is None:
                await memory.facts.add(relation.source, predicate, relation.target)
                created.append(relation)
        return RelationList(relations=created)

    @tool
    async def add_observations(
        self, ctx: Call, observations: Annotated[list[Observations], Field(max_length=_MOST_ITEMS)]
    ) -> ObservationList:
        """Adds observations to entities that exist."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        for item in observations:
            if not await _is_known(memory, item.entity_name):
                raise NotFoundError(what="entity", name=item.entity_name)
        return ObservationList(
            results=[
                AddedObservations(
                    entity_name=item.entity_name,
                    added_observations=await _observe(memory, item.entity_name, item.contents),
                )
                for item in observations
            ]
        )

    @tool
    async def delete_entities(
        self,
        ctx: Call,
        entityNames: Annotated[list[str], Field(max_length=_MOST_ITEMS)],  # noqa: N803 - the reference server's name
    ) -> Deleted:
        """Removes entities: their observations go to the archive, and the facts that they are part of are deleted."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        keys = {name_key(name) for name in entityNames}
        observations = facts = 0
        for name in entityNames:
            for entry in await _observations_of(memory, name):
                await memory.entries.archive(entry.id)
                observations += 1
        for fact in await list_all(memory.facts.list):
            if keys & {name_key(fact.subject), name_key(fact.object)}:
                await memory.facts.delete(fact.id)
                facts += 1
        return Deleted(observations=observations, facts=facts)

    @tool
    async def delete_observations(
        self, ctx: Call, deletions: Annotated[list[Deletion], Field(max_length=_MOST_ITEMS)]
    ) -> Deleted:
        """Removes observations, which go to the archive."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        observations = 0
        for deletion in deletions:
            unwanted = {text.strip() for text in deletion.observations}
            for entry in await _observations_of(memory, deletion.entity_name):
                if entry.content.strip() in unwanted:
                    await memory.entries.archive(entry.id)
                    observations += 1
        return Deleted(observations=observations)

    @tool
    async def delete_relations(
        self, ctx: Call, relations: Annotated[list[Relation], Field(max_length=_MOST_ITEMS)]
    ) -> Deleted:
        """Removes relations: the facts are deleted."""
        memory = (await self._scope_of(ctx.request_context, "write")).memory
        facts = 0
        for relation in relations:
            predicate = predicate_of(relation.relation_type)
            fact = await _find_fact(memory, relation, predicate=predicate)
            if fact is not None:
                await memory.facts.delete(fact.id)
                facts += 1
        return Deleted(facts=facts)

    @tool
    async def read_graph(self, ctx: Call) -> EntityGraph:
        """Returns all entities and relations, the latest first."""
        memory = (await self._scope_of(ctx.request_context, "read")).memory
        facts, more_facts = await memory.facts.list(limit=_MOST_ROWS)
        entries, more_entries = await memory.entries.list(EntryQuery(), limit=_MOST_ROWS)
        graph = graph_of(facts, entries)
        return graph.model_copy(update={"is_cut": bool(more_facts or more_entries)})

    @tool
    async def search_nodes(
        self, ctx: Call, query: Annotated[str, Field(description="A question, or a few words.")]
    ) -> EntityGraph:
        """Searches memory, and returns the entities that the results are about, with the relations between them."""
        scope = await self._scope_of(ctx.request_context, "read")
        retrieval = await scope.retrieve(query, limit=_MOST_RESULTS)
        found = [result.entry for result in retrieval.results]
        names = (*retrieval.names, *(name for entry in found for name in entry.subjects))
        return await _open(scope.memory, names)

    @tool
    async def open_nodes(
        self, ctx: Call, names: Annotated[list[str], Field(max_length=_MOST_ITEMS)]
    ) -> EntityGraph:
        """Returns entities by name, with the relations between them."""
        return await _open((await self._scope_of(ctx.request_context, "read")).memory, names)


def graph_of(facts: Iterable[Fact], entries: Iterable[Entry]) -> EntityGraph:
    """Entities and relations from facts and from memories about their subjects."""
    names: dict[str, str] = {}
    types: dict[str, str] = {}
    observations: dict[str, list[str]] = {}
    relations = []
    for fact in facts:
        key = name_key(fact.subject)
        names.setdefault(key, fact.subject)
        if fact.predicate == _TYPE:
            types.setdefault(key, fact.object)
        else:
            relations.append(
                Relation(source=fact.subject, target=fact.object, relation_type=fact.predicate)
            )
    for entry in entries:
        for subject in entry.subjects:
            names.setdefault(name_key(subject), subject)
            observations.setdefault(name_key(subject), []).append(entry.content)
    entities = [
        Entity(
            name=name,
            entity_type=types.get(key, _UNKNOWN_TYPE),
            observations=observations.get(key, [])[::-1],
        )
        for key, name in names.items()
    ]
    return EntityGraph(entities=entities, relations=relations)


async def _open(memory: "MemoryClient", names: Sequence[str]) -> EntityGraph:
    """The entities of names, and the relations that both ends of are among them, as the reference server does it."""
    wanted = {name_key(name): name for name in names}
    facts: list[Fact] = []
    entries: dict[str, Entry] = {}
    for name in wanted.values():
        facts.extend(await list_all(memory.facts.list, subject=name))
        entries.update((entry.id, entry) for entry in await _observations_of(memory, name))
    graph = graph_of(facts, entries.values())
    entities = [one for one in graph.entities if name_key(one.name) in wanted]
    relations = [one for one in graph.relations if name_key(one.target) in wanted]
    return EntityGraph(entities=entities, relations=relations)


async def _observe(memory: "MemoryClient", name: str, contents: Sequence[str]) -> list[str]:
    """Adds what is new about an entity; returns it."""
    known = {entry.content.strip() for entry in await _observations_of(memory, name)}
    new = [text for text in dict.fromkeys(text.strip() for text in contents) if text not in known]
    for text in new:
        await memory.add(text, subjects=(name,), channel=CHANNEL)
    return new


async def _observations_of(memory: "MemoryClient", name: str) -> tuple[Entry, ...]:
    return await list_all(memory.entries.list, EntryQuery(subject=name))


async def _is_known(memory: "MemoryClient", name: str) -> bool:
    facts, _ = await memory.facts.list(subject=name, limit=1)
    if facts:
        return True
    entries, _ = await memory.entries.list(EntryQuery(subject=name), limit=1)
    return bool(entries)


async def _find_fact(memory: "MemoryClient", relation: Relation, *, predicate: str) -> Fact | None:
    facts = await list_all(memory.facts.list, subject=relation.source, predicate=predicate)
    key = name_key(relation.target)
    return next((fact for fact in facts if name_key(fact.object) == key), None)
