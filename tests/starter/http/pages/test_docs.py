"""The documentation of the page names addresses and controls that there are."""

import re
from pathlib import Path

from fastapi import FastAPI

from mnestic.starter.http.pages.rendering import TEMPLATES
from mnestic.starter.http.pages.site import ROUTERS

DOCS = Path(__file__).parents[4] / "docs" / "pages.md"


def test_each_address_in_the_documentation_is_a_page(app: FastAPI) -> None:
    named = set(re.findall(r"`(/ui[^`?]*)[^`]*`", DOCS.read_text("utf-8")))

    served = {route.path for router in ROUTERS for route in router.routes}  # type: ignore[attr-defined]

    assert named
    assert named <= served
    assert served.isdisjoint(app.openapi()["paths"])


def test_each_control_in_the_documentation_is_on_a_page() -> None:
    named = re.findall(r"\*\*(.+?)\*\*", DOCS.read_text("utf-8"), flags=re.DOTALL)
    shown = " ".join(path.read_text("utf-8") for path in TEMPLATES.rglob("*.html"))

    missing = [name for name in named if re.search(rf"[>\"]\s*{re.escape(name)}\b", shown) is None]

    assert named
    assert missing == []
