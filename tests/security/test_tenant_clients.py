"""The wall between tenants, in front of the clients: what one knows of another's memory opens nothing.

Every public method of every client, and every function that works with one, has a call in `calls.yaml`. It
is made as a new tenant with what the victim's calls take and give, and once more with names of nothing at
all: both are answered alike.
"""

import asyncio
import inspect
import json
import pkgutil
import uuid
from collections.abc import Awaitable, Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

import mnestic.starter
from mnestic.memory.errors import InvalidInputError, MnesticError
from mnestic.starter.client.client_scope import ClientPart, client_caller
from mnestic.starter.client.inbox import InboxClient
from mnestic.starter.client.memory_client import MemoryClient
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.client.predicates import PredicateClient
from mnestic.starter.deployments import Deployment
from tests.security.calls import (
    CASES,
    PLAN,
    SHARED_BY_AGENTS,
    WITHOUT,
    first_of_each,
    given_by,
    made_call,
    opened,
)
from tests.security.tenants import (
    AGENT,
    QUESTION,
    SECRET,
    SESSION,
    Victim,
    as_json,
    as_tenant,
    leaked,
    rows_of,
    state_of,
    without_names,
)

NAMED = r"^(job[ _]id|agent|tenant)"  # how the error begins: which id it is
pytestmark = pytest.mark.asyncio(loop_scope="module")


def modules() -> Iterator[Any]:
    """The modules of `starter/`, but for the commands, which have a wall of their own, and the embedded runtime."""
    for found in pkgutil.walk_packages(mnestic.starter.__path__, "mnestic.starter."):
        if found.name.split(".")[2] not in {"cli", "embedded"}:
            yield import_module(found.name)


def clients() -> list[type]:
    """The clients, each with all that it inherits; those that others are built on have no name of their own here."""
    own = [
        each
        for module in modules()
        for each in vars(module).values()
        if inspect.isclass(each) and each.__module__ == module.__name__
    ]
    found = [
        each
        for each in own
        if each.__name__.endswith("Client") or issubclass(each, (Deployment, MnesticClient))
    ]
    return [each for each in found if not any(each in other.__mro__[1:] for other in found)]


def functions() -> Iterator[str]:
    """The public functions that are given a client."""
    for module in modules():
        for name, each in vars(module).items():
            if not inspect.isfunction(each) or each.__module__ != module.__name__:
                continue
            hints = inspect.signature(each).parameters.values()
            if not name.startswith("_") and any(one.annotation is MnesticClient for one in hints):
                yield name


def public(of: type) -> Iterator[str]:
    """The public methods of a client or of a part."""
    for name, _ in inspect.getmembers(of, callable):
        if not name.startswith("_"):
            yield name


def doors(memory: MemoryClient) -> set[str]:
    """All ways in from Python; those of a part under the name that it has in the memory client."""
    own = {client.__name__: client for client in clients() if not issubclass(client, ClientPart)}
    parts = {f"MemoryClient.{name}": type(part) for name, part in vars(memory).items() if name[0] != "_"}  # fmt: skip
    of_parts = {client for client in clients() if issubclass(client, ClientPart)}
    assert set(parts.values()) == of_parts, "a part is overlooked"
    methods = {f"{name}.{method}" for name, of in {**own, **parts}.items() for method in public(of)}
    return methods | set(functions())


def client_of(name: str) -> str:
    """The client or the part whose method a case calls."""
    return name.rpartition(".")[0]


async def answered(call: Callable[[], Awaitable[Any]]) -> str:
    """What a call gives, or how it is refused, as text."""
    try:
        async with asyncio.timeout(30):
            return json.dumps(as_json(await call()), ensure_ascii=False)
    except MnesticError as error:
        return f"{type(error).__name__}: {error}"


async def test_each_way_in_has_a_call_or_a_reason(theirs: MnesticClient) -> None:
    tried = {name.partition(" ")[0] for name in CASES} | set(WITHOUT)

    assert doors(theirs.memory(AGENT)) == tried, "a way in has no call, or is none any more"
    assert {MnesticClient, MemoryClient, InboxClient, PredicateClient} <= set(clients())


@pytest.mark.usefixtures("shared_worker")
@pytest.mark.parametrize("name", first_of_each(CASES, client_of))
async def test_what_one_knows_of_another_tenant_is_as_nothing(
    theirs: MnesticClient, victim: Victim, admin_url: str, name: str
) -> None:
    before = await state_of(theirs, victim, admin_url)
    answers = []

    for known in (victim.known, victim.known.of_nothing()):
        mine = as_tenant(theirs)
        answer = await answered(lambda: made_call(mine, name, known))  # noqa: B023 - called at once
        assert leaked(answer, victim, given=known) == []
        tenant_id = mine.settings.tenant_id
        answers.append(without_names(answer, known=known, tenant_id=tenant_id))

    assert answers[0] == answers[1]
    assert await state_of(theirs, victim, admin_url) == before


OF_MEMORY = [
    name
    for name in CASES
    if name.startswith("MemoryClient.")
    and name.removeprefix("MemoryClient.") not in SHARED_BY_AGENTS
]


