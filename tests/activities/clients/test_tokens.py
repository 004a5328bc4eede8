import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnestic.activities.clients.tokens import count_tokens, cut_tokens
from mnestic.memory.errors import InvalidInputError

# Ids of the vocabulary's own entries and of merges over them, as OpenAI's tokenizer counts them.
KNOWN = {
    "": 0,
    "hello world": 2,
    "12345678": 3,
    "<|endoftext|>": 7,
    "\0": 1,
    "a" * 1_000_000: 125_000,
}


@pytest.mark.parametrize(("text", "tokens"), KNOWN.items(), ids=lambda value: str(value)[:12])
def test_tokens_are_counted_exactly(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_threads_count_alike() -> None:
    texts = [f"Mara {number} zog um, 上海 🙂 " * 50 for number in range(200)]
    alone = [count_tokens(text) for text in texts]

    with ThreadPoolExecutor(8) as pool:
        together = [list(pool.map(count_tokens, texts)) for _ in range(3)]

    assert together == [alone] * 3


def test_half_of_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="surrogate"):
        count_tokens("a\ud800")


def test_without_the_library_bytes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("rs_bpe", "rs_bpe.bpe"):
        monkeypatch.setitem(sys.modules, module, None)

    assert [count_tokens(text) for text in ("", "a", "abcd", "abcde", "日本")] == [0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("hello world", 2, "hello world"),
        ("hello world", 1, "hello"),
        ("a short text of many tokens", 1000, "a short text of many tokens"),
        ("🙂🙂🙂", 3, "🙂"),  # a token may end within a character
        ("", 1, ""),
    ],
)
def test_a_text_is_cut_after_so_many_tokens(text: str, limit: int, cut: str) -> None:
    assert cut_tokens(text, limit) == cut


def test_a_cut_without_the_library_is_never_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("rs_bpe", "rs_bpe.bpe"):
        monkeypatch.setitem(sys.modules, module, None)

    assert cut_tokens("hello world", 5) == "hello"
    assert cut_tokens("上海上海", 5) == "上"
