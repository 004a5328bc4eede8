"""Where in a request a value is that a client's method refuses: its error names an argument, which has another name there.

It finds the place from what the route takes, for all routes.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from mnestic.memory.errors import InvalidInputError

# Arguments of the client that requests have another name for.
_OTHERWISE: Mapping[str, str] = MappingProxyType(
    {"query": "text", "fact_id": "key", "confirm": "token"}
)


def place_of(request: Request, error: InvalidInputError) -> str:
    """The field or parameter that an error is about, such as `query.q`; else the part of the request that has its values."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return "request"
    places = _places(route.dependant)
    of_field = error.why.partition(": ")[0]  # where a model refuses it
    names = (name for words in (error.what, of_field) for name in _names(words))
    found = next((places[name] for name in names if name in places), None)
    if found is not None:
        return found + "".join(re.findall(r"(?<=\w)\.\d+", error.what)[:1])
    return "query" if route.body_field is None else "body"


def _names(words: str) -> Iterator[str]:
    """What the words of an error may be called in a request: `message 's/1'` is one of its `messages`."""
    first = re.match(r"\w*", words)
    whole = words.replace(" ", "_")
    for name in (whole, _OTHERWISE.get(whole, ""), first[0] if first else ""):
        yield from (
            name,
            f"{name}_id",
            f"{name}s",
            name.removesuffix("_id"),
            name.removesuffix("s"),
        )


def _places(dependant: Dependant) -> Mapping[str, str]:
    """The parameters of a route and the fields of its body, by the names that its code and its requests have for them."""
    places: dict[str, str] = {}
    for part, parameters in (
        ("path", dependant.path_params),
        ("query", dependant.query_params),
        ("header", dependant.header_params),
    ):
        for parameter in parameters:
            place = f"{part}.{parameter.alias}"
            places |= {parameter.name: place, parameter.alias: place}
    for body in dependant.body_params:
        for name, field in getattr(body.field_info.annotation, "model_fields", {}).items():
            place = f"body.{field.alias or name}"
            places |= {name: place, field.alias or name: place}
    for one in dependant.dependencies:
        places |= _places(one)
    return places
