"""Facts in what a tool returned: fields of a record that says whose it is, and nothing else.

It stands apart because a record is no sentence. Text among its values is never read: whoever wrote it
could otherwise put words into memory.
"""

# ruff: noqa: SIM905, RUF001 (word lists read best as text; typographic apostrophes are meant)

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from mnestic.activities.clients.messages.record_values import is_one_valued, value_of
from mnestic.memory.knowledge.claims import Span, name_key
from mnestic.memory.knowledge.extraction import Extracted

_PERSON_KEYS = (
    "full_name",
    "customer",
    "customer_name",
    "employee",
    "person",
    "contact",
    "user_name",
)
_SUBJECTS = ("full_name", "name", *_PERSON_KEYS[1:])
_KEYS = {
    "city": "lives_in",
    "lives_in": "lives_in",
    "residence": "lives_in",
    "employer": "employer",
    "company": "employer",
    "job_title": "job_title",
    "jobtitle": "job_title",
    "position": "job_title",
    "occupation": "job_title",
    "email": "email",
    "e_mail": "email",
    "email_address": "email",
    "phone": "phone",
    "phone_number": "phone",
    "birthday": "birthday",
    "date_of_birth": "birthday",
    "birth_date": "birthday",
    "age": "age",
    "nationality": "nationality",
    "timezone": "timezone",
    "time_zone": "timezone",
    "language": "preferred_language",
    "preferred_language": "preferred_language",
    "diet": "diet",
    "school": "school",
    "allergies": "allergic_to",
    "languages": "languages_spoken",
    "hobbies": "hobby",
}
_LINE = re.compile(
    r"^[ \t]*[-*]?[ \t]*([A-Za-z][\w -]{0,30}?)[ \t]*[:=][ \t]*([^\n]{1,120}?)[ \t]*$", re.MULTILINE
)
_PERSON = re.compile(
    r"[^\W\d_][^\W\d_'’-]*(?:['’-][^\W\d_]+)*\.?(?: [^\W\d_][^\W\d_'’.-]*(?:['’-][^\W\d_]+)*\.?){0,4}$"
)
_NOBODY = frozenset(
    ["john doe", "jane doe", "max mustermann", "erika mustermann", "test user", "foo bar"]
)
_COMPANY = re.compile(
    r"\b(?:ag|gmbh|inc|ltd|llc|corp|co|plc|sa|bv|nv|group|company|hotel|hostel|restaurant|cafe|café|bar|"
    r"bank|university|school|hospital|clinic|museum|airport|station|shop|store|team|service|project|"
    r"department|office|agency|foundation|institute|pro|model|plus|edition)\b\.?",
    re.IGNORECASE,
)
# A record with one of these is of something else than a person.
_THINGS = frozenset(
    "breed brand capacity capital country_code cuisine currency founded humidity industry isbn "
    "latitude longitude manufacturer menu model opening_hours population price quantity rating "
    "sku species stars stock temp temperature version".split()
)
_KIND_KEYS = ("type", "kind", "category", "entity_type", "object", "class")
_PERSONS = frozenset(
    "person people human user customer client employee contact member lead".split()
)
# A record that says of itself that it does not hold, or holds no more.
_VOID_IF_SET = frozenset(
    "error deleted is_deleted deleted_at archived test is_test dry_run draft simulated example "
    "expired end_date ended_at valid_to valid_until left_on employed_until until former outdated "
    "deprecated".split()
)
_VOID_IF_FALSE = frozenset("valid is_valid active is_active success found ok".split())
_VOID_STATUS = frozenset(
    "deleted, inactive, archived, invalid, draft, former, terminated, expired, error, outdated, "
    "obsolete, not found, unverified, failed".split(", ")
)
# What was asked for, or was so before, and no result.
_ASIDE = frozenset(
    "query filter filters params parameters request input arguments args where example examples "
    "template schema suggestions previous old before history".split()
)
# What places and things have too: of a record that has nothing else, nobody knows whether it is of somebody.
_ANYBODYS = frozenset({"timezone", "preferred_language"})
_LONGEST = 20_000


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


def _records(document: Any, *, depth: int) -> Iterator[dict[str, Any]]:
    """The objects of a document; each stands for itself, and no name goes down to another."""
    if isinstance(document, dict):
        yield document
    if depth and isinstance(document, dict | list):
        pairs = (
            document.items() if isinstance(document, dict) else (("", each) for each in document)
        )
        for key, each in pairs:
            if _key(key) not in _ASIDE:
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
    fields = _fields(record)
    subject = next((fields[key][1] for key in _SUBJECTS if key in fields), None)
    if not isinstance(subject, str) or not _is_person(subject, fields) or _is_void(fields):
        return
    seen: set[str] = set()
    known = {predicate for key, predicate in _KEYS.items() if key in fields}
    if known <= _ANYBODYS and not any(key in fields for key in _PERSON_KEYS):
        return
    for key, predicate in _KEYS.items():
        if key not in fields:
            continue
        raw, value = fields[key]
        values = value if isinstance(value, list) else [value]
        if is_one_valued(predicate) and (len(values) != 1 or predicate in seen):
            continue  # nobody says which of them
        for each in values:
            for text, written in value_of(predicate, each):
                seen.add(predicate)
                span = _span(content, raw, written)
                yield Extracted(subject=subject, predicate=predicate, object=text, span=span)


def _fields(record: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Key in one spelling -> as it is written, and its value; none that stands there in two spellings."""
    counts = Counter(map(_key, record))
    return {_key(key): (key, value) for key, value in record.items() if counts[_key(key)] == 1}


def _is_person(subject: str, fields: Mapping[str, tuple[str, Any]]) -> bool:
    """Whether a record is of somebody, as far as it tells: things have names and cities too."""
    is_named = bool(_PERSON.match(subject)) and subject.casefold() not in _NOBODY
    if not is_named or not all(part[0].isupper() for part in subject.split()[:1]):
        return False
    kinds = [str(fields[key][1]).casefold() for key in _KIND_KEYS if key in fields]
    if kinds and not _PERSONS.intersection(kinds):
        return False
    if any(key in fields for key in _PERSON_KEYS):
        return True
    return not _COMPANY.search(subject) and _THINGS.isdisjoint(fields)


def _is_void(fields: Mapping[str, tuple[str, Any]]) -> bool:
    values = {key: value for key, (_, value) in fields.items()}
    if any(_is_set(values.get(key)) for key in _VOID_IF_SET):
        return True
    if any(
        key in values and values[key] is not None and not _is_set(values[key])
        for key in _VOID_IF_FALSE
    ):
        return True
    return str(values.get("status", "")).casefold() in _VOID_STATUS


def _is_set(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() not in {"", "no", "false", "none", "null", "n/a", "0", "-"}
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
