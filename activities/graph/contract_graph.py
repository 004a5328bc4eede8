"""The graph of a contract: writes of declared nodes and edges, reads, and named queries."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from mnestic.activities.graph.engines import GraphEngines, GraphKey
from mnestic.activities.graph.reading import read_graph, read_paths
from mnestic.memory.canonical import check_json, check_size
from mnestic.memory.contract.document import GraphMemory
from mnestic.memory.contract.queries import parameters_of, writing_clauses
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.redaction import texts_of
from mnestic.memory.graph.graph import (
    LARGEST_PROPERTIES_BYTES,
    Edge,
    EndedParts,
    GraphRows,
    Node,
)
from mnestic.memory.graph.operations import (
    DeleteEdgeArguments,
    DeleteNodeArguments,
    GraphArguments,
    NeighboursArguments,
    PathsArguments,
    QueryGraphArguments,
    SubgraphArguments,
    UpsertEdgeArguments,
    UpsertNodeArguments,
)
from mnestic.memory.knowledge.claims import check_name, name_key
from mnestic.memory.ports import Transaction

_OF_NODE = ("id", "key", "type")
_OF_EDGE = ("id", "source", "target", "type", "valid_from", "valid_to")


async def use_graph(
    transaction: Transaction, rules: GraphMemory, arguments: GraphArguments, *, new_id: str
) -> BaseModel:
    """Writes to the graph, or reads it.

    Raises:
        InvalidInputError: the contract has no such type or property, a node is missing or of another type, or a name means several.
        KeptOutError: what is written speaks of what was forgotten and is kept out.
    """
    result: BaseModel
    match arguments:
        case UpsertNodeArguments():
            result = await _upsert_node(transaction, rules, arguments)
        case UpsertEdgeArguments():
            result = await _upsert_edge(transaction, rules, arguments, new_id=new_id)
        case DeleteNodeArguments() | DeleteEdgeArguments():
            result = await _delete(transaction, rules, arguments)
        case PathsArguments():
            result = await read_paths(transaction, **dict(arguments))
        case NeighboursArguments(node_id=name, edge_type=predicate):
            some = arguments.model_dump(include={"at", "limit", "direction"})
            result = await read_graph(transaction, name, predicate=predicate, **some)
        case SubgraphArguments(node_id=name):
            some = arguments.model_dump(include={"at", "limit", "depth"})
            result = await read_graph(transaction, name, **some)
        case _:
            raise AssertionError(arguments)
    return result


async def prepare_query(
    transaction: Transaction,
    rules: GraphMemory,
    arguments: QueryGraphArguments,
    *,
    engines: GraphEngines,
    key: GraphKey,
) -> Callable[[], Awaitable[GraphRows]]:
    """What runs a query of the contract, outside of a transaction; the graph is read if it is not loaded as it is now.

    Raises:
        InvalidInputError: the contract has no such query, it writes, or a parameter is missing or unknown.
    """
    queries = {one.query_id: one.cypher for one in rules.queries}
    cypher = _declared(queries, arguments.query_id, what="query_id")
    if clauses := writing_clauses(cypher):
        raise InvalidInputError(what="query", why=f"has {', '.join(clauses)}; a query only reads")
    _check_parameters(arguments.parameters, parameters_of(cypher))
    graph = transaction.facts.graph
    revision, at = await graph.revision()
    is_loaded = engines.has(key, revision=revision, at=at)
    return partial(
        engines.run,
        key,
        None if is_loaded else await graph.load(),
        rules=rules,
        cypher=cypher,
        parameters=arguments.parameters,
        limit=arguments.limit,
    )


async def _upsert_node(
    transaction: Transaction, rules: GraphMemory, arguments: UpsertNodeArguments
) -> Node:
    types = {one.type: one.properties for one in rules.nodes}
    declared = _declared(types, arguments.node_type, what="node_type")
    _check_properties(arguments.properties, declared, of=arguments.node_type, own=_OF_NODE)
    node = Node(
        key=_key(arguments.node_id, what="node_id"),
        name=arguments.node_id,
        type=arguments.node_type,
        properties=arguments.properties,
    )
    await transaction.suppression_list.check(*texts_of([node.name, node.properties]), what="node")
    graph = transaction.facts.graph
    await graph.lock()
    stored = (await graph.list_nodes([node.key])).get(node.key)
    if stored is not None and stored.type != node.type:
        why = (
            f"{node.name!r} is a node of the type {stored.type}; delete it first, or use another id"
        )
        raise InvalidInputError(what="node_id", why=why)
    if stored != node:
        await graph.put_node(node)
    return node


async def _upsert_edge(
    transaction: Transaction, rules: GraphMemory, arguments: UpsertEdgeArguments, *, new_id: str
) -> Edge:
    pairs = _pairs(rules, arguments.edge_type)
    graph = transaction.facts.graph
    await graph.lock()
    ends = {"source": _key(arguments.source), "target": _key(arguments.target, what="target")}
    found = await graph.list_nodes(set(ends.values()))
    for end, key in ends.items():
        if key not in found:
            why = f"there is no node {getattr(arguments, end)!r}; write it first"
            raise InvalidInputError(what=end, why=why)
    source, target = (found[key] for key in ends.values())
    if (source.type, target.type) not in pairs:
        allowed = " or ".join(f"from {one} to {other}" for one, other in pairs)
        why = f"{arguments.edge_type} goes {allowed}, not from {source.type} to {target.type}"
        raise InvalidInputError(what="edge_type", why=why)
    declared = pairs[source.type, target.type]
    _check_properties(arguments.properties, declared, of=arguments.edge_type, own=_OF_EDGE)
    await transaction.suppression_list.check(
        *texts_of([source.name, target.name, arguments.properties]), what="edge"
    )
    stored = await graph.find_edge(source.key, arguments.edge_type, target.key)
    if stored is not None and stored.properties == arguments.properties:
        return stored
    return await graph.put_edge(
        source,
        target,
        predicate=arguments.edge_type,
        properties=arguments.properties,
        edge_id=new_id,
    )


async def _delete(
    transaction: Transaction,
    rules: GraphMemory,
    arguments: DeleteNodeArguments | DeleteEdgeArguments,
) -> EndedParts:
    graph = transaction.facts.graph
    await graph.lock()
    if isinstance(arguments, DeleteNodeArguments):
        return await graph.end_node(_key(arguments.node_id, what="node_id"))
    _pairs(rules, arguments.edge_type)
    source, target = _key(arguments.source), _key(arguments.target, what="target")
    return await graph.end_edge(source, arguments.edge_type, target)


def _pairs(rules: GraphMemory, name: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The types of nodes that a type of edges joins, each with its properties."""
    _declared(dict.fromkeys(one.type for one in rules.edges), name, what="edge_type")
    return {(one.from_node, one.to_node): one.properties for one in rules.edges if one.type == name}


def _declared(declared: Mapping[str, Any], name: str, *, what: str) -> Any:
    if name not in declared:
        there = ", ".join(declared) or "none"
        why = f"{name!r} is not in the contract; there are {there}"
        raise InvalidInputError(what=what, why=why)
    return declared[name]


def _check_properties(
    properties: Mapping[str, Any], declared: Iterable[str], *, of: str, own: Iterable[str]
) -> None:
    for name in properties:
        if name.casefold() in own:
            raise InvalidInputError(what="properties", why=f"{name} is given by the graph")
        if name not in declared:
            why = f"{of} has no property {name!r}; it has {', '.join(declared) or 'none'}"
            raise InvalidInputError(what="properties", why=why)
    check_size(properties, what="properties", limit_bytes=LARGEST_PROPERTIES_BYTES)


def _check_parameters(given: Mapping[str, Any], named: Iterable[str]) -> None:
    wanted = dict.fromkeys(named)
    if given.keys() != wanted.keys():
        why = f"are {', '.join(given) or 'none'}; the query takes {', '.join(wanted) or 'none'}"
        raise InvalidInputError(what="parameters", why=why)
    check_json(given, what="parameters")


def _key(name: str, *, what: str = "source") -> str:
    return name_key(check_name(name, what=what))
