"""Checks a document: finds all of its problems at once, those of fields and those that no field shows.

A stored document is read without being checked again. The checks read the document as it was written, so that they also
see the parts beside a malformed field.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mnestic.memory.canonical import check_size
from mnestic.memory.contract.document import ListedPart, MemoryContract, MemorySections, ShortTerm
from mnestic.memory.contract.queries import writing_clauses
from mnestic.memory.contract.variables import has_password, malformed_variables
from mnestic.memory.errors import InvalidContractError, InvalidInputError
from mnestic.memory.jobs.forms.forms import check_form
from mnestic.memory.validation import fields_at, message_of, models_in, nearest_field

LARGEST_CONTRACT_BYTES = 524_288  # of canonical JSON
_MOST_FOUND = 1_000  # problems
_MOST_PROBLEMS = 50  # that an error names
_MOST_SHOWN = 20  # names that a problem lists
_LONGEST_SHOWN = 60  # characters of a value
_LONGEST_QUERY = 10_000  # characters; a longer one is refused as it is
_INPUT = re.compile(r"^\w+ (?=should )")  # how messages of pydantic begin
_ROOT = "document"
_ADDRESS_FIELD = "connection_string"
_WRITTEN_OUT = "has a password in it; write ${NAME} and set it in the environment"
_NO_VARIABLE = "has a ${ that begins no ${NAME}; write $${ for ${ itself"
# The fewest and the most dimensions of a model's vectors. Source: OpenAI's guide "Vector embeddings".
_WIDTHS_DIMS: Mapping[str, tuple[int, int]] = {
    "text-embedding-3-large": (1, 3072),
    "text-embedding-3-small": (1, 1536),
    "text-embedding-ada-002": (1536, 1536),
}


class ContractProblem(NamedTuple):
    """What is wrong at a place of the document: the value there, and what is allowed."""

    path: str
    why: str

    def __str__(self) -> str:
        """The path and the reason, as people read it."""
        return f"{self.path}: {self.why}"


def parse(raw: Any) -> MemoryContract:
    """Reads a document, as it comes out of YAML or JSON.

    Raises:
        InvalidContractError: Names all problems, or the first of very many.
    """
    if problems := check(raw):
        raise refusal([str(problem) for problem in problems])
    return MemoryContract.model_validate(raw)


def refusal(problems: Sequence[str], *, source: str = "") -> InvalidContractError:
    """The error with all problems, or the first of very many; `source` is the file that they are in."""
    if len(problems) > _MOST_PROBLEMS:
        problems = (*problems[:_MOST_PROBLEMS], f"and {len(problems) - _MOST_PROBLEMS} more")
    return InvalidContractError(problems=tuple(problems), source=source)


def check(raw: Any) -> tuple[ContractProblem, ...]:
    """The problems of a document, those of fields first: all, or the first thousand. A sound one has none."""
    try:
        check_size(raw, what=_ROOT, limit_bytes=LARGEST_CONTRACT_BYTES)
    except InvalidInputError as error:
        return (ContractProblem(error.what.removeprefix(f"{_ROOT}."), error.why),)
    sections = raw.get("Memory") if isinstance(raw, Mapping) else None
    found = chain(
        _field_problems(raw),
        (ContractProblem(path, _NO_VARIABLE) for path in malformed_variables(raw)),
        *(find(sections) for find in _CHECKS),
    )
    return tuple(dict.fromkeys(islice(found, _MOST_FOUND)))


def _field_problems(raw: Any) -> Iterator[ContractProblem]:
    try:
        MemoryContract.model_validate(raw)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            yield ContractProblem(path_text(details["loc"]) or _ROOT, _why(details))


def path_text(location: tuple[str | int, ...]) -> str:
    """A path as people read it, such as `Memory.long_term.schemas[0].backend`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def _why(details: ErrorDetails) -> str:
    location, value = details["loc"], details["input"]
    if details["type"] == "extra_forbidden":
        nearest = nearest_field(MemoryContract, location)
        known = fields_at(MemoryContract, location[:-1])
        return f"is not known; {f'did you mean {nearest}?' if nearest else f'there are {_shown(known)}'}"
    if isinstance(value, str) and has_password(value):
        return _WRITTEN_OUT
    message = _INPUT.sub("", message_of(details))
    if details["type"] == "missing" or location[-1:] == (_ADDRESS_FIELD,) or repr(value) in message:
        return message
    is_rule = message.startswith("should ")
    return f"{message}, not {_excerpt(value)}" if is_rule else f"{_excerpt(value)} {message}"


