"""Which texts that are close to a topic in meaning may be about it, if the topic has a proper name.

To a comparison of meanings, the names of two people, projects or places are nearly the same.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mnestic.memory.forgetting.proper_names import (
    is_written_as_name,
    is_written_small,
    named_alone,
    names_other,
    parts_in,
    proper_names,
    words_of_name,
)
from mnestic.memory.forgetting.requests import ForgottenItem
from mnestic.memory.forgetting.topic_names import TopicName
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.subjects import choose_subjects
from mnestic.memory.ports import Transaction

_NAMING = ("content", "speaker", "subjects", "aliases")


@dataclass(frozen=True, kw_only=True)
class ProperNames:
    """The proper names in a name of a topic, as they are written; `is_all`: it has no other words.

    `words` are those that tell them from other names.
    """

    names: tuple[str, ...]
    words: frozenset[str]
    is_all: bool


async def find_proper_names(transaction: Transaction, name: TopicName) -> ProperNames:
    """The proper names in a name of a topic: by its capitals, or by how the memory writes it."""
    names = await _find_names(transaction, name)
    words = frozenset().union(*map(words_of_name, names))
    return ProperNames(names=names, words=words, is_all=bool(words) and {*name.words} <= words)


async def without_others(
    transaction: Transaction, names: ProperNames, items: Sequence[ForgottenItem]
) -> list[ForgottenItem]:
    """Those of the entries close to a topic that have its proper names whole, and no other name like them."""
    if not names.words:
        return list(items)
    topic = await _topic_of(transaction, names.words)
    unlearned = {word for one in items for word in topic.unlearned(one.text)}
    topic.learn(await transaction.forgetting.stems(unlearned))
    return [
        one for one in items if topic.is_in(one.text) and not names_other(one.text, names.words)
    ]


async def find_entries_by_part(transaction: Transaction, names: ProperNames) -> list[ForgottenItem]:
    """The entries that are all about the one whom a topic names, by a part of the name that means nobody else."""
    if not names.is_all:
        return []
    own = await _list_keys(transaction, names.names)
    found: list[ForgottenItem] = []
    for word in sorted(names.words):
        is_known = bool(await _list_keys(transaction, [word]) & own)
        if is_known or word == named_alone(names.words):
            found += await _find_by_word(transaction, word, words=names.words, is_known=is_known)
    return list({one.id: one for one in found}.values())


async def _find_by_word(
    transaction: Transaction, word: str, *, words: frozenset[str], is_known: bool
) -> list[ForgottenItem]:
    """The entries that are all about the one with a word in the name; none if anybody else is spoken of by that word.

    Unless facts know the word as a name of that one, all texts have to write it as a name.
    """
    topic = await _topic_of(transaction, [word])
    texts = {key: text async for key, text in _iter_texts(transaction, topic)}
    if any(names_other(text, words) for text in texts.values()):
        return []
    if not is_known and any(is_written_small(text, [word]) for text in texts.values()):
        return []
    entries = await transaction.entries.select(
        [key for key, text in texts.items() if word in parts_in(text, words)]
    )
    return [
        ForgottenItem(kind="entry", id=one.id, text=one.content, at=one.at, by="meaning")
        for one in entries.values()
        if one.kind == "message"
        and word in parts_in(one.content, words)
        and not topic.cut(one.content).left
    ]


async def _find_names(transaction: Transaction, name: TopicName) -> tuple[str, ...]:
    if names := proper_names(name.text):
        return names
    known = await transaction.facts.list_named(name.text)
    is_subject = any(not is_written_small(one.subject, name.words) for one in known)
    topic = await _topic_of(transaction, name.words)
    texts = [text async for _, text in _iter_texts(transaction, topic)]
    if any(is_written_as_name(text, name.words) for text in texts):
        return (name.text,)
    if is_subject and not any(is_written_small(text, name.words) for text in texts):
        return (name.text,)
    return ()


async def _list_keys(transaction: Transaction, names: Collection[str]) -> frozenset[str]:
    """The keys of those whom names mean; a name of several means none of them."""
    keys: set[str] = set()
    for name in names:
        found = await transaction.facts.list_named(name)
        keys.update(choose_subjects(name, found, is_strict=False))
    return frozenset(keys)


async def _iter_texts(transaction: Transaction, topic: Topic) -> AsyncIterator[tuple[str, str]]:
    """The ids of entries that may speak of a topic, and what they say, of whom and by whom."""
    after: tuple[Any, ...] | None = None
    is_more = True
    while is_more:
        page = await transaction.forgetting.page("entry", topic, after=after, lock=False)
        for row in page.rows:
            yield row.key[0], "\n".join(_strings([row.columns[name] for name in _NAMING]))
        after, is_more = page.after, page.after is not None


async def _topic_of(transaction: Transaction, words: Collection[str]) -> Topic:
    name = TopicName(text=" ".join(words), words=tuple(sorted(words)))
    return Topic([name], await transaction.forgetting.stems(words))


def _strings(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif value is not None:
            yield from value
