"""Topics: what somebody wants forgotten, and which texts speak of it.

It stands alone because what is shown before, what is removed and what is looked for afterwards have to
agree on what speaks of a topic.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import takewhile

from mnestic.memory.canonical import check_text, is_blank
from mnestic.memory.errors import InvalidInputError
from mnestic.memory.forgetting.cuts import SentenceCut, refers_back
from mnestic.memory.language.languages import LanguageVote, content_words
from mnestic.memory.language.sentences import split_sentences
from mnestic.memory.language.terms import STOP_WORDS, is_unspaced, normalised, words_of

FORGOTTEN = "[forgotten]"
"""What stands where something was taken out of a text."""

LONGEST_TOPIC = 1_000  # characters
_SUBJECT_WORDS = 2  # of a sentence: what it begins with is mostly its subject
_COPIED_WORDS = 3  # fewer are no copy, but what anybody might say


def topic_words(topic: str) -> tuple[str, ...]:
    """The words by which a topic is found, folded, each once.

    Raises:
        InvalidInputError: it has none that mean something, or is too long.
    """
    if len(topic) > LONGEST_TOPIC:
        why = f"has {len(topic)} characters, the limit is {LONGEST_TOPIC}; name it in a few words"
        raise InvalidInputError(what="topic", why=why)
    check_text(topic, what="topic")
    words = tuple(dict.fromkeys(words_of(topic)))
    if not words:
        why = "is empty" if is_blank(topic) else "has no word in it"
        raise InvalidInputError(what="topic", why=f"{why}; say what to forget")
    return _some(words, tuple(word for word in words if word not in STOP_WORDS))


def topic_content_words(
    words: Sequence[str], stems: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The words of a topic without those that say nothing in its language.

    Args:
        words: As `topic_words` gives them.
        stems: The stems of each, one a language; empty where it says nothing.

    Raises:
        InvalidInputError: none is left.
    """
    languages = range(max(map(len, stems.values()), default=0))
    read = [
        LanguageVote(
            [place for place, stem in enumerate(stems[word]) if stem], is_known=any(stems[word])
        )
        for word in words
    ]
    says = content_words(read, languages)
    return _some(
        words, tuple(word for word, is_telling in zip(words, says, strict=True) if is_telling)
    )


