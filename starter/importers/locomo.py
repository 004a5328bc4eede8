"""Reads LoCoMo's JSON: one sample of a conversation, or a list of them.

It is somebody else's format, read as one document and not by lines.
"""

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import from_json

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.timestamps import check_date
from mnestic.starter.importers.file_formats import check_document
from mnestic.starter.importers.text_files import EXPECTED, decode
from mnestic.starter.importers.turns import (
    Conversation,
    Name,
    Refuse,
    Turn,
    checked_content,
    conversation_of,
    first_problem,
    refuse_or_raise,
    session_of,
    unique_name,
)

_SESSION_KEY = re.compile(r"session_([1-9][0-9]{0,5})")
_DATE = "%I:%M %p on %d %B, %Y"


def read_locomo(
    path: Path, source: str, *, sample: str | None = None, refuse: Refuse | None = None
) -> Conversation:
    """Read a sample; turns follow each other by a second, and a shared photo's caption follows the text.

    Args:
        path: A regular file of UTF-8.
        source: How it is named to a person.
        sample: Which of the samples; None for the first.
        refuse: Called with each turn and session's date that cannot be stored, while the others are
            read; without it the first is raised.

    Raises:
        InvalidInputError: The file holds none; names the place in it.
    """
    document = parse_document(path, source)
    check_document(document, source)
    place, chosen, others = _choose_sample(document, source, sample=sample)
    conversation = chosen.get("conversation", chosen)
    known_as = chosen.get("sample_id")
    named = f"{known_as}/" if isinstance(known_as, str) else ""  # every sample has a session_1
    if "conversation" in chosen:
        place += ".conversation"
    if not isinstance(conversation, Mapping):
        raise InvalidInputError(what=f"{source}, {place}", why=f"is no object; {EXPECTED}")
    keys = [key for key in _session_keys(conversation) if conversation[key] != []]
    if not keys:
        raise InvalidInputError(what=f"{source}, {place}", why=f"has no session_1; {EXPECTED}")
    seen: Counter[str] = Counter()
    sessions = []
    for key in keys:
        try:
            turns = _read_session(conversation, key, f"{source}, {place}", seen=seen, refuse=refuse)
        except InvalidInputError as error:
            refuse_or_raise(error, refuse)
        else:
            sessions += [session_of(f"{named}{key}", turns)] if turns else []
    if not sessions:
        raise InvalidInputError(what=source, why=f"has no message that can be stored; {EXPECTED}")
    return conversation_of(sessions).model_copy(update={"others": others})


class _SpokenTurn(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    speaker: Name
    dia_id: Name
    text: str
    blip_caption: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        checked_content(self.content)
        return self

    @property
    def content(self) -> str:
        caption = (self.blip_caption or "").strip()
        return (
            f"{self.text.strip()} [shares a photo: {caption}]".strip()
            if caption
            else self.text.strip()
        )


def _session_keys(conversation: Mapping[str, Any]) -> list[str]:
    numbers = sorted(
        int(match[1]) for key in conversation if (match := _SESSION_KEY.fullmatch(key))
    )
    return [f"session_{number}" for number in numbers]


def parse_document(path: Path, source: str) -> Any:
    """The document; values of a wrong type are refused with their turn.

    Raises:
        InvalidInputError: The file cannot be read, or is no whole JSON.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(what=source, why=f"cannot be read: {error.strerror}") from error
    try:
        return from_json(content.removeprefix(BOM_UTF8))
    except ValueError as error:
        with suppress(ValueError, RecursionError):
            return json.loads(content.decode("utf-8-sig", "surrogateescape"))
        decode(content, source)  # which names the first byte that is none
        why = f"is no whole JSON ({error}); {EXPECTED}"
        raise InvalidInputError(what=source, why=why) from error


def _choose_sample(
    document: Any, source: str, *, sample: str | None
) -> tuple[str, Mapping[str, Any], tuple[str, ...]]:
    """The requested sample, its JSONPath, and the names of the others."""
    samples = document if isinstance(document, list) else [document]
    if not samples or not all(isinstance(each, dict) for each in samples):
        raise InvalidInputError(what=source, why=f"holds no objects; {EXPECTED}")
    known = [name if isinstance(name := each.get("sample_id"), str) else "" for each in samples]
    if sample is not None and sample not in known:
        why = f"has no sample {sample}, but {', '.join(filter(None, known)) or 'one without a sample_id'}"
        raise InvalidInputError(what=source, why=why)
    index = known.index(sample) if sample is not None else 0
    others = tuple(
        name or "one without a sample_id" for name in (*known[:index], *known[index + 1 :])
    )
    return (f"$[{index}]" if isinstance(document, list) else "$"), samples[index], others


def _read_session(
    conversation: Mapping[str, Any],
    key: str,
    place: str,
    *,
    seen: Counter[str],
    refuse: Refuse | None,
) -> list[Turn]:
    at = _began(conversation.get(f"{key}_date_time"), f"{place}.{key}_date_time")
    spoken = conversation[key]
    if not isinstance(spoken, list):
        why = "Input should be a valid list, of {speaker, dia_id, text, blip_caption?}"
        raise InvalidInputError(what=f"{place}.{key}", why=why)
    turns = []
    for nth, one in enumerate(spoken):
        try:
            turn = _spoken(one, nth, f"{place}.{key}")
        except InvalidInputError as error:
            refuse_or_raise(error, refuse)
            continue
        name = unique_name(turn.dia_id, seen)
        said_at = at + timedelta(seconds=nth)
        turns.append(Turn(id=name, speaker=turn.speaker, text=turn.content, at=said_at))
    return turns


def _began(value: Any, place: str) -> datetime:
    try:
        at = datetime.strptime(value, _DATE).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        why = "is missing" if value is None else f"{str(value)[:40]!r} is no date"
        why = f"{why}; expected one like 1:56 pm on 8 May, 2023"
        raise InvalidInputError(what=place, why=why) from None
    try:
        check_date(at, what=place)
    except InvalidInputError as error:
        why = f"{value!r} is not a possible date: it {error.why}"
        raise InvalidInputError(what=place, why=why) from None
    return at


def _spoken(one: Any, nth: int, place: str) -> _SpokenTurn:
    try:
        return _SpokenTurn.model_validate(one)
    except ValidationError as error:
        where = f"{nth}." if error.errors()[0]["loc"] else f"{nth}: "
        dia_id = one.get("dia_id") if isinstance(one, dict) else None
        named = f" (turn {dia_id[:40]!a})" if isinstance(dia_id, str) else ""
        why = f"{where}{first_problem(error)}{named}; expected {{speaker, dia_id, text, blip_caption?}}"
        raise InvalidInputError(what=place, why=why) from error
