"""Subjects by name: which subjects of an agent's facts somebody means who gives a name of theirs, and namesakes.

Who is meant is one rule for every list.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from mnestic.memory.errors import InvalidInputError
from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.facts import Fact
from mnestic.memory.knowledge.predicates import default_predicate

_PET = "pet"
USER = "user"  # the key of an agent's user, who has no other name
_MOST_LISTED = 10  # candidates that an error names


class NamedSubject(NamedTuple):
    """A subject that a name may mean: because it `is` its own, is an `alias`, or the `first` of several words.

    `key` is the subject's, `subject` how facts spell it.
    """

    by: Literal["is", "alias", "first"]
    key: str
    subject: str


def choose_subjects(
    name: str, found: Sequence[NamedSubject], *, is_strict: bool = True
) -> tuple[str, ...]:
    """The keys of the one whom a name means, their own first; none where nobody is known by it.

    A subject of just that name is meant, and whoever has it as another name: by what is known, they are one.
    If several have it, the subject itself is meant, if there is one. A first name means the one subject whose
    name, or other name, begins with it.

    Raises:
        InvalidInputError: it is a name of several, and `is_strict`; names them.
    """
    itself = [one.key for one in found if one.by == "is"]
    called = {one.key: one.subject for one in found if one.by == "alias" and one.key not in itself}
    if itself and len(called) != 1:
        return tuple(itself)
    if not (itself or called):
        called = {one.key: one.subject for one in found if one.by == "first"}
    if len(called) > 1 and not is_strict:
        return ()
    if len(called) > 1:
        raise InvalidInputError(what="subject", why=_ambiguous(name, sorted(called.values())))
    return (*called, *itself)


def spelt(key: str, facts: Iterable[Fact], *, otherwise: str) -> str:
    """How facts spell the subject of a key; `otherwise` if none is about it."""
    return next((fact.subject for fact in facts if name_key(fact.subject) == key), otherwise)


def _ambiguous(name: str, subjects: Sequence[str]) -> str:
    listed = ", ".join(subjects[:_MOST_LISTED])
    more = f" and {len(subjects) - _MOST_LISTED} more" if len(subjects) > _MOST_LISTED else ""
    return f"{name!r} is a name of several: {listed}{more}; say which of them"


class DescribedName(NamedTuple):
    """A name that a message gives together with a relation, as in "my brother Otto" of Lena.

    `subject` is how facts name this one apart from namesakes: "Otto (sibling of Lena)".
    """

    name: str
    subject: str
    is_pet: bool


class NamingMessage(NamedTuple):
    """A message with its speaker's key and its claims."""

    speaker: str
    claims: tuple[Extracted, ...]

    @property
    def described(self) -> tuple[DescribedName, ...]:
        """The names that its claims describe by a relation, each once. A name with several relations is left out."""
        found: defaultdict[str, set[DescribedName]] = defaultdict(set)
        for claim in self.claims:
            is_relation = claim.predicate == _PET or _is_relation(claim.predicate)
            if is_relation and claim.kind in {"affirmed", "corrected"} and claim.object:
                relation = claim.predicate.replace("_", " ")
                subject = f"{claim.object} ({relation} of {claim.subject})"
                one = DescribedName(claim.object, subject, is_pet=claim.predicate == _PET)
                found[name_key(claim.object)].add(one)
        return tuple(one for names in found.values() if len(names) == 1 for one in names)


def separate_namesakes(
    messages: Sequence[NamingMessage],
    *,
    known: Mapping[str, Collection[str]],
    speakers: Collection[str],
) -> list[tuple[Extracted, ...]]:
    """The claims of messages, where those about a described name are about the described one alone if it has namesakes.

    Others who have the name are described otherwise, or speak themselves, or a bare name contradicts what is said of a
    pet. Without any, the bare name stands for the described one, so that later messages can say more of it.

    Args:
        messages: In any order.
        known: The keys of described ones that are known already, by the key of their name.
        speakers: Keys of all who are known to speak.
    """
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    for name, subjects in known.items():
        bearers[name].update(subjects)
    for message in messages:
        for one in message.described:
            bearers[name_key(one.name)].add(name_key(one.subject))
    speaking = {*speakers, *(message.speaker for message in messages)}
    separated = []
    for message in messages:
        renamed = {
            name_key(one.name): one.subject
            for one in message.described
            if bearers[name_key(one.name)] - {name_key(one.subject)}
            or name_key(one.name) in speaking
            or (one.is_pet and _is_contradicted(one, message, messages))
        }
        separated.append(tuple(_renamed(claim, renamed) for claim in message.claims))
    return separated


def is_described(subject_key: str, *, name: str) -> bool:
    """Whether the key of a subject is that of a described one of this name."""
    return subject_key.startswith(f"{name} (")


def _is_relation(predicate: str) -> bool:
    return default_predicate(predicate).category == "relationships"


def _renamed(claim: Extracted, renamed: Mapping[str, str]) -> Extracted:
    subject = renamed.get(name_key(claim.subject))
    return claim if subject is None else claim.model_copy(update={"subject": subject})


def _is_contradicted(
    one: DescribedName, message: NamingMessage, messages: Sequence[NamingMessage]
) -> bool:
    """Whether another message gives the bare name another value of a predicate that has one at a time."""
    values = {
        claim.predicate: name_key(claim.object or "")
        for claim in message.claims
        if name_key(claim.subject) == name_key(one.name)
        and default_predicate(claim.predicate).cardinality == "single"
    }
    bare = [
        each
        for each in messages
        if all(name_key(name.name) != name_key(one.name) for name in each.described)
    ]
    return any(
        name_key(claim.subject) == name_key(one.name)
        and values.get(claim.predicate, name_key(claim.object or ""))
        != name_key(claim.object or "")
        for each in bare
        for claim in each.claims
    )
