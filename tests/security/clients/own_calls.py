"""Calls of one's own that come near to what belongs to another tenant."""

from typing import Any

from mnestic.starter.client.mnestic_client import MnesticClient


async def claimed(client: MnesticClient, key: str) -> Any:
    """Whether a key is new to oneself that another has used."""
    return (await client.claim_request(key, request={})).is_new
