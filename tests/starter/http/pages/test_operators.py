"""The pages of operators: API keys, health, and memory as files."""

import re
from datetime import timedelta

import httpx2

from mnestic.starter.client.mnestic_client import MnesticClient
from tests.starter.http.conftest import NewKey
from tests.starter.http.pages.conftest import Browse

CHAT = (
    '{"role": "Mara", "content": "The gate code is 5531.", "timestamp": "2026-11-27T09:00:00Z"}\n'
)


async def new_key_form(browser: httpx2.AsyncClient) -> dict[str, str]:
    """The hidden fields of the form that makes a key."""
    return dict(re.findall(r'name="(form_id)" value="(.*?)"', (await browser.get("/ui/keys")).text))


async def test_a_key_is_made_shown_once_and_revoked(
    browser: httpx2.AsyncClient, browse: Browse, client: MnesticClient
) -> None:
    form = await new_key_form(browser) | {"agents": "ada", "actions": "read", "days": "7"}
    made, again = [await browser.post("/ui/keys", data=form) for _ in range(2)]
    (text,) = re.findall(r"mnk\.[\w.-]+", made.text)
    key_id = text.split(".")[-2]
    async with browse(text) as theirs:
        before = await theirs.get("/ui/memory")
        revoked = await browser.post(f"/ui/keys/{key_id}/revoke")
        after = await theirs.get("/ui/memory")
    listed = (await browser.get("/ui/keys")).text
    rows, _ = await client.audit().list(action="api_key.")

    assert (before.status_code, revoked.status_code) == (200, 303)
    assert again.headers["Location"] == "/ui/keys?done=key_made_before"
    assert after.headers["Location"].startswith("/ui/sign-in")
    assert text not in listed
    assert re.search(rf'{key_id}</th><td data-label="State"><span class="state revoked">', listed)
    assert rows[0].actor.startswith("key/")


async def test_a_key_makes_none_that_allows_more(
    browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    key = await new_key(agents=("*",), actions=("read", "admin"), expires_in=timedelta(days=1))
    async with browse(key) as operator:
        form = await new_key_form(operator) | {"agents": "*"}
        refused = await operator.post("/ui/keys", data=form | {"actions": "forget"})
        page = (await operator.get("/ui/keys")).text

        await operator.post("/ui/keys", data=form | {"actions": "read", "days": "900"})
    keys, _ = await client.api_keys().list()

    assert refused.status_code == 403
    assert "does not allow forget" in refused.text
    ends = [one.expires_at for one in keys if one.expires_at is not None]
    assert len(ends) == len(keys) == 2
    assert max(ends) - min(ends) < timedelta(seconds=9)
    assert 'value="forget"' not in page


async def test_health_shows_each_check(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/ui/health")).text

    states = dict(re.findall(r'<th scope="row">(.*?)</th>.*?<span class="state (\w+)">', page))
    assert len(states) > 3
    assert set(states.values()) <= {"ok", "degraded", "down"}


async def test_memory_is_downloaded_and_read_in_again(browser: httpx2.AsyncClient) -> None:
    async def read_in(agent: str, name: str, content: bytes) -> str:
        sent = await browser.post(
            "/ui/memory/transfer",
            params={"agent_id": agent},
            files={"file": (name, content, "text/plain")},
        )
        return sent.text

    chat = await read_in("ada", "chat.jsonl", CHAT.encode())
    export = await browser.get("/ui/memory/transfer/export", params={"agent_id": "ada"})
    other = await read_in("bert", "ada.jsonl", export.content)
    again = await read_in("bert", "../ada.jsonl", export.content)
    none = await read_in("bert", "x.bin", b"\0\1")
    found = await browser.get("/ui/memory/entries", params={"agent_id": "bert"})

    assert "1 messages new." in chat
    assert export.headers["Content-Disposition"] == 'attachment; filename="ada.jsonl"'
    assert ", 1 messages new." in other
    assert ", 0 messages new." in again
    assert "A value is malformed." in none
    assert "The gate code is 5531." in found.text


async def test_a_key_of_one_agent_reads_in_conversations_and_no_exports(
    browser: httpx2.AsyncClient, browse: Browse, new_key: NewKey, client: MnesticClient
) -> None:
    await browser.post(
        "/ui/memory/transfer",
        params={"agent_id": "ada"},
        files={"file": ("chat.jsonl", CHAT.encode(), "text/plain")},
    )
    export = await browser.get("/ui/memory/transfer/export", params={"agent_id": "ada"})
    async with browse(await new_key(agents=("bert",), actions=("read", "write"))) as writer:
        answers = [
            await writer.post(
                "/ui/memory/transfer",
                params={"agent_id": "bert"},
                files={"file": (name, content, "text/plain")},
            )
            for name, content in (("ada.jsonl", export.content), ("chat.jsonl", CHAT.encode()))
        ]
    rows, _ = await client.audit().list(agent_id="bert", action="resource.")

    assert [one.status_code for one in answers] == [403, 200]
    assert {row.actor.partition("/")[0] for row in rows} == {"key"}