class Topic:
    """A topic, and which texts speak of it: those that have all its words, in whichever form.

    A form of a word is another word with the same stem. Stems come from the database's text search, so
    they are added (`learn`) for the words of a text that may be forms (`unlearned`), before it is checked.
    """

    def __init__(
        self,
        words: Sequence[str],
        stems: Mapping[str, Sequence[str]],
        *,
        copied: Sequence[str] = (),
    ) -> None:
        """A topic of folded words.

        Args:
            words: As `topic_words` gives them.
            stems: The stems of each, one a language.
            copied: Texts that speak of it without its words; a copy of one speaks of it too.
        """
        self.words = tuple(words)
        self._stems = {word: tuple(stems.get(word, ())) for word in words}
        self.beginnings = tuple(_beginning(word, stems) for word, stems in self._stems.items())
        """What the forms of each word begin with, however long they are, without marks."""
        self._forms: dict[str, Sequence[str]] = {}
        self._copied = frozenset(filter(None, map(_flat, copied)))
        self._long_copied = tuple(sorted(filter(_is_long, self._copied)))
        self._all_copied = "\0".join(self._long_copied)  # searched at once, since texts are many

    @property
    def is_copied(self) -> bool:
        """Whether there are texts that speak of it without its words."""
        return bool(self._copied)

    def unlearned(self, text: str) -> set[str]:
        """Words of a text that may be forms of the topic's."""
        folded = normalised(text)
        if not self._may_be_in(folded):
            return set()
        return {
            word
            for word in words_of(folded)
            if word not in self._forms and _bare(word).startswith(self.beginnings)
        }

    def learn(self, stems: Mapping[str, Sequence[str]]) -> None:
        """Takes in the stems of words."""
        self._forms.update(stems)

    def is_in(self, *texts: str) -> bool:
        """Whether texts together speak of it."""
        folded = normalised("\n".join(texts))
        if self._may_be_in(folded):
            words = set(words_of(folded))
            if all(self._occurs(word, words, folded) for word in self.words):
                return True
        return any(self._is_copy(text) for text in texts)

    def is_like(self, text: str) -> bool:
        """Whether a text has a word that begins as one of the topic's does, and is another word.

        Models that know words by their parts take the meaning of the one for the other's.
        """
        folded = normalised(text)
        return any(
            word.startswith(own) and not self._occurs(own, {word}, word)
            for word in set(words_of(folded))
            for own in self.words
        )

    def has_word(self, text: str) -> bool:
        """Whether a text has any word of it."""
        folded = normalised(text)
        words = set(words_of(folded))
        return any(self._occurs(word, words, folded) for word in self.words)

    def strikes(self, sentence: str) -> bool:
        """Whether a sentence has a word of it, or is a copy of a text that speaks of it."""
        return self.has_word(sentence) or self._is_copy(sentence)

    def strike(self, text: str, *, always: bool = False) -> str:
        """The text without the sentences that have the topic's words, if it speaks of it.

        Args:
            text: Any text.
            always: Whether its words go also where the text has some of them alone.
        """
        if not (self.is_in(text) or (always and self.has_word(text))):
            return text
        struck: list[str] = []
        place = 0
        for start, end in self.cut(text).gone:
            struck += (text[place:start], FORGOTTEN)
            place = end
        left = "".join((*struck, text[place:]))
        return FORGOTTEN if self.is_in(left) else left

    def cut(self, text: str) -> SentenceCut:
        """Which sentences go out of a text that speaks of it.

        Those that have any of its words, and those after them that begin by standing for it (*It starts …*).
        """
        gone: list[tuple[int, int]] = []
        place, goes, is_subject = 0, False, False
        for sentence in split_sentences(text) or (text,):
            start = text.index(sentence, place)
            place = start + len(sentence)
            if self.strikes(sentence):
                goes, is_subject = True, self.has_word(" ".join(sentence.split()[:_SUBJECT_WORDS]))
            else:
                goes = goes and refers_back(sentence, to_subject=is_subject)
            if goes:
                gone.append((start, place))
        return SentenceCut(text=text, gone=tuple(gone))

    def _occurs(self, word: str, words: set[str], folded: str) -> bool:
        if word in words or (is_unspaced(word) and word in folded):
            return True
        stems = self._stems[word]
        return any(
            stem == mine
            for other in words
            for stem, mine in zip(self._forms.get(other, ()), stems, strict=False)
            if mine
        )

    def _may_be_in(self, folded: str) -> bool:
        bare = _bare(folded)
        return all(beginning in bare for beginning in self.beginnings)

    def _is_copy(self, text: str) -> bool:
        """Whether it has a whole copied text, or is a part of one that is long enough to identify it."""
        if not self._copied:
            return False
        flat = _flat(text)
        if flat in self._copied:
            return True
        if _is_long(flat) and flat in self._all_copied:
            return True
        fitting = (copied for copied in self._long_copied if len(copied) <= len(flat))
        return any(copied in flat for copied in fitting)


def _some(words: Sequence[str], telling: tuple[str, ...]) -> tuple[str, ...]:
    if not telling:
        why = f"has only words that stand in any text ({' '.join(words[:5])}); name what to forget"
        raise InvalidInputError(what="topic", why=why)
    return telling


def _beginning(word: str, stems: tuple[str, ...]) -> str:
    """What a word and all that have one of its stems begin with: a stem may have another last letter."""
    bare = _bare(word)
    shared = [_shared(bare, _shorter(_bare(stem))) for stem in stems if stem]
    return min(shared, key=len, default=bare) or bare[:1]


def _shared(word: str, other: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))
    return "".join(char for char, _ in same)


def _shorter(stem: str) -> str:
    return stem[:-1] if len(stem) > 3 else stem  # noqa: PLR2004


def _bare(folded: str) -> str:
    """A text without the marks of its letters, which stems of some languages leave out."""
    if folded.isascii():
        return folded
    return "".join(
        char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char)
    )


def _is_long(flat: str) -> bool:
    return len(flat.split(maxsplit=_COPIED_WORDS - 1)) == _COPIED_WORDS


def _flat(text: str) -> str:
    return " ".join(normalised(text).split())
