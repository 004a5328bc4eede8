"""Query parser: resolves the names, words and times of a clause against an agent's memory, before the search begins."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import get_args

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.predicates import Category
from mnestic.memory.knowledge.subjects import USER
from mnestic.memory.language.misspellings import is_completed, may_be_other_name
from mnestic.memory.language.query_words import query_lists
from mnestic.memory.ports import TokenCounter, WordEmbedder
from mnestic.memory.retrieval.agent_settings import settings_of
from mnestic.memory.retrieval.ports import SearchStore
from mnestic.memory.retrieval.queries import RetrievalPolicy, RetrievalQuery
from mnestic.memory.retrieval.query_parsing import (
    NameMatch,
    QueryWord,
    Terms,
    content_words,
    is_english,
    is_foreign,
    possible_names,
    singulars,
    without_names,
)
from mnestic.memory.retrieval.query_periods import written_days
from mnestic.memory.retrieval.search import (
    ArchivedWords,
    ParsedQuery,
    ResolvedTerms,
    Suggestions,
    Vocabulary,
)
from mnestic.memory.retrieval.vocabulary import unknown_lexemes, vocabulary_of

_CATEGORIES = frozenset(get_args(Category))
_CLOCK_SKEW = timedelta(days=1)  # up to which a message ahead of our clock is of the present
_FRESH_FOR_S = 600  # seconds in which the same question has the same answer; how recent something is counts a little


@dataclass(frozen=True, slots=True)
class QueryParser:
    """Parses clauses of queries, whatever agent they are of.

    `model` makes their vectors, `words` knows the meaning of single words. `count_tokens` finds words that may be misspelt,
    since common words are a single token. Without a `policy` the agent's own holds.
    """

    model: str
    count_tokens: TokenCounter | None
    policy: RetrievalPolicy | None
    words: WordEmbedder | None = None

    def cache_key(self, query: RetrievalQuery, terms: Terms, known: ResolvedTerms) -> str:
        """The key of the cached answer: all that it depends on, beside the revision of the agent's memory."""
        asked = query.model_dump_json(exclude={"excluded", "asked_at"})
        policy = self.policy and self.policy.model_dump_json()
        of_times = repr((terms.period, terms.earlier))  # such as of last week
        before = [word.text for word in terms.named_before]
        lately = int(terms.asked_at.timestamp() // _FRESH_FOR_S)
        until = known.ends_at and known.ends_at.isoformat()
        of_asker = [self.model, self.count_tokens is None, sorted(query.excluded)]
        return json.dumps([asked, before, policy, of_asker, of_times, lately, until])

    async def parse(
        self,
        store: SearchStore,
        query: RetrievalQuery,
        *,
        terms: Terms,
        known: ResolvedTerms,
        archived: ArchivedWords | None = None,
    ) -> ParsedQuery:
        """Parses a clause against the agent's memory, after correcting its misspelt words.

        Args:
            store: Suggests corrections.
            query: The clause, with the filters of the query.
            terms: Its terms.
            known: What the memory knows of them.
            archived: The words of the archive, if that is searched too.
        """
        known = known if archived is None else known.with_archived(archived)
        terms = _with_antecedents(terms, known)
        names = self._unknown_names(terms, known)
        unknown = self._unknown_lexemes(terms, known)
        suggested = Suggestions()
        if known.entries and (names or unknown):
            suggested = await store.suggest(names, unknown)
        if suggested.names:
            words = (w._replace(text=_read_as(w.text, suggested.names)) for w in terms.words)
            terms = replace(terms, words=tuple(words))
            known = await store.resolve(terms, model=self.model)
            known = known if archived is None else known.with_archived(archived)
        return self._parse(query, terms=terms, known=known, suggested=suggested)

    def _parse(
        self,
        query: RetrievalQuery,
        *,
        terms: Terms,
        known: ResolvedTerms,
        suggested: Suggestions,
    ) -> ParsedQuery:
        named = _named_by(terms.words, known)
        named_keys = (known.names[name].keys for name in named.names)
        names = frozenset[str]().union(*named_keys) or _names_of_asker(terms, known)
        is_foreign_query = is_foreign(named.words, known.languages)
        identifiers = {word.text for word in terms.words if word.is_identifier}
        vocabulary, called = self._vocabulary(
            terms, known, suggested=suggested, named=named, identifiers=identifiers
        )
        text, foreign = " ".join(named.words), None
        if self.words is not None and not is_english(named.words):
            content = " ".join(word for word in named.words if word not in vocabulary.silent)
            foreign = self.words.embed_foreign(text, content=content, is_sure=is_foreign_query)
        is_open = not (is_foreign_query or names)
        return ParsedQuery(
            query=query,
            asked_at=terms.asked_at,
            known=known,
            policy=self.policy or settings_of(known.settings).policy,
            vocabulary=replace(vocabulary, misspelt={**suggested.names, **vocabulary.misspelt}),
            name_vocabulary=vocabulary_of(
                [*([] if vocabulary.weights else called), *written_days(terms.period)], known
            ),
            names=names,
            tags=_tags(named, terms.words, known),
            exact_terms=terms.exact_terms.without_known(known.names),
            period=known.period or terms.period,
            is_question=terms.is_question,
            asks_for_time=terms.asks_for_time,
            asks_for_earlier=terms.asks_for_earlier,
            is_uncertain=self._is_uncertain(terms, suggested.names, vocabulary.misspelt)
            or (is_open and _is_about_unknown(terms, known, vocabulary.misspelt)),
            possible_askers=frozenset() if names else _possible_askers(terms, known),
            has_identifier=not identifiers.isdisjoint(named.words),
            present_until=max(terms.asked_at, known.now) + _CLOCK_SKEW,
            text=text,
            foreign=foreign,
            model=self.model,
            is_by_words=is_foreign_query and foreign is not None and query.mode == "hybrid",
        )

    def _vocabulary(
        self,
        terms: Terms,
        known: ResolvedTerms,
        *,
        suggested: Suggestions,
        named: NameMatch,
        identifiers: Collection[str],
    ) -> tuple[Vocabulary, list[str]]:
        """The words of a query with the names marked, and the words that it calls somebody by."""
        misspellings, stop_words = self._misspellings_and_stop_words(named.words, known)
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
        called = [word.text for word in terms.words if name_key(word.text) in of_names]
        return replace(vocabulary, query_lexemes=lexemes), called

    def _unknown_names(self, terms: Terms, known: ResolvedTerms) -> list[str]:
        """Words that may be names, but are known neither as names nor as words."""
        is_english_query = is_english(terms.texts)
        return [
            word.text
            for word in terms.words
            if word.may_name
            and (word.text[:1].isupper() or not known.names)
            and name_key(word.text) not in known.names
            and not word.is_identifier
            and not _is_known(word.text, known)
            and (self._may_be_misspelt(word.text) or (word.is_capital and is_english_query))
        ]

    def _unknown_lexemes(self, terms: Terms, known: ResolvedTerms) -> frozenset[str]:
        """The unknown lexemes of a query, without names."""
        words = _named_by(terms.words, known).words
        misspellings, stop_words = self._misspellings_and_stop_words(words, known)
        return unknown_lexemes(words, known, misspellings=misspellings, stop_words=stop_words)

    def _misspellings_and_stop_words(
        self, words: Sequence[str], known: ResolvedTerms
    ) -> tuple[list[str], set[str]]:
        """The words that may be misspelt, and those without meaning in English."""
        content = content_words(words)
        may_be_any = is_foreign(words, known.languages)
        misspellings = [
            word
            for word in content
            if not any(map(str.isdigit, word)) and (may_be_any or self._may_be_misspelt(word))
        ]
        return misspellings, set(words).difference(content)

    def _may_be_misspelt(self, word: str) -> bool:
        """Whether a word is rare enough to be a misspelling."""
        folded = word.casefold()
        is_rare = self.count_tokens is not None and not self._is_common(folded)
        return is_rare or folded in query_lists().misspelt

    def _is_uncertain(
        self, terms: Terms, names: Mapping[str, str], words: Mapping[str, str]
    ) -> bool:
        """Whether a name or a word that was corrected may be somebody else's name."""
        topics = {word for name in terms.topics for word in name}
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

    def _is_name(self, word: str) -> bool:
        """Whether a word is common with a capital."""
        return self._is_common(word.capitalize())

    def _is_common(self, word: str) -> bool:
        return self.count_tokens is not None and self.count_tokens(f" {word}") == 1


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
    tags = possible_names(words) - aliases | singulars(named.words)
    return (tags - _CATEGORIES) & known.tags


def _names_of_asker(terms: Terms, known: ResolvedTerms) -> frozenset[str]:
    """The names of whoever asks, if the query speaks in the first person: the asker, or else the agent's user, if somebody speaks as such."""
    if not terms.is_own:
        return frozenset()
    of_askers = (known.names[key].keys for key in terms.askers if key in known.names)
    user = known.names.get(USER)
    is_by_user = not terms.askers and user is not None and user.is_speaker
    return next(of_askers, user.keys if user is not None and is_by_user else frozenset())


def _possible_askers(terms: Terms, known: ResolvedTerms) -> frozenset[str]:
    """Who may ask of themselves, if nobody says which of several speakers does, or somebody of whom nothing is known."""
    speakers = frozenset(map(name_key, known.speakers))
    is_unknown = bool(terms.askers) or len(speakers) > 1
    return speakers if terms.is_own and terms.is_question and is_unknown else frozenset()


def _with_antecedents(terms: Terms, known: ResolvedTerms) -> Terms:
    """The terms with the names of people that pronouns may stand for, if nobody is named."""
    if not terms.named_before or without_names(terms.words, known.names).names:
        return terms
    named = without_names(terms.named_before, known.names).names
    words = (*terms.words, *(QueryWord(name, may_name=True) for name in named))
    return replace(terms, words=words)


def _is_about_unknown(terms: Terms, known: ResolvedTerms, misspelt: Mapping[str, str]) -> bool:
    """Whether a query is about an unknown: no word of a name that it is about is known, or no word of all its names."""

    def is_unknown(name: tuple[str, ...]) -> bool:
        are_known = any(_is_known(word, known) for word in name)
        return not are_known and misspelt.keys().isdisjoint(name)

    names, topics = terms.proper_names, terms.topics
    return any(map(is_unknown, topics)) or (bool(names) and all(map(is_unknown, names)))


def _is_known(word: str, known: ResolvedTerms) -> bool:
    """Whether some entry has the word, in any language, or as an acronym."""
    return word in known.acronyms or any(
        one.entries for part in known.words.get(word, ()) for one in part.values()
    )
