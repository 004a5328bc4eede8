"""Tokens of a text, counted offline with the vocabularies of OpenAI's models.

o200k is that of the models that chat, since GPT-4o, and cl100k that of those that embed. Every client counts by it, and
the library behind it is named nowhere else.
"""

from mnestic.memory.canonical import check_text

_BYTES_PER_TOKEN = 4


def count_tokens(text: str) -> int:
    """How many tokens a text is.

    Exact for OpenAI's models, near for those of others. Where the library has no wheel (from Python
    3.14 on), one for four bytes of UTF-8, rounded up. May be called from any thread. The first call
    of a process loads the vocabulary (50 ms, 65 MB); after it, a megabyte takes about 20 ms.

    Raises:
        InvalidInputError: the text is none that UTF-8 can hold.
    """
    check_text(text.replace("\0", ""), what="a text")
    try:
        from rs_bpe.bpe import openai  # noqa: PLC0415 - loaded when somebody counts
    except ModuleNotFoundError:
        return -(-len(text.encode()) // _BYTES_PER_TOKEN)
    count: int = openai.o200k_base().count(text)
    return count


def cut_tokens(text: str, max_tokens: int) -> str:
    """The beginning of a text for a model that embeds, of at most so many tokens.

    Exact for OpenAI's models, near for those of others. Where the library has no wheel, as many bytes,
    since no token is shorter.

    Raises:
        InvalidInputError: the text is none that UTF-8 can hold.
    """
    check_text(text.replace("\0", ""), what="a text")
    encoded = text.encode()
    if len(encoded) <= max_tokens:
        return text
    try:
        from rs_bpe.bpe import openai  # noqa: PLC0415 - loaded when somebody counts
    except ModuleNotFoundError:
        return encoded[:max_tokens].decode(errors="ignore")
    vocabulary = openai.cl100k_base()
    tokens = vocabulary.encode(text)
    if len(tokens) <= max_tokens:
        return text
    for last in range(max_tokens, 0, -1):  # a token may end within a character
        cut: str | None = vocabulary.decode(tokens[:last])
        if cut is not None:
            return cut
    return ""
