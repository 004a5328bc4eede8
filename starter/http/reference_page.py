"""The page at `/docs`: Swagger UI shows the OpenAPI document, by files of this server alone.

The page that `FastAPI` makes loads them from another host, and has its script in the page, which ours forbid.
"""

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from mnestic.starter.http.pages.access import REFERENCE, STATIC, set_headers

_FILES = f"{STATIC}/swagger"
_PAGE = f"""<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>HTTP API · Mnestic</title>
  <link rel="icon" href="{STATIC}/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="{_FILES}/swagger-ui.css">
  <script src="{_FILES}/swagger-ui-bundle.js" defer></script>
  <script src="{STATIC}/reference.js" defer></script>
</head>
<body>
  <main id="reference"></main>
</body>
</html>
"""


def add_reference(app: FastAPI) -> None:
    """Adds the page and its files to an application, before what serves other files of pages."""
    app.mount(_FILES, StaticFiles(directory=Path(str(files("fastapi_offline") / "static"))))
    app.add_api_route(REFERENCE, _show, include_in_schema=False)


async def _show() -> HTMLResponse:
    response = HTMLResponse(_PAGE)
    set_headers(response.headers, REFERENCE)
    return response
