"""The local provider: summaries and replies made of sentences that were really said.

It is what runs when no language model is configured: deterministic, offline, and never more than its input says.
"""

# ruff: noqa: RUF001 (question marks of other scripts are meant)

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mnestic.activities.clients.tokens import count_tokens
from mnestic.memory.language.sentences import cut_text, split_sentences
from mnestic.memory.language.terms import cosine, inverse_document_frequency, term_vector, terms_of
from mnestic.memory.models.messages import ChatMessage, ChatReply, Summary, TokenUsage

MODEL = "local-extractive"

_NOTICE = "This is the local responder; no language model is configured, so it can only quote."
_NO_MATCH = "Nothing in the given messages matches the question."
_QUOTES = 3
_NAMED = 1.5  # how much better a sentence fits when the question names its speaker
# Relevance against redundancy. Source: maximal marginal relevance, Carbonell and Goldstein, 1998.
_RELEVANCE = 0.7
_REPEATED = 0.8  # cosine from which a sentence counts as said already
_FULL_TERMS = 4  # a sentence with fewer says less, in proportion
_FAINT = 0.3  # of the strongest score; what is weaker is left out even where there is room
_NEARNESS, _DETAILS, _PLACE = 0.6, 0.3, 0.1  # shares of a sentence's score
_LABEL = re.compile(r"([^\W\d_][^\n:.!?]{0,39}):\s+(?=\S)")
# A figure, or a name inside the sentence.
_DETAIL = re.compile(r"\d|(?<=[^\s.!?] )[A-ZÀ-ÖØ-Þ][^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    speaker: str
    text: str
    terms: tuple[str, ...]


class LocalSummariser:
    """Picks the sentences that say most about what was said, without saying it twice."""

    async def summarise(self, turns: Sequence[ChatMessage], *, max_chars: int) -> Summary:
        """Summarise in the turns' own sentences, in their order, each after its speaker.

        Args:
            turns: What was said.
            max_chars: Never exceeded; speakers' names count.

        Returns:
            The summary; empty when nothing was said or nothing fits.
        """
        text = await asyncio.to_thread(_summarise, tuple(turns), max_chars)
        return Summary(text=text, model=MODEL, usage=_usage(turns, text))

    @property
    def model(self) -> None:
        """None: it asks no model."""
        return


class LocalChatModel:
    """Answers with the sentences of the given messages that match the last question best."""

    async def reply(self, messages: Sequence[ChatMessage], *, max_tokens: int) -> ChatReply:
        """Say that this is the local responder, then quote.

        Args:
            messages: The dialogue; the last message of role `user` is the question.
            max_tokens: Cap of the reply.

        Returns:
            The same reply for the same messages, always.
        """
        text = await asyncio.to_thread(_reply, tuple(messages), max_tokens)
        return ChatReply(text=text, model=MODEL, usage=_usage(messages, text))


def _summarise(turns: Sequence[ChatMessage], max_chars: int) -> str:
    sentences = list(dict.fromkeys(sentence for turn in turns for sentence in _sentences(turn)))
    if not sentences or max_chars <= 0:
        return ""
    weights = _weights(sentences)
    vectors = [term_vector(sentence.terms, weights) for sentence in sentences]
    scores = _scores(sentences, vectors)
    chosen = _choose(sentences, vectors, scores, max_chars=max_chars)
    if chosen:
        return _render(sentences, chosen)
    strongest = max(range(len(sentences)), key=lambda i: (scores[i], -i))
    return cut_text(_render(sentences, [strongest]), max_chars)


def _choose(
    sentences: Sequence[_Sentence],
    vectors: Sequence[dict[str, float]],
    scores: Sequence[float],
    *,
    max_chars: int,
) -> list[int]:
    """The strongest sentences that fit together and repeat each other least; none when none fits."""
    chosen: list[int] = []
    repeated = [0.0] * len(sentences)
    room = max_chars
    faint = _FAINT * max(scores)
    left = [i for i, score in enumerate(scores) if score >= faint]
    while left:
        best = max(
            left, key=lambda i: (_RELEVANCE * scores[i] - (1 - _RELEVANCE) * repeated[i], -i)
        )
        left.remove(best)
        length = len(_render(sentences, [*chosen, best]))
        if length > max_chars:
            continue
        chosen.append(best)
        room = max_chars - length
        for i in left:
            repeated[i] = max(repeated[i], cosine(vectors[best], vectors[i]))
        left = [i for i in left if repeated[i] < _REPEATED and len(sentences[i].text) < room]
    return chosen


def _scores(sentences: Sequence[_Sentence], vectors: Sequence[dict[str, float]]) -> list[float]:
    """How much each sentence says of the whole, 0 to 1: nearness to its centre, detail, place, form."""
    centre: dict[str, float] = {}
    for vector in vectors:
        for term, value in vector.items():
            centre[term] = centre.get(term, 0.0) + value
    centre = term_vector(centre, centre)
    near = [cosine(vector, centre) for vector in vectors]
    nearest = max(near) or 1.0
    edges = {0, len(sentences) - 1}
    return [
        _form(sentence.text)
        * min(1.0, len(vectors[i]) / _FULL_TERMS)
        * (
            _NEARNESS * near[i] / nearest
            + _DETAILS * min(1.0, len(_DETAIL.findall(sentence.text)) / 3)
            + _PLACE * (i in edges)
        )
        for i, sentence in enumerate(sentences)
    ]


def _form(text: str) -> float:
    """A statement counts fully; an exclamation is often courtesy, a question states little."""
    end = text.rstrip("\"'”’»)] ")[-1:]
    return {"?": 0.4, "？": 0.4, "؟": 0.4, "!": 0.8, "！": 0.8}.get(end, 1.0)


def _render(sentences: Sequence[_Sentence], chosen: Sequence[int]) -> str:
    lines: list[tuple[str, list[str]]] = []
    for sentence in (sentences[i] for i in sorted(chosen)):
        if not lines or lines[-1][0] != sentence.speaker:
            lines.append((sentence.speaker, []))
        lines[-1][1].append(sentence.text)
    return "\n".join(f"{speaker}: {' '.join(texts)}" for speaker, texts in lines)


def _reply(messages: Sequence[ChatMessage], max_tokens: int) -> str:
    last_user = max(
        (i for i, message in enumerate(messages) if message.role == "user"), default=None
    )
    others = [message for i, message in enumerate(messages) if i != last_user]
    question = terms_of(messages[last_user].content) if last_user is not None else ()
    quotes = _best_matches(
        question, [sentence for message in others for sentence in _sentences(message)]
    )
    lines = [f"- {sentence.speaker}: “{sentence.text}”" for sentence in quotes] or [_NO_MATCH]
    text = _NOTICE
    while count_tokens(text) > max_tokens:
        text = cut_text(text, len(text) - 1)
    if text != _NOTICE:
        return text
    for line in lines:
        if count_tokens(f"{text}\n{line}") <= max_tokens:
            text = f"{text}\n{line}"
    return text


def _best_matches(question: Sequence[str], sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """What fits the question best; a name in it points at who speaks, and is no word to match."""
    unique = list(dict.fromkeys(sentences))
    weights = _weights(unique)
    query = term_vector(question, weights)
    matches = [
        cosine(query, term_vector(sentence.terms, weights))
        * _form(sentence.text)
        * (_NAMED if set(terms_of(sentence.speaker)) & set(question) else 1.0)
        for sentence in unique
    ]
    ranked = sorted(range(len(unique)), key=lambda i: (-matches[i], i))
    return [unique[i] for i in ranked[:_QUOTES] if matches[i] > 0]


def _weights(sentences: Sequence[_Sentence]) -> dict[str, float]:
    """How telling each term is, the names of those who speak left out."""
    names = {term for speaker in {each.speaker for each in sentences} for term in terms_of(speaker)}
    weights = inverse_document_frequency([sentence.terms for sentence in sentences])
    return {term: weight for term, weight in weights.items() if term not in names}


def _sentences(message: ChatMessage) -> list[_Sentence]:
    """The sentences of a message; a name that leads the content (`Mara: …`) is the speaker.

    What the local responder said has none: it is its notice, and sentences of other messages.
    """
    label = _LABEL.match(message.content)
    speaker = label[1] if label else message.role
    content = message.content[label.end() :] if label else message.content
    if content.startswith(_NOTICE):
        return []
    return [_Sentence(speaker, text, terms_of(text)) for text in split_sentences(content)]


def _usage(messages: Sequence[ChatMessage], text: str) -> TokenUsage:
    """What a model would have been sent and have said: nothing was billed, budgets still count."""
    return TokenUsage(
        input_tokens=sum(count_tokens(message.content) for message in messages),
        output_tokens=count_tokens(text),
    )
