"""The lexicon: frames, endings, classes of words and grammar, as four files of data that are validated once.

It stands apart from the code that uses it, so that a word is added in one obvious place.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from mnestic.activities.clients.english.phrases import Phrase, expanded, phrases_of

_HERE = Path(__file__).parent
FrameKind = Literal["state", "event", "end"]
_KINDS: tuple[FrameKind, ...] = ("state", "event", "end")


def _words(value: object) -> object:
    return frozenset(value.split()) if isinstance(value, str) else value


Words = Annotated[frozenset[str], BeforeValidator(_words)]
Verbs = Mapping[str, str]
_MODEL = ConfigDict(frozen=True, extra="forbid")


_SHORTEST_DOUBLED = 3  # letters


class Slot(NamedTuple):
    """Where the object of a frame stands, and which class it belongs to; `none` needs no object."""

    name: str
    word_class: str
    predicate: str


class OfMe(BaseModel):
    """Frames of verbs whose object is the one whom the fact is about."""

    model_config = _MODEL

    state: Verbs = {}
    event: Verbs = {}
    end: Verbs = {}


class Frames(BaseModel):
    """By which verbs, nouns and complements a predicate is stated; `frames.yaml` explains the fields."""

    model_config = _MODEL

    past: str = ""
    denied: str | None = None
    feeling: bool = False
    now_only: bool = False
    keepsake: bool = False
    opposite: str = ""
    dated: bool = False
    whole: bool = False
    participle: bool = False
    people_only: bool = False
    human: bool = False
    deeds: bool = False
    of_things: bool = False
    no_progressive: bool = False
    state: Verbs = {}
    event: Verbs = {}
    end: Verbs = {}
    of_me: OfMe = OfMe()
    nouns: tuple[str, ...] = ()
    needs: str = ""
    complements: tuple[str, ...] = ()
    with_us: tuple[str, ...] = ()
    parted: tuple[str, ...] = ()


class Ending(BaseModel):
    """Phrases that end what somebody had, and the predicates that they may end; `endings.yaml` explains the fields."""

    model_config = _MODEL

    of: tuple[str, ...]
    phrases: tuple[str, ...]
    fits: str = "thing"
    alone: bool = False
    by: bool = False
    strict: bool = False
    denied: bool = False
    lasting: bool = False
    owned: bool = False


class Parted(BaseModel):
    """Phrases by which two have parted, and the predicates that they may end."""

    model_config = _MODEL

    of: tuple[str, ...]
    phrases: tuple[str, ...]


class Over(Parted):
    """Words and phrases by which something is over, and the predicates that they may end."""

    words: frozenset[str]


class Dissolutions(BaseModel):
    """Nouns of what ends a state by having happened, and the phrases that say so."""

    model_config = _MODEL

    nouns: frozenset[str]
    phrases: tuple[str, ...]


class EndingFile(BaseModel):
    """`endings.yaml`."""

    model_config = _MODEL

    classes: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, Ending]
    parted: Parted
    over: Over
    given_up: Mapping[str, tuple[str, ...]]
    state_nouns: Mapping[str, tuple[str, ...]]
    spent_nouns: Mapping[str, tuple[str, ...]]
    dissolutions: Dissolutions
    died: frozenset[str]


class Ends:
    """The phrases of `endings.yaml`, by the verbs that they may begin with."""

    def __init__(self, file: EndingFile) -> None:
        self.file = file
        self.parted = phrases_of(file.parted.phrases, file.classes)
        self.over = phrases_of(file.over.phrases, file.classes)
        self.dissolved = phrases_of(file.dissolutions.phrases, file.classes)
        self._by_verb: dict[str, list[tuple[Phrase, Ending]]] = {}
        for ending in file.phrases.values():
            for phrase in phrases_of(ending.phrases, file.classes):
                self._by_verb.setdefault(phrase.verb, []).append((phrase, ending))

    def beginning_with(self, verbs: Iterable[str]) -> Iterator[tuple[Phrase, Ending]]:
        """The phrases that begin with one of the verbs."""
        for verb in dict.fromkeys(verbs):
            yield from self._by_verb.get(verb, ())


class FrameFile(BaseModel):
    """`frames.yaml`."""

    model_config = _MODEL

    verbs: Mapping[str, tuple[str, ...]]
    predicates: Mapping[str, Frames]
    swaps: Mapping[str, tuple[str, str]]
    swapped: tuple[str, ...]
    favourite: frozenset[str]
    favourites: Mapping[str, str]
    posts: tuple[str, ...]
    job_endings: str
    stand_ins: tuple[str, ...]
    names: tuple[str, ...]
    dates_of: Mapping[str, frozenset[str]]


class Kin(NamedTuple):
    """What a noun says that somebody is to somebody."""

    predicate: str
    gender: str
    is_close: bool
    beside: frozenset[str] | None


class _KinWords(BaseModel):
    model_config = _MODEL

    words: Words
    close: bool = False
    beside: Words | None = None


class Introductions(BaseModel):
    """How speakers say who they are."""

    model_config = _MODEL

    sure: tuple[str, ...]
    likely: tuple[str, ...]


class Grammar(BaseModel):
    """`grammar.yaml`."""

    model_config = _MODEL

    copulas: Words
    conditions: Words
    governing: Words
    modals: Words
    auxiliaries: Words
    like_nouns: Words
    limits: Words
    unlimited: Words
    hedges: Words
    irrealis: Words
    pastimes: Words
    wishes: Words
    reports: Words
    own_reports: Words
    weak_nouns: Words
    barely: Words
    untrue: Words
    less: frozenset[str]
    undone: frozenset[str]
    planning: Words
    deeds: Words
    human_verbs: Words
    starts: Words
    stops: Words
    no_more: frozenset[str]
    recent: Words
    again: Words
    mask_value: Words
    vague: Words
    pointing: Words
    articles: Words
    dropped_modifiers: Words
    fiction: frozenset[str]
    cited: frozenset[str]
    first_person: Words
    female: Words
    male: Words
    corrections: frozenset[str]
    introductions: Introductions
    greetings: Words
    contact: Words
    contact_of_others: Words
    contact_defunct: Words
    call_me: Words
    callers: Words
    purpose_heads: Words
    kin: Mapping[str, _KinWords]
    bare_kin: Words
    same_kin: Mapping[str, str]
    gone: Words
    units: Words
    definite: Words
    trailing: Words
    loose_prepositions: Words
    bare_pastimes: Words
    bygone: Words
    naming_verbs: Words
    liking: Words
    personal: Words
    musing: Words
    contractions: Mapping[str, str]
    after_is: frozenset[str]
    lead_ins: frozenset[str]

    @cached_property
    def kin_of(self) -> Mapping[str, Kin]:
        """Noun -> what it says."""
        return {
            noun: Kin(predicate, gender, each.close, each.beside)
            for predicate, each in self.kin.items()
            for noun, _, gender in (word.partition(":") for word in each.words)
        }


class Lexicon:
    """Frames by key, nouns by their words, and classes of words."""

    def __init__(
        self,
        *,
        frames: FrameFile,
        endings: EndingFile,
        grammar: Grammar,
        classes: Mapping[str, frozenset[str]],
    ) -> None:
        self.frames, self.grammar, self.classes = frames, grammar, classes
        self.ends = Ends(endings)
        self.predicates = frames.predicates
        self.nouns = {noun: name for name, each in self.predicates.items() for noun in each.nouns}
        self.pasts = {each.past for each in self.predicates.values() if each.past}
        self.complements = [
            (word_class, name)
            for name, each in self.predicates.items()
            for word_class in each.complements
        ]
        self._slots: dict[tuple[str, str], list[Slot]] = {}
        for name, each in self.predicates.items():
            for kind in _KINDS:
                self._add(kind, getattr(each, kind), name)
                self._add(f"me_{kind}", getattr(each.of_me, kind), name)

    def slots(self, kind: str, key: str) -> list[Slot]:
        """The slots of the frames of a kind that a key has."""
        return self._slots.get((kind, key), [])

    def all_slots(self) -> Iterator[Slot]:
        """The slots of all frames."""
        for row in self._slots.values():
            yield from row

    @staticmethod
    def gerund(verb: str) -> str:
        """The -ing form of a verb: "running", "cycling", "skiing"."""
        if verb.endswith("e") and not verb.endswith(("ee", "ye")):
            return f"{verb[:-1]}ing"
        is_short = (
            len(verb) >= _SHORTEST_DOUBLED
            and verb[-1] in "bdgmnprt"
            and verb[-2] in "aeiou"
            and verb[-3] not in "aeiou"
        )
        is_doubled = is_short and sum(letter in "aeiou" for letter in verb) == 1
        return f"{verb}{verb[-1]}ing" if is_doubled else f"{verb}ing"

    def _add(self, kind: str, verbs: Verbs, predicate: str) -> None:
        for text, row in verbs.items():
            for key in expanded(text, self.frames.verbs):
                self._slots.setdefault((kind, key), []).extend(_slots_of(row, predicate))


def _slots_of(row: str, predicate: str) -> Iterator[Slot]:
    """The slots of a row; a slot may have several words, as in `out of:place`."""
    words: list[str] = []
    for part in row.split():
        name, colon, word_class = part.partition(":")
        words.append(name)
        if colon or name == "none":
            yield Slot(" ".join(words), word_class, predicate)
            words = []
    if words:
        raise ValueError(f"{predicate}: a slot without a class: {' '.join(words)}")


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The lexicon of the package, loaded once.

    Raises:
        ValueError: the files are not what the models say.
    """
    classes = TypeAdapter(Mapping[str, Words]).validate_python(_load("words.yaml"))
    return Lexicon(
        frames=FrameFile.model_validate(_load("frames.yaml")),
        endings=EndingFile.model_validate(_load("endings.yaml")),
        grammar=Grammar.model_validate(_load("grammar.yaml")),
        classes=classes,
    )


def _load(name: str) -> object:
    return yaml.load((_HERE / name).read_text("utf-8"), yaml.BaseLoader)  # noqa: S506 - makes nothing but text
