"""Runs Cypher queries of contracts: each graph is loaded into a process of its own, and the last ones used stay loaded.

A process, since the engine has a time limit that not all of its work heeds, and what it takes of memory is then the machine's.
"""

import asyncio
import json
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from mnestic.memory.contract.document import GraphMemory
from mnestic.memory.errors import ConfigurationError, InvalidInputError, UnavailableError
from mnestic.memory.graph.graph import NAME, Edge, GraphRows, LoadedGraph, Node
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.ports import Memory

_PROGRAM = Path(__file__).with_name("engine_process.py")
_MOST_LOADED = 4  # graphs of one process of ours
_MOST_QUERIES = 16  # that run or wait, of one process of ours
_QUERY_S, _LOAD_S, _GRACE_S = 10.0, 60.0, 2.0
_LONGEST_ERROR = 500  # characters
_OF_NODE = {"key", "id", "type"}


class GraphKey(NamedTuple):
    """Which graph is loaded: whose, and by which version of a contract."""

    tenant_id: str
    agent_id: str
    selector: str
    version: int


class GraphEngines:
    """The loaded graphs of one memory; of more than four the one that was used longest ago goes."""

    def __init__(self, *, query_s: float = _QUERY_S, most: int = _MOST_LOADED) -> None:
        self._query_s, self._most = query_s, most
        self._lock = threading.Lock()
        self._loading = weakref.WeakValueDictionary[GraphKey, Any]()  # a lock of each graph
        # Its own, since who waits for a slow query keeps a thread.
        self._threads = ThreadPoolExecutor(_MOST_QUERIES, thread_name_prefix="graph")
        self._engines: OrderedDict[GraphKey, _Engine] = OrderedDict()

    def has(self, key: GraphKey, *, revision: int, at: datetime) -> bool:
        """Whether a graph is loaded as it is at a revision and a time."""
        with self._lock:
            engine = self._engines.get(key)
            return engine is not None and engine.is_current(revision, at)

    async def run(
        self,
        key: GraphKey,
        graph: LoadedGraph | None,
        *,
        rules: GraphMemory,
        cypher: str,
        parameters: Mapping[str, Any],
        limit: int,
    ) -> GraphRows:
        """Runs a query on a graph, which is loaded first if it is given.

        Raises:
            ConfigurationError: the engine is not installed.
            InvalidInputError: the engine refuses the query, or it takes too long or too much.
        """
        request = {"cypher": cypher, "parameters": dict(parameters), "limit": limit}

        def work() -> dict[str, Any]:
            with self._using(key, graph, rules) as engine:
                timeout_ms = int(self._query_s * 1000)
                return engine.ask({**request, "timeout_ms": timeout_ms}, seconds=self._query_s)

        answer = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return _rows(answer)
        except (ValueError, TypeError, LookupError):
            why = "returns a node or an edge that is none"
            raise InvalidInputError(what="query", why=why) from None

    def close(self) -> None:
        """Ends all processes, after the queries that they run."""
        with self._lock:
            engines, self._engines = [*self._engines.values()], OrderedDict()
        for engine in engines:
            self._leave(engine, users=0)
        self._threads.shutdown(wait=False)

    @contextmanager
    def _using(
        self, key: GraphKey, graph: LoadedGraph | None, rules: GraphMemory
    ) -> Iterator["_Engine"]:
        """The process of a graph, which does not end meanwhile; of queries that come at once, the first loads it."""
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            with self._lock:
                engine = self._engines.get(key)
            if graph is not None and not (engine and engine.is_current(graph.revision, graph.at)):
                engine = self._add(key, _Engine(graph, rules))
            if engine is None:
                raise UnavailableError("the graph is no longer loaded; run the query again")
            with self._lock:
                engine.users += 1
                self._engines.move_to_end(key)
        try:
            yield engine
        finally:
            self._leave(engine, users=1)

    def _add(self, key: GraphKey, engine: "_Engine") -> "_Engine":
        with self._lock:
            gone = [self._engines.pop(key)] if key in self._engines else []
            self._engines[key] = engine
            while len(self._engines) > self._most:
                gone.append(self._engines.popitem(last=False)[1])
        for one in gone:
            self._leave(one, users=0)
        return engine

    def _leave(self, engine: "_Engine", *, users: int) -> None:
        """Ends a process that nobody uses any more and that is not among those that stay."""
        with self._lock:
            engine.users -= users
            if engine.users == 0 and engine not in self._engines.values():
                engine.close()


