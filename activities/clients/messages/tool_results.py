"""Facts in what a tool returned: fields of a record that says whose it is, and nothing else.

A record is no sentence. Text among its values is never read: whoever wrote it could otherwise put words into memory.
"""

# ruff: noqa: RUF001 (typographic apostrophes are meant)

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from mnestic.activities.clients.messages.patterns import Pattern
from mnestic.activities.clients.messages.record_values import is_one_valued, value_of
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.language.word_lists import read_word_lists

_FILE = Path(__file__).with_name("tool_results.yaml")
_LINE = re.compile(
    r"^[ \t]*[-*]?[ \t]*([A-Za-z][\w -]{0,30}?)[ \t]*[:=][ \t]*([^\n]{1,120}?)[ \t]*$", re.MULTILINE
)
_PERSON = re.compile(
    r"[^\W\d_][^\W\d_'’-]*(?:['’-][^\W\d_]+)*\.?(?: [^\W\d_][^\W\d_'’.-]*(?:['’-][^\W\d_]+)*\.?){0,4}$"
)
_LONGEST = 20_000


class _Keys(BaseModel):
    """`tool_results.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...]
    person_names: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    of_anything: frozenset[str]
    placeholders: frozenset[str]
    companies: Pattern
    of_things: frozenset[str]
    kinds: tuple[str, ...]
    persons: frozenset[str]
    void_if_set: frozenset[str]
    void_if_unset: frozenset[str]
    void_status: frozenset[str]
    unset: frozenset[str]
    aside: frozenset[str]


def claims_of_result(content: str) -> Iterator[Extracted]:
    """The claims of the objects of a JSON document, or lines of the form `key: value`."""
    if len(content) > _LONGEST:
        return
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        yield from _of_lines(content)
        return
    if isinstance(document, dict) and _is_void(_fields(document)):
        return
    yield from _told_apart(
        [list(_of_record(record, content)) for record in _records(document, depth=3)]
    )


def _keys() -> _Keys:
    keys: _Keys = read_word_lists(_FILE, _Keys)["en"]
    return keys


def _records(document: Any, *, depth: int) -> Iterator[dict[str, Any]]:
    """The objects of a document; each stands for itself, and no name goes down to another."""
    if isinstance(document, dict):
        yield document
    if depth and isinstance(document, dict | list):
        pairs = (
            document.items() if isinstance(document, dict) else (("", each) for each in document)
        )
        for key, each in pairs:
            if _key(key) not in _keys().aside:
                yield from _records(each, depth=depth - 1)


def _told_apart(records: list[list[Extracted]]) -> Iterator[Extracted]:
    """Claims of records; of a name that several have nothing is said that they do not agree about."""
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    records_of: Counter[str] = Counter()
    for claims in records:
        records_of.update({name_key(each.subject) for each in claims})
        for each in claims:
            said[name_key(each.subject), each.predicate].add(name_key(each.object or ""))
    torn = {
        subject
        for (subject, predicate), values in said.items()
        if records_of[subject] > 1 and is_one_valued(predicate) and len(values) > 1
    }
    for claims in records:
        yield from (each for each in claims if name_key(each.subject) not in torn)


def _of_lines(content: str) -> Iterator[Extracted]:
    found = _LINE.findall(content)
    keys = [_key(key) for key, _ in found]
    is_one = len(set(keys)) == len(
        keys
    )  # two records have keys twice, and nobody says where one ends
    if is_one and len(found) == sum(1 for line in content.splitlines() if line.strip()):
        yield from _of_record(dict(found), content)


def _of_record(record: Mapping[str, Any], content: str) -> Iterator[Extracted]:
    keys = _keys()
    fields = _fields(record)
    subject = next((fields[key][1] for key in keys.names if key in fields), None)
    if not isinstance(subject, str) or not _is_person(subject, fields) or _is_void(fields):
        return
    named = {
        predicate: [fields[key] for key in spellings if key in fields]
        for predicate, spellings in keys.fields.items()
    }
    known = {predicate for predicate, found in named.items() if found}
    if known <= keys.of_anything and not any(key in fields for key in keys.person_names):
        return
    for predicate, found in named.items():
        yield from _of_fields(subject, predicate, found, content)


def _of_fields(  # noqa: PLR0917
    subject: str, predicate: str, fields: Sequence[tuple[str, Any]], content: str
) -> Iterator[Extracted]:
    """The claims of a predicate; of one that has one value at a time, the first that is one."""
    is_one = is_one_valued(predicate)
    for raw, value in fields:
        values = value if isinstance(value, list) else [value]
        if is_one and len(values) != 1:
            continue  # nobody says which of them
        claims = [
            Extracted(
                subject=subject,
                predicate=predicate,
                object=text,
                span=_span(content, raw, written),
            )
            for each in values
            for text, written in value_of(predicate, each)
        ]
        yield from claims
        if claims and is_one:
            return


def _fields(record: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Key in one spelling -> as it is written, and its value; none that stands there in two spellings."""
    counts = Counter(map(_key, record))
    return {_key(key): (key, value) for key, value in record.items() if counts[_key(key)] == 1}


def _is_person(subject: str, fields: Mapping[str, tuple[str, Any]]) -> bool:
    """Whether a record is of somebody, as far as it tells: things have names and cities too."""
    keys = _keys()
    is_named = bool(_PERSON.match(subject)) and subject.casefold() not in keys.placeholders
    if not is_named or not all(part[0].isupper() for part in subject.split()[:1]):
        return False
    kinds = [str(fields[key][1]).casefold() for key in keys.kinds if key in fields]
    if kinds and not keys.persons.intersection(kinds):
        return False
    if any(key in fields for key in keys.person_names):
        return True
    return not keys.companies.search(subject) and keys.of_things.isdisjoint(fields)


def _is_void(fields: Mapping[str, tuple[str, Any]]) -> bool:
    keys = _keys()
    values = {key: value for key, (_, value) in fields.items()}
    if any(_is_set(values.get(key)) for key in keys.void_if_set):
        return True
    if any(
        key in values and values[key] is not None and not _is_set(values[key])
        for key in keys.void_if_unset
    ):
        return True
    return str(values.get("status", "")).casefold() in keys.void_status


def _is_set(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() not in _keys().unset
    return bool(value)


def _key(key: str) -> str:
    return re.sub(r"[ -]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key)).casefold()


def _span(content: str, key: str, text: str) -> Span:
    """From the key to the end of its value, or the whole where the value is written with escapes."""
    start = content.find(key)
    place = content.find(text, start + len(key))
    return (
        Span(start=start, end=place + len(text))
        if 0 <= start < place
        else Span(start=0, end=len(content))
    )
