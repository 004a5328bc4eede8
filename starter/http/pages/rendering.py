"""Renders the templates: with the frame that every page has, and with values as a person reads them."""

import json
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.filters import do_filesizeformat

from mnestic.memory.access.api_keys import Action
from mnestic.starter.http.pages.access import ROOT, STATIC
from mnestic.starter.short_texts import shortened
from mnestic.starter.tenants import Access

TEMPLATES = Path(__file__).with_name("templates")


class Area(NamedTuple):
    """An entry of the navigation, and what a key must allow for it."""

    name: str
    path: str
    action: Action
    of_tenant: bool = False


_AREAS = (
    Area("Jobs", f"{ROOT}/jobs", "jobs"),
    Area("Memory", f"{ROOT}/memory", "read"),
    Area("Graph", f"{ROOT}/graph", "read"),
    Area("Costs", f"{ROOT}/costs", "read"),
    Area("Maintenance", f"{ROOT}/maintenance", "read", of_tenant=True),
    Area("Contracts", f"{ROOT}/contracts", "admin", of_tenant=True),
    Area("Keys", f"{ROOT}/keys", "admin", of_tenant=True),
    Area("Health", f"{ROOT}/health", "admin", of_tenant=True),
    Area("Audit", f"{ROOT}/audit", "admin", of_tenant=True),
)


# What a page says after a form was sent, by the parameter `done` of its address.
_DONE = {
    "resumed": "The job was resumed.",
    "overridden": "The job continues.",
    "extended": "The wait has a later deadline.",
    "paused": "The job pauses before its next step.",
    "unpaused": "The job continues.",
    "cancelled": "The job was asked to end.",
    "forked": "This job is the fork.",
    "added": "The fact was added.",
    "record_written": "The record was written.",
    "record_deleted": "The record was deleted.",
    "changed": "The fact was changed.",
    "deleted": "The fact was deleted.",
    "reactivated": "The fact holds again.",
    "memory_changed": "The memory was changed.",
    "memory_pinned": "No policy deletes this memory.",
    "memory_unpinned": "Policies may delete this memory again.",
    "memory_archived": "The memory is in the archive.",
    "memory_restored": "Searches find the memory again.",
    "memory_reinstated": "The memory counts again.",
    "memory_deleted": "The memory was deleted.",
    "saved": "The settings were saved.",
    "run_started": "The run was started; its report comes when it has ended.",
    "schedule_paused": "The Schedule is paused.",
    "schedule_resumed": "The Schedule runs again.",
    "policy_saved": "The policy was saved.",
    "contract_applied": "The contract was applied.",
    "key_made_before": "The form was sent before, so no other key was made. A key is shown once.",
    "key_revoked": "The key was revoked.",
    "note_added": "The note was added.",
    "note_removed": "The note was removed.",
}


def link(path: str, **parameters: Any) -> str:
    """A path with its parameters, without those that have no value."""
    present = {name: value for name, value in parameters.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(present, doseq=True)}" if present else path


def render(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page."""
    access: Access | None = getattr(request.state, "access", None)
    frame = {
        "path": request.url.path,
        "areas": () if access is None else areas_of(access),
        "access": access,
        "agent_id": _agent_of(request, access),
        "done": _DONE.get(request.query_params.get("done", "")),
    }
    text = environment.get_template(template).render(frame | values)
    return HTMLResponse(text, status_code=status)


def back_to(path: str, *, done: str, **parameters: Any) -> RedirectResponse:
    """Leads to a page that says what was done."""
    return RedirectResponse(link(path, **parameters, done=done), status_code=HTTPStatus.SEE_OTHER)


def back_to_list(request: Request, path: str, *, done: str, **parameters: Any) -> RedirectResponse:
    """As `back_to`, with the filter of the list if that is the page which the form was on."""
    shown = urlsplit(shown_page(request) or "")
    if shown.path == path:
        parameters = dict(parse_qs(shown.query)) | parameters
    return back_to(path, **(parameters | {"done": done}))


def shown_page(request: Request) -> str | None:
    """The page that the browser shows while a part of it is sent or loaded: its path with the parameters."""
    try:
        address = urlsplit(request.headers.get("HX-Current-URL", ""))
    except ValueError:
        return None
    return f"{address.path}?{address.query}" if address.query else address.path or None


def _agent_of(request: Request, access: Access | None) -> str | None:
    only = None if access is None else access.key.scope.only_agent
    return request.query_params.get("agent_id") or only


def areas_of(access: Access) -> tuple[Area, ...]:
    """What the navigation offers: nothing that the key does not allow."""
    return tuple(
        area
        for area in _AREAS
        if area.action in access.key.scope.actions
        and (access.key.scope.covers_all or not area.of_tenant)
    )


def _when(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%-d %b %Y, %H:%M} UTC"


def _day(moment: datetime) -> str:
    return f"{moment:%-d %b %Y}"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _as_text(value: Any) -> str:
    """A JSON value in one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _words(name: str) -> str:
    """A name of the code, as words."""
    return name.replace("_", " ")


def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        when=_when,
        day=_day,
        as_json=_as_json,
        as_text=_as_text,
        words=_words,
        segment=_segment,
        size_of=_size_of,
        shortened=shortened,
    )
    known: Mapping[str, Any] = {"link": link, "root": ROOT, "static": STATIC}
    environment.globals.update(known)
    return environment


def _size_of(amount: int, name: str) -> str:
    """A number of bytes in units that a person reads, and a number of other things with its thousands apart."""
    if not name.endswith("bytes"):
        return f"{amount:,}"
    sign = "-" if amount < 0 else ""
    return f"{sign}{do_filesizeformat(abs(amount), binary=True)}"


def _segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


environment = _make_environment()
