"""Who sees a page: whoever has signed in with a key, from a page of this server."""

import httpx2
import pytest
from fastapi import FastAPI

from mnestic.memory.errors import DatabaseUnavailableError
from mnestic.starter.http.app import make_app
from mnestic.starter.tenants import Tenants
from tests.starter.case_files import read_cases
from tests.starter.http.conftest import NewKey, opened
from tests.starter.http.pages.conftest import SERVER, Browse, browsing


async def test_signing_in_opens_the_page_that_was_wanted(browse: Browse, new_key: NewKey) -> None:
    async with browse(None) as http:
        refused = await http.get("/ui/jobs?state=waiting")
        form = await http.get(refused.headers["Location"])
        entered = await http.post(
            "/ui/sign-in", data={"key": await new_key(), "then": "/ui/jobs?state=waiting"}
        )
        cookie = entered.headers["Set-Cookie"]
        seen = await http.get(entered.headers["Location"])

    assert (refused.status_code, form.status_code, entered.status_code) == (303, 200, 303)
    assert 'value="/ui/jobs?state=waiting"' in form.text
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/ui"))
    assert (seen.status_code, "No jobs are waiting." in seen.text) == (200, True)


async def test_signing_in_again_opens_the_page_that_was_shown(browse: Browse) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"{SERVER}/ui/memory?agent_id=ada"}
    async with browse(None) as http:
        answers = [
            await http.post("/ui/memory/facts/f/delete", headers=headers),
            await http.get("/ui/live/memory", headers=headers),
            await http.get("/ui/jobs", headers=headers | {"HX-Current-URL": "http://["}),
        ]

    assert [answer.headers["HX-Redirect"] for answer in answers] == [
        "/ui/sign-in?then=%2Fui%2Fmemory%3Fagent_id%3Dada",
        "/ui/sign-in?then=%2Fui%2Fmemory%3Fagent_id%3Dada",
        "/ui/sign-in",
    ]


async def test_signing_in_leads_to_no_other_site(browse: Browse, new_key: NewKey) -> None:
    async with browse(None) as http:
        key = await new_key()
        for then in ("https://elsewhere.example/", "//elsewhere.example/", "/docs"):
            answer = await http.post("/ui/sign-in", data={"key": key, "then": then})

            assert answer.headers["Location"] == "/ui"


async def test_servers_on_two_ports_of_a_host_have_cookies_of_their_own(
    browse: Browse, new_key: NewKey
) -> None:
    """Browsers send a cookie to all ports of a host."""
    async with browse(None) as http:
        names, hosts = [], ("127.0.0.1:8420", "127.0.0.1:8421", "[::1]", "page.example")
        for host in hosts:
            headers = {"Host": host, "Origin": f"http://{host}"}
            answer = await http.post("/ui/sign-in", data={"key": await new_key()}, headers=headers)
            names.append(answer.headers["Set-Cookie"].partition("=")[0])

    assert names == ["mnestic_key_8420", "mnestic_key_8421", "mnestic_key", "mnestic_key"]


async def test_the_api_reads_no_cookie_and_the_page_no_header(
    browser: httpx2.AsyncClient, app: FastAPI, new_key: NewKey
) -> None:
    key = browser.cookies["mnestic_key"]
    of_cookie = await browser.get("/api/jobs", headers={"Cookie": f"mnestic_key={key}"})
    async with opened(app, await new_key()) as http:
        of_header = await http.get("/ui/jobs")

    assert (of_cookie.status_code, of_header.status_code) == (401, 303)


SWAGGER = "/ui/static/swagger/swagger-ui-bundle.js"


@pytest.mark.parametrize("headers", read_cases(__file__, "foreign_headers"))
async def test_a_write_of_another_site_is_refused(
    browser: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await browser.post("/ui/sign-out", headers=headers)

    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


async def test_a_page_loads_nothing_from_elsewhere_and_is_not_stored(
    browser: httpx2.AsyncClient,
) -> None:
    page, problem, *others = [
        await browser.get(path)
        for path in ("/ui/jobs", "/ui/nonsense", "/ui/static/page.css", "/docs", SWAGGER)
    ]

    for answer in (page, problem, *others):
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert page.headers["Cache-Control"] == problem.headers["Cache-Control"] == "no-store"
    assert [one.status_code for one in (problem, *others)] == [404, 200, 200, 200]
    assert "<h1>Not Found</h1>" in problem.text


async def test_a_key_for_several_agents_is_asked_for_one(browse: Browse, new_key: NewKey) -> None:
    async with browse(await new_key(agents=("ada", "bert*"))) as http:
        asked = await http.get("/ui/jobs")
        form = await http.get(asked.headers["Location"])
        chosen = await http.get("/ui/jobs", params={"agent_id": "bert.1"})
        other = await http.get("/ui/jobs", params={"agent_id": "cleo"})

    assert asked.headers["Location"] == "/ui/agents?then=%2Fui%2Fjobs"
    assert "Your key is for ada, bert*." in form.text
    assert (chosen.status_code, other.status_code) == (200, 403)
    assert "is not for the agent cleo" in other.text


async def test_a_page_says_when_to_try_again(tenants: Tenants, new_key: NewKey) -> None:
    app = make_app(tenants)

    @app.get("/ui/down")
    async def down() -> None:
        raise DatabaseUnavailableError(where="here", why="it is down")

    async with browsing(app, await new_key()) as browser:
        answer = await browser.get("/ui/down")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "<h1>" in answer.text
