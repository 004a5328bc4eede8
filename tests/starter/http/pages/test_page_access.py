"""Who may open which page: every route has a case in `page_routes.py`, and each refuses whoever may not."""

import httpx2

from mnestic.memory.access.api_keys import ACTIONS
from mnestic.starter.client.mnestic_client import MnesticClient
from mnestic.starter.http.pages.site import ROUTERS
from tests.starter.http.conftest import NewKey
from tests.starter.http.pages.conftest import Browse
from tests.starter.http.pages.page_routes import CASES, PageCase

GUARDED = {name: case for name, case in CASES.items() if case.action is not None}
OF_AGENTS = {name: case for name, case in GUARDED.items() if not case.of_job}


async def called(http: httpx2.AsyncClient, name: str, case: PageCase) -> httpx2.Response:
    """The answer to the request of a case."""
    method, path = name.split(" ")
    action = "delete" if "/facts/" in path else "pause"
    path = path.format(job_id="no-such-job", key="no-such-fact", kind="nightly", action=action)
    params = case.params | ({} if case.of_job or case.of_tenant else {"agent_id": "ada"})
    return await http.request(
        method, path, params=params, data=case.form if method == "POST" else None
    )


def test_each_page_has_a_case() -> None:
    found = {
        f"{method} {route.path}"  # type: ignore[attr-defined]
        for router in ROUTERS
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
    }

    assert found == set(CASES)


async def test_without_a_key_a_page_leads_to_signing_in(browse: Browse) -> None:
    async with browse(None) as http:
        answers = {name: await called(http, name, case) for name, case in GUARDED.items()}

    found = {
        name: (answer.status_code, answer.headers.get("Location", "").partition("?")[0])
        for name, answer in answers.items()
    }
    assert found == dict.fromkeys(GUARDED, (303, "/ui/sign-in"))


async def test_a_key_for_other_actions_opens_no_page(browse: Browse, new_key: NewKey) -> None:
    refusals = {}
    for action in ACTIONS:
        others = tuple(set(ACTIONS) - {action})
        async with browse(await new_key(agents=("*",), actions=others)) as http:
            for name, case in GUARDED.items():
                if case.action == action:
                    answer = await called(http, name, case)
                    is_named = f"does not allow the action {action}" in answer.text
                    refusals[name] = (answer.status_code, is_named)

    assert refusals == dict.fromkeys(GUARDED, (403, True))


async def test_a_key_for_other_agents_opens_no_page(
    browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    await client.memory("ada").add("Mara lives in Porto.", source_id="1")

    async with browse(await new_key(agents=("bert", "ad", "adam*"))) as http:
        answers = {name: await called(http, name, case) for name, case in OF_AGENTS.items()}

    refusals = {
        name: (answer.status_code, "Porto" in answer.text) for name, answer in answers.items()
    }
    assert refusals == dict.fromkeys(OF_AGENTS, (403, False))


async def test_the_frame_offers_only_what_the_key_allows(browse: Browse, new_key: NewKey) -> None:
    offered = {}
    for actions in (("jobs",), ("read",), ("read", "forget")):
        async with browse(await new_key(actions=actions)) as http:
            page = await http.get("/ui", follow_redirects=True)
            offered[actions] = (
                ">Jobs</a>" in page.text,
                ">Facts</a>" in page.text,
                ">Forget</a>" in page.text,
                ">Add</button>" in page.text,
            )

    assert offered == {
        ("jobs",): (True, False, False, False),
        ("read",): (False, True, False, False),
        ("read", "forget"): (False, True, True, False),
    }