def _excerpt(value: Any) -> str:
    if isinstance(value, dict | list):  # there may be secrets in it
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, str) and has_password(value):
        return "a text with a password"
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _shown(names: Iterable[str]) -> str:
    shown = [_excerpt(name).strip("'") for name in islice(names, _MOST_SHOWN + 1)]
    return (", ".join(shown[:_MOST_SHOWN]) or "none") + (", …" if len(shown) > _MOST_SHOWN else "")


def _value(sections: Any, path: str) -> Any:
    """The value at a path of names, or None."""
    for name in path.split("."):
        sections = sections.get(name) if isinstance(sections, Mapping) else None
    return sections


def _items(sections: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its path in the document."""
    found = _value(sections, path)
    for index, item in enumerate(found if isinstance(found, list | tuple) else ()):
        if isinstance(item, Mapping):
            yield f"Memory.{path}[{index}]", item


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _budgets(sections: Any) -> Iterator[ContractProblem]:
    limit = _value(sections, "short_term.max_tokens")
    if limit is None:
        limit = ShortTerm.model_fields["max_tokens"].default
    budgets = {
        path: item["max_tokens"]
        for path, item in _items(sections, "short_term.segments")
        if _is_count(item.get("max_tokens"))
    }
    if not _is_count(limit):
        return
    for path, budget in budgets.items():
        if budget > limit:
            why = f"is {budget}; at most {limit} is allowed, the max_tokens of short_term"
            yield ContractProblem(f"{path}.max_tokens", why)
    total = sum(budgets.values())
    if total > limit:
        why = f"have budgets of {total} tokens together; at most {limit} is allowed, the max_tokens of short_term"
        yield ContractProblem("Memory.short_term.segments", why)


def _segments(sections: Any) -> Iterator[ContractProblem]:
    is_enabled = _value(sections, "short_term.enabled") is True
    if is_enabled and _value(sections, "short_term.segments") in (None, (), []):
        why = "is empty; short-term memory that is enabled has at least one segment"
        yield ContractProblem("Memory.short_term.segments", why)


def _duplicates(sections: Any) -> Iterator[ContractProblem]:
    for path, part in _lists(MemorySections):
        seen: dict[str, str] = {}
        for place, item in _items(sections, path):
            values = [item.get(field) for field in part.id_fields]
            if not all(isinstance(value, str) for value in values):
                continue
            list_id = " ".join(map(str, values))
            if list_id in seen:
                why = f"is {_excerpt(list_id)}, which {seen[list_id]} is already; ids are unique in their list"
                yield ContractProblem(f"{place}.{part.id_fields[0]}", why)
            seen.setdefault(list_id, place)


def _lists(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[ListedPart]]]:
    """The lists of parts in a model, each with its path and what is in it."""
    for name, field in model.model_fields.items():
        for part in models_in(field.annotation):
            if issubclass(part, ListedPart):
                yield f"{path}{name}", part
            else:
                yield from _lists(part, f"{path}{name}.")


def _references(sections: Any) -> Iterator[ContractProblem]:
    backends = _ids(sections, "long_term.storage_backends", "backend_id")
    for path, item in _items(sections, "long_term.schemas"):
        backend = item.get("backend")
        if isinstance(backend, str) and backend not in backends:
            why = f"is {_excerpt(backend)}, which is no backend_id; there are {_shown(backends)}"
            yield ContractProblem(f"{path}.backend", why)
    nodes = _ids(sections, "graph.nodes", "type")
    for path, item in _items(sections, "graph.edges"):
        for field in ("from_node", "to_node"):
            node = item.get(field)
            if isinstance(node, str) and node not in nodes:
                why = f"is {_excerpt(node)}, which is no type of nodes; there are {_shown(nodes)}"
                yield ContractProblem(f"{path}.{field}", why)


def _ids(sections: Any, path: str, field: str) -> dict[Any, None]:
    values = (item.get(field) for _, item in _items(sections, path))
    return dict.fromkeys(value for value in values if isinstance(value, str))


def _structures(sections: Any) -> Iterator[ContractProblem]:
    structures = [
        *((path, "structure", item) for path, item in _items(sections, "long_term.schemas")),
        *((path, "metadata_schema", item) for path, item in _items(sections, "vector.collections")),
    ]
    for path, field, item in structures:
        if isinstance(item.get(field), dict):
            try:
                check_form(item[field])
            except InvalidInputError as error:
                place = error.what.removeprefix("form")
                yield ContractProblem(
                    f"{path}.{field}{place}", f"is not accepted as JSON Schema: {error.why}"
                )


def _indexes(sections: Any) -> Iterator[ContractProblem]:
    for path, item in _items(sections, "long_term.schemas"):
        structure, indexes = item.get("structure"), item.get("indexes")
        if not isinstance(structure, Mapping) or not isinstance(indexes, list | tuple):
            continue
        for index, name in enumerate(indexes):
            if isinstance(name, str) and not _has_property(structure, name):
                known = _shown(_properties(structure))
                why = f"is {_excerpt(name)}, which is no property in structure; there are {known}"
                yield ContractProblem(f"{path}.indexes[{index}]", why)


def _has_property(structure: Any, name: str) -> bool:
    properties = _properties(structure)
    first, dot, rest = name.partition(".")
    is_nested = bool(dot) and first in properties
    return name in properties or (is_nested and _has_property(properties[first], rest))


def _properties(structure: Any) -> Mapping[str, Any]:
    properties = structure.get("properties") if isinstance(structure, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _widths(sections: Any) -> Iterator[ContractProblem]:
    model, width = (_value(sections, f"vector.embeddings.{n}") for n in ("model", "dimensions"))
    if isinstance(model, str) and model in _WIDTHS_DIMS and _is_count(width):
        least, most = _WIDTHS_DIMS[model]
        if not least <= width <= most:
            allowed = str(most) if least == most else f"{least} to {most}"
            why = f"is {width}; {model} has {allowed}"
            yield ContractProblem("Memory.vector.embeddings.dimensions", why)


def _queries(sections: Any) -> Iterator[ContractProblem]:
    for path, item in _items(sections, "graph.queries"):
        cypher = item.get("cypher")
        if isinstance(cypher, str) and (clauses := writing_clauses(cypher[:_LONGEST_QUERY])):
            why = f"has {_shown(clauses)}; a query only reads, and calls no procedures (a name is quoted as `set`)"
            yield ContractProblem(f"{path}.cypher", why)


def _passwords(sections: Any) -> Iterator[ContractProblem]:
    for path, item in _items(sections, "long_term.storage_backends"):
        address = _value(item, f"config.{_ADDRESS_FIELD}")
        if isinstance(address, str) and has_password(address):
            yield ContractProblem(f"{path}.config.{_ADDRESS_FIELD}", _WRITTEN_OUT)


def _addresses(sections: Any) -> Iterator[ContractProblem]:
    for path, item in _items(sections, "long_term.storage_backends"):
        if item.get("type") == "redis" and not _value(item, f"config.{_ADDRESS_FIELD}"):
            why = "is missing; redis has an address such as redis://localhost:6379/0"
            yield ContractProblem(f"{path}.config.{_ADDRESS_FIELD}", why)


_CHECKS: tuple[Callable[[Any], Iterator[ContractProblem]], ...] = (
    _segments,
    _budgets,
    _duplicates,
    _references,
    _structures,
    _indexes,
    _widths,
    _queries,
    _passwords,
    _addresses,
)
