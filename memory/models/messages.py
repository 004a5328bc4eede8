"""What is said to a language model and what comes back.

Every client of a model, local or remote, and everyone who calls one, shares these values and nothing else.
"""

from typing import Literal

from pydantic import ConfigDict, NonNegativeInt

from mnestic.memory.deferred_model import DeferredModel


class ChatMessage(DeferredModel):
    """One message of a dialogue. A speaker's name, when it matters, leads the content: `Mara: …`."""

    model_config = ConfigDict(frozen=True)

    role: Literal["system", "user", "assistant", "tool"]
    content: str


class TokenUsage(DeferredModel):
    """Tokens of one call, as the provider counted them."""

    model_config = ConfigDict(frozen=True)

    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt


class ChatReply(DeferredModel):
    """What a chat model answered, which model it was, and what it took."""

    model_config = ConfigDict(frozen=True)

    text: str
    model: str
    usage: TokenUsage


class Summary(DeferredModel):
    """A summary, which model wrote it, and what it took."""

    model_config = ConfigDict(frozen=True)

    text: str
    model: str
    usage: TokenUsage


class Embeddings(DeferredModel):
    """The vectors of some texts, in their order, which model made them, and what it took.

    A vector is its numbers as little-endian 32-bit floats. Its length is 1; that of a text in which
    nothing is known is 0.
    """

    model_config = ConfigDict(frozen=True)

    vectors: tuple[bytes, ...]
    model: str
    usage: TokenUsage


class RerankScores(DeferredModel):
    """How relevant texts are to a question, from 0 to 1, in their order; who says so, and what it took.

    `search_units` is what some servers bill instead of tokens.
    """

    model_config = ConfigDict(frozen=True)

    relevances: tuple[float, ...]
    model: str
    usage: TokenUsage
    search_units: NonNegativeInt = 0
