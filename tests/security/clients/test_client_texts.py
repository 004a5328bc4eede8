"""Every text that a caller gives to the Python client is kept, or refused by an error of ours.

The methods and their parameters are enumerated, so that a new one without a case fails here.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from operator import itemgetter
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import ValidationError

from mnestic.memory.errors import InvalidInputError, RefusedError
from mnestic.starter.client.client_scope import ClientPart
from mnestic.starter.client.inbox import InboxClient
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.client.predicates import PredicateClient
from mnestic.starter.maintenance.backup_client import BackupClient, open_backups
from mnestic.starter.maintenance.maintenance_client import MaintenanceClient
from tests.security.clients.texts import CALLS, MADE, MORE
from tests.security.matrix import first_of_each

BAD = {"empty": "", "surrogate": "\ud800", "nul": "a\x00b", "3 MB": "x" * 3_000_000}
_LONG = 5  # seconds
NOT_TEXT = ("surrogate", "nul")
ENUMERATED = [(of, name) for of, calls in CALLS.items() for name in calls]


def public(of: type) -> Iterator[tuple[str, Any]]:
    for name, member in inspect.getmembers(of, inspect.isfunction):
        if not name.startswith("_"):
            yield name, member


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
    if Any in types:
        yield lambda text: {"k": [text]}
        yield lambda text: {text: 1}
    if Sequence in map(get_origin, types):
        if str in types:
            yield lambda text: ("a", text)
        for model in (one for one in types if isinstance(one, type) and one in MADE):
            yield from (lambda text, put=put: (put(text),) for put in put_into(model))
    else:
        if (str in types or Any in types) and Mapping not in map(get_origin, types):
            yield lambda text: text
        for model in (one for one in types if isinstance(one, type) and one in MADE):
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


def cases(of: type, name: str) -> Iterator[tuple[str, Any]]:
    """Every text parameter of a method, and what puts a text into it."""
    function = getattr(of, name)
    hints = get_type_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            for more in MORE[of, name]:
                yield more, lambda text: text
                yield more, lambda text: (text,)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            yield parameter.name, None
        else:
            for put in shapes(hints[parameter.name]):
                yield parameter.name, put


def has_text(function: Any) -> bool:
    hints = get_type_hints(function)
    hints.pop("return", None)
    return any(
        str in members(hint)
        or Any in members(hint)
        or set(MADE) & {*filter(_is_type, members(hint))}
        for hint in hints.values()
    )


def _is_type(hint: Any) -> bool:
    return isinstance(hint, type)


async def call(target: Any, name: str, arguments: Mapping[str, Any], *rest: Any) -> None:
    done = getattr(target, name)(*rest, **arguments)
    if inspect.isawaitable(done):
        async with asyncio.timeout(_LONG):  # a call that never comes back is no refusal either
            await done


def parts_of(memory: MemoryClient) -> list[ClientPart]:
    return [part for part in vars(memory).values() if isinstance(part, ClientPart)]


def target_of(client: MnesticClient, of: type) -> Any:
    memory = client.memory("ada")
    return {
        **{type(part): part for part in parts_of(memory)},
        MemoryClient: memory,
        MnesticClient: client,
        InboxClient: client.inbox("ada"),
        PredicateClient: client.predicates(),
        MaintenanceClient: client.maintenance,
        BackupClient: backups_of(client),
    }[of]


def backups_of(client: MnesticClient) -> BackupClient:
    folder = client.settings.data_dir / "backups"
    return open_backups(client.settings.model_copy(update={"backup_directory": folder}))


@pytest.mark.parametrize("of", CALLS)
def test_every_method_that_takes_a_text_has_a_case(of: type) -> None:
    taking = {name for name, function in public(of) if has_text(function)}

    assert taking - CALLS[of].keys() == set()


async def test_every_part_of_a_memory_is_enumerated(client: MnesticClient) -> None:
    parts = {type(part) for part in parts_of(client.memory("ada"))}

    assert parts == {of for of in CALLS if issubclass(of, ClientPart)}


async def outcome(target: Any, name: str, arguments: Mapping[str, Any], *rest: Any) -> str:
    """`kept`, `refused`, or the error that is none of ours."""
    try:
        await call(target, name, arguments, *rest)
    except RefusedError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {str(error)[:60]}"
    return "kept"


@pytest.mark.parametrize(("of", "name"), first_of_each(ENUMERATED, itemgetter(0)))
async def test_whatever_text_comes_in_what_comes_out_is_an_error_of_ours(
    client: MnesticClient, of: type, name: str
) -> None:
    target = target_of(client, of)
    wrong = []
    for parameter, put in cases(of, name):
        for how, text in BAD.items():
            with suppress(ValidationError):  # of a model that the caller makes, which says so
                given = {} if put is None else {parameter: put(text)}
                rest = (text,) if put is None else ()
                ended = await outcome(target, name, {**CALLS[of][name], **given}, *rest)
                if ended not in {"refused", "kept"} or (ended == "kept" and how in NOT_TEXT):
                    wrong.append((parameter, how, ended))

    assert wrong == []


async def test_a_time_without_an_offset_or_out_of_range_is_refused(client: MnesticClient) -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - that is what is refused
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    wrong = []
    for of, name in ENUMERATED:
        target, hints = target_of(client, of), get_type_hints(getattr(of, name))
        hints.pop("return", None)
        for parameter in (one for one, hint in hints.items() if datetime in members(hint)):
            for given, allowed in ((naive, {"refused"}), (early, {"refused", "kept"})):
                ended = await outcome(target, name, {**CALLS[of][name], parameter: given})
                if ended not in allowed:
                    wrong.append((of.__name__, name, parameter, given, ended))

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


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda m: m.settings.reset(["language"]), "names: is a list; give a text"),
        (lambda m: m.settings.reset("languag"), "languag: is not known"),
        (lambda m: m.settings.reset(None), "names: is a NoneType; give a text"),
        (lambda m: m.settings.change(nonsense=3), "nonsense: is not known"),
        (lambda m: m.records.get(["n"], "k"), "namespace: is a list; give a text"),
        (lambda m: m.entries.get(3), "entry_id: is a int; give a text"),
        (lambda m: m.retrieve(3), "text: is a int; give a text"),
        (lambda m: m.retrieve("Tea?", limt=3), r"limt: is not known; did you mean limit\?"),
        (
            lambda m: m.add("Tea.", entry_typ="insight"),
            r"entry_typ: is not known; did you mean entry_type\?",
        ),
        (lambda m: m.add("Tea.", entry_type="nonsense"), "no nonsense; there are interaction"),
        (lambda m: m.entries.change("e", nonsense=1), "nonsense: is not known$"),
        (lambda m: m.entries.change("e", tag=["a"]), r"tag: is not known; did you mean tags\?"),
        (lambda m: m.auto_retrieve("Tea?", "c", nonsense=1), "there is no nonsense"),
        (lambda m: m.context_for_query("Tea?", tiers=["nonsense"]), "no nonsense; there are summ"),
        (lambda m: m.facts.list(statuses=["nonsense"]), "no nonsense; there are active"),
        (lambda m: m.events.list(kinds=["nonsense"]), "there is no nonsense; there are "),
        (lambda m: m.facts.world(["Mara"]), "subject: is a list; give a text"),
    ],
)
async def test_a_name_that_is_none_is_an_error_of_ours(
    client: MnesticClient, call: Callable[[Any], Awaitable[object]], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=why):
        await call(client.memory("ada"))
