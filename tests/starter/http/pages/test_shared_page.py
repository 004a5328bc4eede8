"""The page of shared memory: it shows what the agent may read, and nothing else."""

import httpx2

from mnestic.starter.client.mnestic_client import MnesticClient


async def test_the_page_shows_records_with_their_owner(
    browser: httpx2.AsyncClient, client: MnesticClient
) -> None:
    spaces = [{"namespace": "trips", "access_level": "write", "agents_allowed": ["ada"]}]
    document = {"Memory": {"shared": {"enabled": True, "namespaces": spaces}}}
    await client.contracts().apply("*", document)
    await (await client.contract("ada")).set_shared("trips", "next", {"to": "Porto"})

    shown = await browser.get("/ui/memory/shared?agent_id=ada&namespace=trips")
    hidden = await browser.get("/ui/memory/shared?agent_id=bert&namespace=trips")

    assert '<code>{"to": "Porto"}</code>' in shown.text
    assert 'data-label="Owner">ada<' in shown.text
    assert hidden.status_code == 403
    assert "Porto" not in hidden.text