class _Engine:
    """A process that has a graph loaded."""

    def __init__(self, graph: LoadedGraph, rules: GraphMemory) -> None:
        if find_spec("ladybug") is None:
            why = "needs the package ladybug; install mnestic[graph]"
            raise ConfigurationError(setting="query_graph", why=why)
        self.users = 0
        self._revision, self._until = graph.revision, graph.until
        self._lock = threading.Lock()
        document = _document(graph, rules)
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},  # it needs no secret
        )
        try:
            self.ask(document, seconds=_LOAD_S)
        except InvalidInputError as error:
            raise InvalidInputError(what="graph", why=f"cannot be loaded: {error.why}") from None

    def is_current(self, revision: int, at: datetime) -> bool:
        """Whether it runs, and the graph is that of a revision and a time."""
        is_valid = self._until is None or at < self._until
        return self._revision == revision and is_valid and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
        """Sends a document and waits for the answer; the process ends if that takes too long."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            timer = threading.Timer(seconds + _GRACE_S, self._process.kill)
            timer.start()
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except (BrokenPipeError, ValueError):  # it has ended, or is closed
                line = b""
            finally:
                timer.cancel()
            if not line:
                self.close()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "Interrupted."}
        if (error := answer.get("error")) is not None:
            raise _refusal(error, seconds)
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()


def engines_of(memory: Memory) -> GraphEngines:
    """The loaded graphs of a memory, which end with it."""
    if memory not in _ENGINES:
        _ENGINES[memory] = engines = GraphEngines()
        weakref.finalize(memory, engines.close)
    return _ENGINES[memory]


_ENGINES: weakref.WeakKeyDictionary[Memory, GraphEngines] = weakref.WeakKeyDictionary()


def _refusal(error: str, seconds: float) -> InvalidInputError:
    if "Interrupted" in error:
        error = f"took longer than {seconds:g} s, or more memory than it may; make it find less"
    elif "bad_alloc" in error or "buffer pool is full" in error:
        error = "needs more memory than a query may take; make it find less"
    return InvalidInputError(what="query", why=error[:_LONGEST_ERROR])


def _document(graph: LoadedGraph, rules: GraphMemory) -> dict[str, Any]:
    """The graph as the process reads it: with the names that only facts have, and no two types that differ by case alone."""
    declared = [part for part in graph.parts if part.target_key is None]
    names = {NAME.casefold(): NAME}
    for name in (*(one.type for one in rules.nodes), *(node.type for node in declared)):
        names.setdefault(name.casefold(), name)
    node_types: dict[str, list[str]] = {name: [] for name in names.values()}
    for node_type in rules.nodes:
        node_types[names[node_type.type.casefold()]] += node_type.properties
    edge_types = _EdgeTypes(names)
    for edge_type in rules.edges:
        one = edge_types[edge_type.type]
        ends = (edge_type.from_node, edge_type.to_node)
        one["pairs"].append([names[end.casefold()] for end in ends])
        one["properties"] += edge_type.properties
    nodes = {
        node.source_key: _node(
            node.source_key,
            node.source,
            type_=names[node.type.casefold()],
            properties=node.properties,
        )
        for node in declared
    }
    for part in graph.parts:
        if part.target_key is not None:
            edge_types[part.type]["rows"].append(part._asdict())
            for key, shown in ((part.source_key, part.source), (part.target_key, part.target)):
                if key not in nodes:
                    nodes[key] = _node(key, str(shown), type_=names[NAME.casefold()])
    return {"node_types": node_types, "edge_types": edge_types.found, "nodes": [*nodes.values()]}


class _EdgeTypes:
    """Types of edges by their names in any case; one that is called like a type of nodes has `_` behind it."""

    def __init__(self, node_names: Mapping[str, str]) -> None:
        self._node_names, self._names = node_names, dict[str, str]()
        self.found: dict[str, dict[str, list[Any]]] = {}

    def __getitem__(self, name: str) -> dict[str, list[Any]]:
        while name.casefold() in self._node_names:
            name += "_"
        name = self._names.setdefault(name.casefold(), name)
        return self.found.setdefault(name, {"properties": [], "pairs": [], "rows": []})


def _node(
    key: str, name: str, *, type_: str, properties: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {"key": key, "id": name, "type": type_, "properties": properties or {}}


def _rows(answer: Mapping[str, Any]) -> GraphRows:
    """An answer of the process, with the ends of its edges among the nodes."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for one in answer["nodes"]:
        properties = {name: value for name, value in one.items() if name not in _OF_NODE}
        nodes[one["key"]] = Node(
            key=one["key"], name=one["id"], type=one["type"], properties=properties
        )
    for one in answer["edges"]:
        ends = {name: name_key(one[name]) for name in ("source", "target")}
        for name, key in ends.items():
            nodes.setdefault(key, Node(key=key, name=one[name]))
        weight = one.get("weight")
        edges.append(
            Edge(
                id=one["id"],
                predicate=one["type"],
                weight=weight if isinstance(weight, int | float) else 1,
                valid_from=datetime.fromisoformat(one["valid_from"]).replace(tzinfo=UTC),
                **ends,
            )
        )
    return GraphRows(
        nodes=tuple(nodes.values()),
        edges=tuple(edges),
        columns=tuple(answer["columns"]),
        rows=tuple(tuple(row) for row in answer["rows"]),
        is_cut=answer["is_cut"],
    )
