"""Query context: resolves the names, words and times of a query against an agent's memory, before the search begins."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import get_args

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.subjects import USER
from mnestic.memory.language.misspellings import is_completed, may_be_other_name
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.language.terms import terms_of
from mnestic.memory.language.word_forms import other_forms
from mnestic.memory.ports import TokenCounter, WordEmbedder
from mnestic.memory.retrieval.agent_settings import settings_of
from mnestic.memory.retrieval.exact_terms import spellings
from mnestic.memory.retrieval.ports import SearchStore
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery
from mnestic.memory.retrieval.query_parsing import (
    NameMatch,
    QueryWord,
    QueryWords,
    asks_for_earlier,
    content_words,
    is_english,
    is_foreign,
    possible_name_parts,
    possible_names,
    without_names,
)
from mnestic.memory.retrieval.query_periods import written_days
from mnestic.memory.retrieval.search import (
    ArchivedWords,
    ParsedQuery,
    ResolvedTerms,
    Suggestions,
    Terms,
    Vocabulary,
)
from mnestic.memory.retrieval.vocabulary import unknown_lexemes, vocabulary_of

_CATEGORIES = frozenset(get_args(Category))
_CLOCK_SKEW = timedelta(days=1)  # up to which a message ahead of our clock is of the present
_FRESH_FOR_S = 600  # seconds in which the same question has the same answer; how recent something is counts a little


@dataclass(frozen=True, slots=True)
class QueryContext:
    """A clause of a query as `retrieve` got it, with its parsed words.

    `named_before` are words of the clauses before it that its pronouns may stand for. `archived` are the words of the
    archive, if that is searched too.
    """

    query: RetrievalQuery
    asked_at: datetime
    question: QueryWords
    named_before: tuple[QueryWord, ...]
    model: str
    count_tokens: TokenCounter | None
    policy: RetrievalPolicy | None
    words: WordEmbedder | None
    archived: ArchivedWords | None = None

    def key(self, known: ResolvedTerms) -> str:
        """The key of the cached answer: all that it depends on, beside the revision of the agent's memory."""
        query = self.query.model_dump_json(exclude={"excluded", "asked_at"})
        policy = self.policy and self.policy.model_dump_json()
        of_times = repr((self.question.period, self.question.earlier))  # such as of last week
        before = [word.text for word in self.named_before]
        lately = int(self.asked_at.timestamp() // _FRESH_FOR_S)
        until = known.ends_at and known.ends_at.isoformat()
        of_asker = [self.model, self.count_tokens is None, sorted(self.query.excluded)]
        return json.dumps([query, before, policy, of_asker, of_times, lately, until])

    def may_be_misspelt(self, word: str) -> bool:
        """Whether a word is rare enough to be a misspelling."""
        folded = word.casefold()
        is_rare = self.count_tokens is not None and not self._is_common(folded)
        return is_rare or folded in query_lists().misspelt

    def is_uncertain(self, names: Mapping[str, str], words: Mapping[str, str]) -> bool:
        """Whether a name or a word that was corrected may be somebody else's name."""
        topics = {word for name in self.question.topics for word in name}
        misspelt = {
            word: read
            for word, read in words.items()
            if (self._is_name(word) or word in topics)
            and word not in names
            and not is_completed(word, read)
        }
        return (
            any(
                may_be_other_name(name_key(word), read, is_common=self._is_name(word))
                for word, read in names.items()
            )
            or any(  # words are read as stems
                may_be_other_name(name_key(word)[: len(read)], read, is_common=False)
                for word, read in misspelt.items()
            )
        )

    def is_about_unknown(self, known: ResolvedTerms, misspelt: Mapping[str, str]) -> bool:
        """Whether the query is about an unknown: no word of a name that it is about is known, or no word of all its names."""

        def is_unknown(name: tuple[str, ...]) -> bool:
            are_known = any(_is_known(word, known) for word in name)
            return not are_known and misspelt.keys().isdisjoint(name)

        names, topics = self.question.proper_names, self.question.topics
        return any(map(is_unknown, topics)) or (bool(names) and all(map(is_unknown, names)))

    def _is_name(self, word: str) -> bool:
        """Whether a word is common with a capital."""
        return self._is_common(word.capitalize())

    def _is_common(self, word: str) -> bool:
        return self.count_tokens is not None and self.count_tokens(f" {word}") == 1


async def resolve_terms(store: SearchStore, context: QueryContext) -> ResolvedTerms:
    """Resolves all terms that a query may name."""
    known = await store.resolve(_terms(context))
    return known if context.archived is None else known.with_archived(context.archived)


async def parse_query(
    store: SearchStore, context: QueryContext, known: ResolvedTerms
) -> ParsedQuery:
    """Parses a query against the agent's memory, after correcting its misspelt words."""
    context = _with_antecedents(context, known)
    names = _unknown_names(context, known)
    unknown = _unknown_lexemes(context, known)
    suggested = Suggestions()
    if known.entries and (names or unknown):
        suggested = await store.suggest(names, unknown)
    if suggested.names:
        words = tuple(
            word._replace(text=_read_as(word.text, suggested.names))
            for word in context.question.words
        )
        context = replace(context, question=context.question._replace(words=words))
        known = await resolve_terms(store, context)
    return _parse(context, known, suggested)


def _parse(context: QueryContext, known: ResolvedTerms, suggested: Suggestions) -> ParsedQuery:
    query, question = context.query, context.question
    named = _named_by(question.words, known)
    named_keys = (known.names[name].keys for name in named.names)
    names = frozenset[str]().union(*named_keys) or _names_of_user(question.words, known)
    is_foreign_query = is_foreign(named.words, known.languages)
    identifiers = {word.text for word in question.words if word.is_identifier}
    vocabulary, called = _vocabulary(
        context, known, suggested=suggested, named=named, identifiers=identifiers
    )
    text, foreign = " ".join(named.words), None
    if context.words is not None and not is_english(named.words):
        content = " ".join(word for word in named.words if word not in vocabulary.silent)
        foreign = context.words.embed_foreign(text, content=content, is_sure=is_foreign_query)
    is_open = not (is_foreign_query or names)
    return ParsedQuery(
        query=query,
        asked_at=context.asked_at,
        known=known,
        policy=context.policy or settings_of(known.settings).policy,
        vocabulary=replace(vocabulary, misspelt={**suggested.names, **vocabulary.misspelt}),
        name_vocabulary=vocabulary_of(
            [*([] if vocabulary.weights else called), *written_days(question.period)], known
        ),
        names=names,
        tags=_tags(named, question.words, known),
        exact_terms=question.exact_terms.without_known(known.names),
        period=known.period or question.period,
        is_question=question.is_question,
        asks_for_time=question.asks_for_time,
        asks_for_earlier=asks_for_earlier(query.text),
        is_uncertain=context.is_uncertain(suggested.names, vocabulary.misspelt)
        or (is_open and context.is_about_unknown(known, vocabulary.misspelt)),
        has_identifier=not identifiers.isdisjoint(named.words),
        present_until=max(context.asked_at, known.now) + _CLOCK_SKEW,
        text=text,
        foreign=foreign,
        model=context.model,
        is_by_words=is_foreign_query and foreign is not None and query.mode == "hybrid",
    )


def _vocabulary(
    context: QueryContext,
    known: ResolvedTerms,
    *,
    suggested: Suggestions,
    named: NameMatch,
    identifiers: Collection[str],
) -> tuple[Vocabulary, list[str]]:
    """The words of a query with the names marked, and the words that it calls somebody by."""
    misspellings, stop_words = _misspellings_and_stop_words(named.words, context, known)
    vocabulary = vocabulary_of(
        named.words,
        known,
        misspellings=misspellings,
        stop_words=stop_words,
        suggested=suggested,
        identifiers=identifiers,
    )
    of_names = {part for name in named.names for part in name.split()}
    lexemes = tuple(
        replace(one, is_name=name_key(one.word) in of_names) for one in vocabulary.query_lexemes
    )
    called = [word.text for word in context.question.words if name_key(word.text) in of_names]
    return replace(vocabulary, query_lexemes=lexemes), called


def _read_as(word: str, names: Mapping[str, str]) -> str:
    """A word as the name that it is read as, with a capital if it has one."""
    meant = names.get(word, word)
    return meant.title() if word[:1].isupper() else meant


def _named_by(words: tuple[QueryWord, ...], known: ResolvedTerms) -> NameMatch:
    """The known names that a query means, and its words, without those that messages by or about the person need not have.

    These are the names of speakers, and names beside one's own. Any other name is none where the query writes it as a common word.
    """
    common = {name_key(word.text) for word in words if word.text.islower()}
    known_otherwise = {
        name for name, row in known.names.items() if row.is_speaker or row.keys != {name}
    }
    others = {name for name in known.names if not common.issuperset(name.split())}
    return without_names(words, known_otherwise)._replace(
        names=without_names(words, known_otherwise | others).names
    )


def _tags(named: NameMatch, words: tuple[QueryWord, ...], known: ResolvedTerms) -> frozenset[str]:
    """The tags that a query may name, but no names of people, and no categories, which learning gives to most entries."""
    aliases = {name for name in named.names if known.names[name].keys - {name}}
    tags = possible_names(words) - aliases | _singulars(named.words)
    return (tags - _CATEGORIES) & known.tags


def _names_of_user(words: Sequence[QueryWord], known: ResolvedTerms) -> frozenset[str]:
    """The names of the agent's user, if the query speaks in the first person and somebody speaks as the user."""
    user, own = known.names.get(USER), query_lists().first_person
    is_own = any(word.text.casefold().replace("\u2019", "'") in own for word in words)
    return user.keys if user is not None and user.is_speaker and is_own else frozenset()


def _singulars(words: Collection[str]) -> frozenset[str]:
    """The words in the singular, as tags are."""
    return frozenset(parts[0] for word in words if len(parts := terms_of(word)) == 1)


def _with_antecedents(context: QueryContext, known: ResolvedTerms) -> QueryContext:
    """The query with the names of people that its pronouns may stand for, if it names nobody itself."""
    question = context.question
    if not context.named_before or without_names(question.words, known.names).names:
        return context
    named = without_names(context.named_before, known.names).names
    words = (*question.words, *(QueryWord(name, may_name=True) for name in named))
    return replace(context, question=question._replace(words=words))


def _terms(context: QueryContext) -> Terms:
    """The terms that a query may name: names, words, tags and times."""
    question = context.question
    words = frozenset(word.text for word in question.words)
    forms = (other_forms(word.casefold()) for word in words)
    written = (spellings(word.text) for word in question.words if word.is_identifier)
    keys = possible_names(question.words) | possible_names(context.named_before) | {USER}
    periods = (question.period, *question.earlier) if question.period and question.earlier else ()
    return Terms(
        keys=keys,
        acronyms={word.text: word.acronym for word in question.words if word.acronym},
        words=words.union(written_days(question.period), *written, *forms),
        name_parts=possible_name_parts(question.words) | possible_name_parts(context.named_before),
        tags=keys - {USER} | _singulars(words),
        periods=periods,
        model=context.model,
    )


def _unknown_names(context: QueryContext, known: ResolvedTerms) -> list[str]:
    """Words that may be names, but are known neither as names nor as words."""
    words = context.question.words
    is_english_query = is_english({word.text for word in words})
    return [
        word.text
        for word in words
        if word.may_name
        and (word.text[:1].isupper() or not known.names)
        and name_key(word.text) not in known.names
        and not word.is_identifier
        and not _is_known(word.text, known)
        and (context.may_be_misspelt(word.text) or (word.is_capital and is_english_query))
    ]


def _unknown_lexemes(context: QueryContext, known: ResolvedTerms) -> frozenset[str]:
    """The unknown lexemes of a query, without names."""
    words = _named_by(context.question.words, known).words
    misspellings, stop_words = _misspellings_and_stop_words(words, context, known)
    return unknown_lexemes(words, known, misspellings=misspellings, stop_words=stop_words)


def _misspellings_and_stop_words(
    words: Sequence[str], context: QueryContext, known: ResolvedTerms
) -> tuple[list[str], set[str]]:
    """The words that may be misspelt, and those without meaning in English."""
    content = content_words(words)
    may_be_any = is_foreign(words, known.languages)
    misspellings = [
        word
        for word in content
        if not any(map(str.isdigit, word)) and (may_be_any or context.may_be_misspelt(word))
    ]
    return misspellings, set(words).difference(content)


def _is_known(word: str, known: ResolvedTerms) -> bool:
    """Whether some entry has the word, in any language, or as an acronym."""
    return word in known.acronyms or any(
        one.entries for part in known.words.get(word, ()) for one in part.values()
    )
