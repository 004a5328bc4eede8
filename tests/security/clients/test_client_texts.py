"""Every text that a caller gives to the Python client is kept, or refused by an error of ours.

The methods are those of `calls.yaml`, and their parameters are enumerated.
"""

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from operator import attrgetter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError

from mnestic.memory.errors import InvalidInputError, RefusedError
from mnestic.memory.forgetting.requests import Purged
from mnestic.memory.knowledge.claims import Claim, ClaimSource
from mnestic.memory.knowledge.entries import Entry, EntryQuery
from mnestic.memory.knowledge.inbox import MessageSignal, Statement, ToolOutput
from mnestic.memory.knowledge.resources import Resource
from mnestic.starter.client.contract_memory import ContractMemory
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.settings import Settings
from tests.security import calls
from tests.security.tenants import Known
from tests.starter.case_files import read_cases

BAD = {"empty": "", "surrogate": "\ud800", "nul": "a\x00b", "3 MB": "x" * 3_000_000}
NOT_TEXT = ("surrogate", "nul")
_LONG = 5  # seconds
CLAIM = Claim(id="c", subject="Mara", predicate="likes", object="tea", said_at=calls.NOON,
              source=ClaimSource(extractor="rules", session_id="s", source_id="1"))  # fmt: skip
# What is made of a text for a parameter.
MADE: Mapping[type, BaseModel] = {
    Entry: calls.ENTRY,
    EntryQuery: EntryQuery(),
    Resource: calls.MESSAGE,
    Claim: CLAIM,
    Statement: Statement(subject="Mara", predicate="likes", object="tea"),
    MessageSignal: MessageSignal(content="Hi.", speaker="Mara"),
    ToolOutput: ToolOutput(tool="t", content="1"),
}
# The names that `**more` stands for.
QUERY_MORE = ("subject", "session_id", "channel", "tags", "entry_types", "mode", "excluded")
MORE: Mapping[str, tuple[str, ...]] = {
    "MemoryClient.add": ("tags", "aliases", "speaker", "session_id", "channel"),
    "MemoryClient.auto_retrieve": ("question",),
    "MemoryClient.entries.change": ("content", "subjects", "tags", "aliases", "parent", "status"),
    "MemoryClient.settings.change": ("language", "timezone", "obsidian_context_notes"),
    "MemoryClient.context_for_query": QUERY_MORE,
    "MemoryClient.retrieve": QUERY_MORE,
    "MemoryClient.why": QUERY_MORE,
}
NOTHING = Known.model_construct(
    **dict.fromkeys(("job", "finished", "run", "token", "archived", "snapshot"), "none"),
    wait="none/w1",
    sha256="0" * 64,
    api_key="0" * 12,
    contract="otto",
    signal=0,
    result={},
    backup="20260301T120000Z-00000000",
    entry=calls.ENTRY,
    fact=CLAIM,  # of which a call takes the id
    claims=(CLAIM,),
    parked=(),
    purged=Purged(forgetting_id="f"),
    cursors=defaultdict(lambda: None),
)
VALUES = {**calls.values_of(NOTHING), "lines": calls.lines_of(())}
METHODS = [name for name in calls.GIVEN if " " not in name and "." in name]
LOADED_LATER = {"ContractMemory": ContractMemory}  # types of results, which their callers load


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with a folder for backups."""
    return settings.model_copy(update={"backup_directory": settings.data_dir / "backups"})


def members(hint: Any) -> Iterator[Any]:
    """The types that a hint is made of, without literals."""
    if get_origin(hint) is Literal:
        return
    yield hint
    for part in get_args(hint):
        yield from members(part)


def shapes(hint: Any) -> Iterator[Any]:
    """What somebody may give for a parameter, as functions that put a text into it."""
    types = list(members(hint))
    models = [one for one in types if isinstance(one, type) and one in MADE]
    if Any in types:
        yield lambda text: {"k": [text]}
        yield lambda text: {text: 1}
    if Sequence in map(get_origin, types):
        if str in types:
            yield lambda text: ("a", text)
        for model in models:
            yield from (lambda text, put=put: (put(text),) for put in put_into(model))
    else:
        if (str in types or Any in types) and Mapping not in map(get_origin, types):
            yield lambda text: text
        for model in models:
            yield from put_into(model)


def put_into(model: type) -> Iterator[Any]:
    made = MADE[model]
    hints = get_type_hints(model)
    for field in type(made).model_fields:
        types = list(members(hints[field]))
        if str in types:
            many = tuple in map(get_origin, types)
            yield lambda text, field=field, many=many: type(made).model_validate(
                {**made.model_dump(), field: (text,) if many else text}
            )


def cases(name: str, method: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Every text parameter of a method, and what puts a text into it."""
    hints = get_type_hints(method, localns=LOADED_LATER)
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            for more in MORE.get(name, ()):
                yield more, lambda text: text
                yield more, lambda text: (text,)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            yield parameter.name, None
        else:
            for put in shapes(hints[parameter.name]):
                yield parameter.name, put


