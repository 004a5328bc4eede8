"""A client of the loopback server that speaks OpenAI's API."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from openai import AsyncOpenAI

from mnestic.activities.clients.openai_compatible import openai_client


@pytest.fixture
async def client(chat_server: Any) -> AsyncIterator[AsyncOpenAI]:
    made = openai_client(api_key="sk-secret-0123", base_url=chat_server.base_url)
    yield made
    await made.close()
