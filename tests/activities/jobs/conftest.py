"""A summariser that counts how often it was asked, for tests of the activities of jobs."""

from collections.abc import Sequence

import pytest

from mnestic.memory.models.messages import ChatMessage, Summary, TokenUsage


class CountingSummariser:
    """A summariser that remembers what it was asked; it may be told to fail."""

    model = "test"

    def __init__(self) -> None:
        self.asked: list[tuple[ChatMessage, ...]] = []
        self.failure: Exception | None = None

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        self.asked.append(tuple(turns))
        if self.failure is not None:
            raise self.failure
        text = f"summary {len(self.asked)}"[:max_chars]
        return Summary(text=text, model="test", usage=TokenUsage(input_tokens=1, output_tokens=1))


@pytest.fixture
def summariser() -> CountingSummariser:
    return CountingSummariser()
