"""Registers the search attributes of jobs, on the embedded Temporal and on a server of your own.

`mnestic up` and `mnestic doctor` ask the same question of any server.
"""

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mnestic.memory.errors import ConfigurationError, TemporalUnavailableError
from mnestic.memory.names import SEARCH_ATTRIBUTES

TYPES = {
    "keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}


async def ensure_search_attributes(client: Client) -> tuple[str, ...]:
    """Registers what is missing in the client's namespace; returns the names that were.

    Raises:
        ConfigurationError: one exists with another type, or this server lets us register none.
        TemporalUnavailableError: the server does not answer.
    """
    missing = await missing_search_attributes(client)
    if not missing:
        return ()
    wanted = {name: TYPES[SEARCH_ATTRIBUTES[name]] for name in missing}
    request = AddSearchAttributesRequest(search_attributes=wanted, namespace=client.namespace)
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:  # another start was faster
            raise _refused(client, error, missing) from error
    return missing


async def missing_search_attributes(client: Client) -> tuple[str, ...]:
    """The names that the client's namespace does not have yet.

    Raises:
        ConfigurationError: one exists with another type, or this server does not list them.
        TemporalUnavailableError: the server does not answer.
    """
    request = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        answer = await client.operator_service.list_search_attributes(request)
    except RPCError as error:
        raise _refused(client, error, tuple(SEARCH_ATTRIBUTES)) from error
    except RuntimeError as error:  # a lazy client connects now, and could not
        where = client.service_client.config.target_host
        raise TemporalUnavailableError(where=where, why=str(error)) from error
    found = answer.custom_attributes
    for name, kind in SEARCH_ATTRIBUTES.items():
        if name in found and found[name] != TYPES[kind]:
            raise ConfigurationError(
                setting=f"search attribute {name}",
                why=f"namespace {client.namespace} has it with another type than {kind}; "
                "remove it there, or use another namespace",
            )
    return tuple(name for name in SEARCH_ATTRIBUTES if name not in found)


def _refused(
    client: Client, error: RPCError, names: tuple[str, ...]
) -> ConfigurationError | TemporalUnavailableError:
    if error.status in (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED):
        where = client.service_client.config.target_host
        return TemporalUnavailableError(where=where, why=error.message)
    commands = "; ".join(
        f"temporal operator search-attribute create --namespace {client.namespace} "
        f"--name {name} --type {SEARCH_ATTRIBUTES[name].capitalize()}"
        for name in names
    )
    return ConfigurationError(
        setting="search attributes",
        why=f"the server refuses ({error.message}); register them as its administrator: {commands}",
    )
