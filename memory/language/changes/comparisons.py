"""Comparisons: two texts by their clauses, of which the later may give another value for what a query asks of the earlier one.

They stand apart from new values, which are told in one function, since most pairs of texts need no comparison. Words are
data, in `change_words.yaml`; clauses are told apart in English alone.
"""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property

from mnestic.memory.language.changes.change_words import (
    NEGATED,
    NO_MORE,
    change_words,
    is_event,
    is_revision,
    stems_of,
)
from mnestic.memory.language.changes.statements import (
    VALUES,
    Clause,
    Kind,
    Word,
    amounts_of,
    is_compound,
    labelled_forms,
    number_form,
    values_in,
    words_in,
)
from mnestic.memory.language.changes.update_texts import UpdateText, says_ending, usual_words

LEAST_COVERED = 0.5
"""The share of the weight of a query that two texts have without a word of change, for one to give another value."""

_LEAST_COMMON = 0.3  # of the weight of the query's words in the earlier text, which both have
_NEW = re.compile(r"(?:^New|\bnew) (\w+)")  # but not *in New York*
_NEW_FOR = re.compile(r"\bnew \w+ (?:for|of)\b", re.IGNORECASE)
_A_NEW = re.compile(r"\ban? new\b", re.IGNORECASE)


class Comparison:
    """Two texts: which clauses of the later one are about the same, and what they add.

    `shared` are the words of the query that both have, `missing` those that the earlier text alone has. `about` are the
    clauses with a shared word, by number, and `changing` those with a word of change and a shared word or one of the old value.
    """

    def __init__(self, old: UpdateText, new: UpdateText, *, common: float, covered: float) -> None:
        self._old, self._new, self._common, self._covered = old, new, common, covered
        self.shared, self.missing = old.topic_with(new)
        self._clauses = new.statements.clauses
        self._words = [*words_in(old.statements.clauses)]
        self._names = old.names | old.written_names | new.written_names
        self.about = [*self._with(self.shared)]
        near = sorted({*self.about, *self._with(old.value)})
        self.changing = [place for place in near if self._says_change(self._clauses[place])]

    def _says_change(self, clause: Clause) -> bool:
        """Whether a clause says that something is different, or that what the earlier text says is so no more."""
        text = clause.text
        if NEGATED.search(text):
            return NO_MORE.search(text) is not None and not clause.terms.keys().isdisjoint(
                self._old.value
            )
        topic = self._old.stems & self._old.query_stems  # *the fall trip* says nothing of a change
        return (
            is_revision(text)
            or any(
                topic.isdisjoint(stems_of(match.group().split()[0]))
                for match in change_words().of_values.finditer(text)
            )
            or says_ending(text)
            or self._is_of_new(clause)
        )

    @property
    def has_new_value(self) -> bool:
        """Whether the later text gives another value, of a kind that the old one has or that is requested."""
        is_related = self.shared or (self._replaces and self._old.requested != "whether")
        if not is_related or self._is_uncertain or self._has_other_identifier:
            return False
        return self._denies or (self._is_about_the_same and self._adds_value)

    @property
    def _old_clauses(self) -> tuple[list[Clause], list[Clause]]:
        """The clauses of the earlier text about what the query asks for, and the others that say what is so."""
        topical: list[Clause] = []
        others: list[Clause] = []
        for clause in self._old.statements.clauses:
            if not self.shared.isdisjoint(clause.terms):
                topical.append(clause)
            elif not clause.denies:
                others.append(clause)
        return topical, others

    @property
    def _is_about_the_same(self) -> bool:
        """Whether it is about what the query asks of the earlier text."""
        if not self.changing:
            return self._states_the_same and not self._is_about_another
        is_of_value = self._replaces or self._names_value
        is_of_value |= self._changes_amount or self._changes_labelled
        return (is_of_value or self._is_of_same) and (
            self._names_value or not self._is_about_another
        )

    @property
    def _adds_value(self) -> bool:
        """Whether it adds a value of a kind that the old one has or that is requested, or after a change any."""
        added = self._added
        if self._old.requested == "place":
            added = added - {"time"}
        if self._replaces or self._changes_to_another or self._is_changed:
            return bool(added)
        kinds = VALUES if self._names_value else self._gone & VALUES
        return bool(added & kinds) or (self._old.requested == "time" and "time" in added)

    @cached_property
    def _names_value(self) -> bool:
        """Whether a clause with a word of change has what names the old value, of a name one of its words.

        Where somebody takes over, the rest of the sentence may have it.
        """
        core = values_in(
            self._old.statements.clauses,
            self._old.answer,
            without=usual_words(),
            names=self._old.requested == "subject",
        )
        changing = [self._clauses[place] for place in self.changing]
        words: list[AbstractSet[str]] = [one.terms.keys() for one in changing]
        words += [
            {
                term
                for other in self._clauses
                if other.sentence == one.sentence
                for term in other.terms
            }
            for one in changing
            if one.has_taker
        ]
        others = self._new.full_names
        return bool(core) and any(
            not any(part.isdisjoint(found) or _is_of_other(part, others) for part in core)
            for found in words
        )

    @cached_property
    def _changes_amount(self) -> bool:
        """Whether what changes is an amount in a unit of the old value: *20 mg of it*, *its dose was cut to 10 mg*."""
        old = set(amounts_of(self._words))
        units = {unit for _, unit in old}
        return any(
            unit in units and (amount, unit) not in old
            for place in self.changing
            if place in self.about
            for amount, unit in amounts_of(self._clauses[place].terms.items())
        )

    @cached_property
    def _changes_labelled(self) -> bool:
        """Whether what the query names changes *to* a number of the same form: *version 4.2.1*, *upgraded to 4.3.0*."""
        forms = labelled_forms(self._words, self._old.query_stems - self._names)
        changing = (self._clauses[place] for place in self.changing if place in self.about)
        return any(
            word.preposition == "to" and number_form(word.text) in forms and term not in self._known
            for term, word in words_in(changing)
        )

    @cached_property
    def _replaces(self) -> bool:
        """Whether it names a part of the old value beside what takes its place, as *from physics to chemistry*."""
        value, words = self._old.answer, change_words()
        changing = [self._clauses[place] for place in self.changing]
        exchanged = [match for one in changing if (match := words.exchanges.search(one.text))]
        if exchanged:
            return any(value & stems_of(match.group()) for match in exchanged)
        return any(words.replacements.search(one.text) for one in changing) and any(
            value & one.terms.keys() for one in changing
        )

    @property
    def _denies(self) -> bool:
        """Whether it says that what the earlier text says is so no more."""
        if any(one.denies for one in self._old_clauses[0]):
            return False
        about = [self._clauses[place] for place in self.changing if place in self.about]
        return any(
            NO_MORE.search(one.text) and self._old.answer & one.terms.keys() for one in about
        )

    @property
    def _is_changed(self) -> bool:
        """Whether a clause with all words of the query that the earlier text has says that it has changed, or one of several."""
        if self.missing:
            return False
        if len(self.about) > 1:
            return not set(self.about).isdisjoint(self.changing)
        new, changes = change_words().new, change_words().changes
        words = (
            word for place in self.about for word in changes.findall(self._clauses[place].text)
        )
        return any(word.casefold() not in new for word in words)

    @property
    def _speaks_of_new(self) -> bool:
        """Whether it speaks of a new one of what the query asks, as in *new number*."""
        near = (clause for place in self.about for clause in self._clauses[place : place + 2])
        return any(map(self._is_of_new, near))

    def _is_of_new(self, clause: Clause) -> bool:
        """Whether a clause speaks of a new one of what the query asks of the earlier text."""
        new = stems_of(" ".join(_NEW.findall(clause.text)))
        is_time = self._old.requested == "time" and not _NEW_FOR.search(clause.text)
        return bool(new & self.shared or (is_time and new & change_words().of_times))

    @property
    def _changes_to_another(self) -> bool:
        """Whether what changes, changes *to* something that the earlier text does not have."""
        words = words_in(self._clauses[place] for place in self.changing if place in self.about)
        return any(word.preposition == "to" and term not in self._known for term, word in words)

    @property
    def _is_uncertain(self) -> bool:
        """Whether a sentence about it adds, asks or supposes something."""
        sentences = {self._clauses[place].sentence for place in (*self.about, *self.changing)}
        unchanged = change_words().unchanged
        texts: Iterable[str] = map(self._new.statements.sentences.__getitem__, sentences)
        if self._speaks_of_new:  # *a new one* is one more only of something else
            texts = (_A_NEW.sub("the new", text) for text in texts)
        return any(map(unchanged.search, texts))

    @property
    def _is_of_same(self) -> bool:
        """Whether it has most words of the query, more than a name alone, or speaks of a new one, as in *new number*."""
        has_enough = self._common >= _LEAST_COMMON or not self.missing
        has_most = (len(self.shared) > len(self.missing) and has_enough) or self._is_of_same_name
        return (has_most and self._shares_subject) or self._speaks_of_new

    @cached_property
    def _shares_subject(self) -> bool:
        """Whether both have more in common than a name of the query: a word of it, or if the earlier text has none any other.

        After a verb that joins a thing to its value the name is enough.
        """
        names = self._names
        topic = (self._old.stems & self._old.query_stems) - names
        if topic:
            return topic <= change_words().joining or bool(self.shared - names)
        if self._old.query_stems <= names and not self.missing:
            return True  # *What is the PIN?*
        return bool((self._old.stems & self._new.stems) - names - usual_words())

    @cached_property
    def _is_of_same_name(self) -> bool:
        """Whether both have a name that the query does not have, beside a word of it."""
        names = {term for term, word in self._words if word.kind == "name"} & self._old.value
        return bool(self.shared - self._names) and not names.isdisjoint(self._new.stems)

    @property
    def _states_the_same(self) -> bool:
        """Whether it says what is so, in nearly all words of the query that the earlier text has."""
        return (
            2 * len(self.missing) <= len(self.shared)
            and self._shares_subject
            and self._covered >= LEAST_COVERED
            and not any(
                is_event(one.text) or one.denies
                for one in map(self._clauses.__getitem__, self.about)
            )
        )

    @property
    def _has_other_identifier(self) -> bool:
        """Whether it has a number beside a word of the query where the earlier text has another that the query names."""
        if not any(char.isdigit() for term in self.missing for char in term):
            return False
        for clause in (self._clauses[place] for place in self.about):
            phrases = {word.phrase for term, word in clause.terms.items() if term in self.shared}
            if any(
                one.kind == "number" and one.phrase in phrases for _, one in self._others_in(clause)
            ):
                return True
        return False

    @property
    def _is_about_another(self) -> bool:
        """Whether it is about another thing of the same kind: *the key of the cellar*, not *of the attic*."""
        if self.missing & self._names and "name" in self._added - self._gone:
            return True  # *the number at Axa*, *the number at Zurich*
        lacking = [word for term, word in self._words if term in self.missing]
        phrases = {word.phrase for term, word in self._words if term in self.shared}
        prepositions = {word.preposition for word in lacking} - {""}
        is_counted = any(
            word.kind == "number" and word.phrase in phrases for _, word in self._words
        )
        modified = any(
            term in self._old.value and word.phrase in phrases for term, word in self._words
        )
        was_own, is_own = self._old.statements.is_first_person, self._new.statements.is_first_person
        for clause in (self._clauses[place] for place in self.about):
            heads = {
                word.phrase: place
                for place, (term, word) in enumerate(clause.terms.items())
                if term in self.shared
            }
            subject = min(word.phrase for word in clause.terms.values())
            begins = self._end_of_subject(clause)
            for place, word in self._others_in(clause):
                if word.phrase in heads:
                    is_before = place < heads[word.phrase]
                    if word.kind == "number":
                        is_other = is_before and not is_counted
                    else:
                        is_part = not self._changes_amount and is_compound(clause, word)
                        is_value = modified and (
                            word.preposition == "to" or not is_before or place < begins
                        )
                        is_other = word.is_of or ((is_before or is_part) and not is_value)
                elif word.kind == "number":
                    is_other = False
                else:
                    is_subject = not word.preposition and word.phrase == subject
                    is_other = word.preposition in prepositions or (
                        is_subject and (bool(self.missing) or (was_own and not is_own))
                    )
                if is_other:
                    return True
        return False

    def _end_of_subject(self, clause: Clause) -> int:
        """How many words of a clause are its subject, if the query asks for that; else 0: *Ana leads it* has one."""
        if self._old.requested != "subject" or self.missing or is_event(clause.text):
            return 0
        return next(place for place, term in enumerate(clause.terms) if term in self.shared)

    def _others_in(self, clause: Clause) -> Iterator[tuple[int, Word]]:
        """The words of a clause that neither the query nor the earlier text has, by place; not times or words of change."""
        change = change_words().of_values.search(clause.text)
        known = self._known | usual_words() | (stems_of(change.group()) if change else frozenset())
        known |= stems_of("new") if self._is_of_new(clause) else frozenset()
        for place, (term, word) in enumerate(clause.terms.items()):
            if term not in known and word.kind != "time":
                yield place, word

    @property
    def _known(self) -> frozenset[str]:
        return self._old.stems | self._old.query_stems

    @cached_property
    def _adding(self) -> tuple[Clause, ...]:
        """The clauses about it, and those that follow a change."""
        last = len(self._clauses) - 1
        following = {place + 1 for place in self.changing if place < last}
        places = sorted({*self.about, *self.changing, *following})
        return tuple(self._clauses[place] for place in places)

    @property
    def _added_words(self) -> Iterator[Word]:
        return (word for term, word in words_in(self._adding) if term not in self._known)

    @property
    def _added(self) -> AbstractSet[Kind]:
        """The kinds of words that it adds."""
        return {word.kind for word in self._added_words}

    @property
    def _gone(self) -> AbstractSet[Kind]:
        """The kinds of words of the old value that the later text lacks."""
        lacking = self._old.value if self._names_value else self._old.value - self._new.stems
        return {word.kind for term, word in self._words if term in lacking}

    def _with(self, terms: AbstractSet[str]) -> Iterator[int]:
        return (place for place, one in enumerate(self._clauses) if terms & one.terms.keys())


def _is_of_other(name: AbstractSet[str], others: Iterable[AbstractSet[str]]) -> bool:
    """Whether one of other names shares a word with a name of several words, but is not that: *Peter Lang*, *Peter Voss*."""
    return any(name & other and name - other and other - name for other in others)