async def outcome(method: Callable[..., Any], *given: Any, **named: Any) -> str:
    """`kept`, `refused`, or the error that is none of ours."""
    try:
        async with asyncio.timeout(_LONG):  # a call that never comes back is no refusal either
            await calls.given_by(method(*given, **named))
    except RefusedError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {str(error)[:60]}"
    return "kept"


@pytest.mark.parametrize("name", calls.first_of_each(METHODS, lambda name: name.rpartition(".")[0]))
async def test_whatever_text_comes_in_what_comes_out_is_an_error_of_ours(
    client: MnesticClient, name: str
) -> None:
    method = calls.opened(client, name)
    positional, named = calls.arguments_of(calls.GIVEN[name], VALUES)
    wrong = []
    for parameter, put in cases(name, method):
        for how, text in BAD.items():
            with suppress(ValidationError):  # of a model that the caller makes, which says so
                given = {} if put is None else {parameter: put(text)}
                rest = [text] if put is None else positional
                ended = await outcome(method, *rest, **{**named, **given})
                if ended not in {"refused", "kept"} or (ended == "kept" and how in NOT_TEXT):
                    wrong.append((parameter, how, ended))

    assert wrong == []


async def test_a_time_without_an_offset_or_out_of_range_is_refused(client: MnesticClient) -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - that is what is refused
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    wrong = []
    for name in METHODS:
        method = calls.opened(client, name)
        _, named = calls.arguments_of(calls.GIVEN[name], VALUES)
        hints = get_type_hints(method, localns=LOADED_LATER)
        hints.pop("return", None)
        for parameter in (one for one, hint in hints.items() if datetime in members(hint)):
            for given, allowed in ((naive, {"refused"}), (early, {"refused", "kept"})):
                ended = await outcome(method, **{**named, parameter: given})
                if ended not in allowed:
                    wrong.append((name, parameter, given, ended))

    assert wrong == []


async def test_the_error_names_the_parameter_and_what_is_wrong(client: MnesticClient) -> None:
    memory = client.memory("ada")

    for text, why in (
        ("\ud800", "half of a surrogate pair"),
        ("a\x00b", "NUL"),
        (" ", "is empty"),
        ("x" * 3_000_000, "3000000 characters"),
    ):
        with pytest.raises(InvalidInputError, match=f"entry_id.*{why}"):
            await memory.entries.change(text, tags=["a"])
    with pytest.raises(InvalidInputError, match=r"tags\.1.*NUL"):
        await memory.add("Tea.", tags=["a", "b\x00"])
    for name, given, why in read_cases(__file__, "wrong_calls"):
        method = attrgetter(name)(memory)
        with pytest.raises(InvalidInputError, match=why):
            await (method(*given) if isinstance(given, list) else method(**given))
