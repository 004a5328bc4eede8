"""The site: all pages, and the files that they load."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.staticfiles import StaticFiles

from mnestic.starter.http.calls import CHECKED
from mnestic.starter.http.pages import (
    agents,
    audit,
    auto_retrieval,
    contracts,
    costs,
    facts,
    forgetting,
    graph,
    live,
    maintenance,
    memories,
    notes,
    policy,
    records,
    search,
    sign_in,
)
from mnestic.starter.http.pages.access import SHORTCUTS, STATIC
from mnestic.starter.http.pages.jobs import bulk, job, job_list, override
from mnestic.starter.http.pages.operators import health, keys, transfer

ROUTERS = (
    sign_in.router,
    agents.router,
    job_list.router,
    bulk.router,
    override.router,
    job.router,
    facts.router,
    memories.router,
    search.router,
    auto_retrieval.router,
    notes.router,
    records.router,
    forgetting.router,
    graph.router,
    costs.router,
    policy.router,
    maintenance.router,
    contracts.router,
    keys.router,
    health.router,
    transfer.router,
    audit.router,
    live.router,
)


def add_pages(app: FastAPI) -> None:
    """Adds the pages to the application; the OpenAPI document does not have them."""
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False, dependencies=CHECKED)
    for path, to in SHORTCUTS.items():
        app.add_api_route(path, _leading_to(to), include_in_schema=False)
    app.mount(STATIC, StaticFiles(directory=Path(__file__).with_name("static")))


def _leading_to(path: str) -> Callable[[], Awaitable[RedirectResponse]]:
    async def lead() -> RedirectResponse:
        return RedirectResponse(path, status_code=HTTPStatus.SEE_OTHER)

    return lead
