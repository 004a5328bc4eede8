"""Facts in what a tool returned: fields of a record that says whose it is, and nothing else.

It stands apart because a record is no sentence. Text among its values is never read: whoever wrote it
could otherwise put words into memory.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mnestic.memory.claims import Span
from mnestic.memory.extraction import Extracted

_SUBJECTS = (
    "full_name",
    "name",
    "customer",
    "customer_name",
    "employee",
    "person",
    "contact",
    "user_name",
)
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
_VALUE = re.compile(r"[^\W_][^\n{}<>\[\]\"!?]{0,80}$")
_PERSON = re.compile(r"[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,4}$")
_UNKNOWN = frozenset({"n/a", "na", "none", "null", "unknown", "nil", "true", "false", "not set"})
_MOST_WORDS = 6
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
    for record in _records(document, depth=3):
        yield from _of_record(record, content)


def _records(document: Any, *, depth: int) -> Iterator[dict[str, Any]]:
    """The objects of a document; each stands for itself, and no name goes down to another."""
    if isinstance(document, dict):
        yield document
    inner = document.values() if isinstance(document, dict) else document
    if depth and isinstance(document, dict | list):
        for each in inner:
            yield from _records(each, depth=depth - 1)


def _of_lines(content: str) -> Iterator[Extracted]:
    found = _LINE.findall(content)
    keys = [_key(key) for key, _ in found]
    is_one = len(set(keys)) == len(
        keys
    )  # two records have keys twice, and nobody says where one ends
    if is_one and len(found) == sum(1 for line in content.splitlines() if line.strip()):
        yield from _of_record(dict(found), content)


def _of_record(record: Mapping[str, Any], content: str) -> Iterator[Extracted]:
    fields = {_key(key): (key, value) for key, value in record.items()}
    subject = next((fields[key][1] for key in _SUBJECTS if key in fields), None)
    if not isinstance(subject, str) or not _PERSON.match(subject):
        return
    for key, predicate in _KEYS.items():
        if key not in fields:
            continue
        raw, value = fields[key]
        for each in value if isinstance(value, list) else [value]:
            text = _text(each)
            if text is not None:
                span = _span(content, raw, text)
                yield Extracted(subject=subject, predicate=predicate, object=text, span=span)


def _key(key: str) -> str:
    return re.sub(r"[ -]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key)).casefold()


def _text(value: Any) -> str | None:
    """A plain value; None for a nested one, an unknown one and whole sentences."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    is_plain = bool(_VALUE.match(text)) or re.match(r"\+\d", text) is not None
    if not is_plain or text.casefold() in _UNKNOWN or len(text.split()) > _MOST_WORDS:
        return None
    return text


def _span(content: str, key: str, text: str) -> Span:
    """From the key to the end of its value, or the whole where the value is written with escapes."""
    start = content.find(key)
    place = content.find(text, start + len(key))
    return (
        Span(start=start, end=place + len(text))
        if 0 <= start < place
        else Span(start=0, end=len(content))
    )