@pytest.mark.usefixtures("shared_worker")
@pytest.mark.parametrize("name", first_of_each(OF_MEMORY, client_of))
async def test_what_another_agent_of_the_tenant_knows_is_as_nothing(
    theirs: MnesticClient, victim: Victim, admin_url: str, name: str
) -> None:
    rows = rows_of(admin_url, victim.tenant_id, agent_id=AGENT)
    answers = []

    for known in (victim.known, victim.known.of_nothing()):
        agent_id = f"eve-{uuid.uuid4().hex[:8]}"
        mine = as_tenant(theirs, victim.tenant_id)
        answer = await answered(lambda: made_call(mine, name, known, agent_id=agent_id))  # noqa: B023 - at once
        assert leaked(answer.replace(victim.tenant_id, "<given>"), victim, given=known) == []
        answers.append(without_names(answer, known=known, tenant_id=agent_id))

    assert answers[0] == answers[1]
    assert rows_of(admin_url, victim.tenant_id, agent_id=AGENT) == rows


def crooked(victim: Victim) -> list[str]:
    """Ids that would mean another tenant's if they were put together with others as they are."""
    tenant_id, job = victim.tenant_id, victim.known.job
    return [
        f"../{tenant_id}/{job}",
        f"x/../../job/{tenant_id}/{job}",
        f"{tenant_id}/{job}",
        f"job/{tenant_id}/{job}",
        f"..%2F{tenant_id}%2F{job}",
        f"x' OR TenantId = '{tenant_id}",
        f'x" OR TenantId = "{tenant_id}',
        f"x\n{job}",
        f"x\0{job}",
        "x?workflowId=y#z",
        "*",
        "",
    ]


TAKING_A_JOB = [
    f"{client.__name__}.{name}"
    for client in clients()
    for name, method in inspect.getmembers(client, inspect.isfunction)
    if not name.startswith("_") and "job_id" in inspect.signature(method).parameters
]


@pytest.mark.parametrize("name", first_of_each(TAKING_A_JOB, client_of))
async def test_a_crooked_job_id_is_refused_everywhere(
    theirs: MnesticClient, victim: Victim, name: str
) -> None:
    method = opened(as_tenant(theirs), name)
    more = {
        "MnesticClient.start_job": {"plan": PLAN, "agent_id": AGENT, "session_id": SESSION},
        "MnesticClient.override_job": {"reason": "mine"},
    }

    for job_id in crooked(victim):
        with pytest.raises(InvalidInputError, match=NAMED):
            await given_by(method(job_id=job_id, **more.get(name, {})))


async def test_a_crooked_tenant_or_agent_has_no_client(
    theirs: MnesticClient, victim: Victim
) -> None:
    memory, mine = theirs._memory, theirs.settings.tenant_id

    for name in crooked(victim):
        for make in (
            lambda: as_tenant(theirs, name or " "),  # noqa: B023 - called at once
            lambda: theirs.memory(name),  # noqa: B023
            lambda: theirs.inbox(name),  # noqa: B023
            lambda: MemoryClient(client_caller(memory, tenant_id=name, agent_id=AGENT)),  # noqa: B023
            lambda: MemoryClient(client_caller(memory, tenant_id=mine, agent_id=name)),  # noqa: B023
            lambda: PredicateClient(memory, tenant_id=name),  # noqa: B023
        ):
            with pytest.raises(InvalidInputError, match=NAMED):
                make()
        with pytest.raises(InvalidInputError, match=NAMED):
            await theirs.start_job(PLAN, agent_id=name, session_id=SESSION)


async def test_a_link_names_the_workflow_and_nothing_else(theirs: MnesticClient) -> None:
    tenant_id = theirs.settings.tenant_id

    assert theirs.job_link("a.b:c@d+e") == (
        f"{theirs.endpoints.temporal_ui}/namespaces/default/workflows/"
        f"job%2F{tenant_id}%2Fa.b%3Ac%40d%2Be"
    )


async def test_a_workflow_that_says_it_is_another_tenants_opens_nothing_of_it(
    theirs: MnesticClient, victim: Victim
) -> None:
    mine = as_tenant(theirs)
    job_id = victim.known.job
    said = {"TenantId": victim.tenant_id, "AgentId": AGENT, "JobState": "waiting"}
    await theirs.temporal.start_workflow(
        "Anything",
        id=f"job/{mine.settings.tenant_id}/{job_id}",
        task_queue=f"nobody-{uuid.uuid4().hex}",
        search_attributes=TypedSearchAttributes(
            [SearchAttributePair(SearchAttributeKey.for_keyword(k), v) for k, v in said.items()]
        ),
    )

    for call in (
        lambda: mine.describe_job(job_id),
        lambda: mine.find_open_wait(job_id),
        lambda: mine.diff_job(job_id),
        lambda: mine.job_history(job_id),
        lambda: mine.fork_job(job_id),
    ):
        answer = await answered(call)
        assert leaked(answer, victim, given=victim.known) == []


async def test_what_a_process_keeps_of_one_tenant_answers_no_other(
    theirs: MnesticClient, victim: Victim
) -> None:
    asked = theirs.memory(AGENT)
    mine = as_tenant(theirs).memory(AGENT)
    await mine.add("I live in Umea.", speaker="Mara", session_id=SESSION)

    first = await asked.retrieve(QUESTION, is_access=False)
    before = theirs.cache_counts().answers.hits
    again = await asked.retrieve(QUESTION, is_access=False)
    hits = theirs.cache_counts().answers.hits - before
    own = [await mine.retrieve(QUESTION), await mine.retrieve(QUESTION)]
    last = await asked.retrieve(QUESTION, is_access=False)

    assert hits == 1, "the answer is not kept, so nothing is shown"
    assert SECRET in str(first)
    assert first.results == again.results == last.results
    for answer in own:
        assert leaked(str(answer), victim) == []
        assert [one.entry.content for one in answer.results] == ["I live in Umea."]
