"""Statements: what a clause states by the frames of its verb.

It stands apart because here, and only here, a frame and a status together become facts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from spacy.tokens import Token

from mnestic.activities.clients.english.claiming import (
    Reading,
    Times,
    claim_of_clause,
    moves_home,
    moves_thing,
    times_of,
)
from mnestic.activities.clients.english.clauses import Clause
from mnestic.activities.clients.english.lexicon import Frames, Slot
from mnestic.activities.clients.english.objects import value_of
from mnestic.activities.clients.english.people import Person
from mnestic.activities.clients.english.status import State, is_limited
from mnestic.activities.clients.english.trees import (
    children,
    clause_text,
    is_let_go,
    lemma,
    verb_key,
)
from mnestic.memory.knowledge.claims import ClaimKind
from mnestic.memory.knowledge.extraction import Extracted

_DONE = frozenset({State.PAST, State.PERFECT})
_TOPICS = ("of", "on", "for", "to", "in", "dative")
_OFFICES = frozenset({"me", "us", "hr", "work", "management"})
_AT_TIMES = frozenset({"when", "while", "whenever"})
_ASIDE = frozenset({"when", "while", "after", "before", "until"})
_EARLY = frozenset({"early", "late", "later"})
_HOMES = frozenset({"lives_in", "lived_in"})
_STARTS = frozenset({"start", "begin", "join"})
_YOUNG = frozenset({"child", "grandchild", "niece_or_nephew"})
_LISTED = frozenset({"play", "learnable", "beverage", "edible"})  # classes that are lists of nouns
_JOINING = frozenset({"punct", "cc", "conj"})
_BARE = frozenset({"advmod", "mod", "self", "npadvmod"})


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame that a clause fills: of whom, in which slot, and how the verb states it."""

    clause: Clause
    person: Person
    slot: Slot
    kind: str
    times: Times
    reading: Reading
    is_denying: bool = False

    @property
    def frames(self) -> Frames:
        """What the lexicon says of the predicate."""
        return self.reading.lexicon.predicates[self.slot.predicate]

    @property
    def state(self) -> State:
        """What the clause says of its verb."""
        return self.clause.status.state

    def claim(
        self, value: str | None, predicate: str = "", kind: ClaimKind = "affirmed"
    ) -> Extracted:
        """A claim without times."""
        predicate = predicate or self.slot.predicate
        return claim_of_clause(self.clause, self.person.subject, predicate, value, kind=kind)


def statements_of(clause: Clause, reading: Reading) -> Iterator[Extracted]:
    """The claims that a clause makes by its verb."""
    if clause.status.state is State.NONE:
        return
    for person in clause.subjects:
        yield from _by_frames(clause, person, reading, lead="")
    whom = [token for name in ("dobj", "dative") for token in clause.slots.get(name, ())]
    whom += [each for child in children(clause.verb, "ccomp") for each in children(child, "nsubj")]
    if any(token.lower_ in {"me", "us"} for token in whom):  # "Acme hired me", "olives disgust me"
        me = Person(reading.cast.speaker)
        slots = {**clause.slots, "subj": list(clause.subject_tokens)}
        inverse = replace(clause, subjects=(me,), subject_tokens=(), slots=slots)
        yield from _by_frames(inverse, me, reading, lead="me_")


def _by_frames(
    clause: Clause, person: Person, reading: Reading, *, lead: str
) -> Iterator[Extracted]:
    times = times_of(clause, reading)
    for kind in ("state", "event", "end"):
        for key in _keys(clause):
            for slot in reading.lexicon.slots(f"{lead}{kind}", key):
                is_denying = key.startswith("not:")
                frame = _Frame(clause, person, slot, kind, times, reading, is_denying)
                yield from _of_frame(frame, key)


def _keys(clause: Clause) -> Iterator[str]:
    """The keys of a clause, also as it is denied, as it lasts, and as it is so again."""
    yield from clause.keys
    is_long = any(lemma(token) in {"year", "month", "decade"} for token in clause.verb.subtree)
    if clause.status.lasts and is_long:
        yield from (f"lasting:{key}" for key in clause.keys)
    if any(child.lower_ == "again" for child in children(clause.verb, "advmod")):
        yield from (f"again:{key}" for key in clause.keys)
    if clause.status.is_progressive:
        yield from (f"doing:{key}" for key in clause.keys)
    if clause.status.state is State.NEGATED:
        yield from (f"not:{key}" for key in clause.keys)


def _of_frame(frame: _Frame, key: str) -> Iterator[Extracted]:
    if frame.kind != "end" and frame.frames.people_only and frame.person.kin == "pet":
        return
    tokens = [] if _is_of_other(frame, key) else _tokens_of(frame)
    if frame.kind == "state":
        yield from _contrasted(frame)
    if frame.slot.name == "none":
        yield from _without_object(frame, key)
    elif frame.slot.word_class.endswith("!"):
        if tokens and frame.state in {State.NOW, *_DONE}:
            yield frame.claim(None, kind="ended")
    elif not tokens and frame.state is State.ENDED and frame.kind == "state" and _is_bare(frame):
        yield frame.claim(None, kind="ended")
    else:
        yield from _with_objects(frame, tokens)


def _is_of_other(frame: _Frame, key: str) -> bool:
    """Whether an event is another's than a person's who moves or works: "I moved the desk to Bath", a pupil's start."""
    if frame.kind == "state" or ":" in key:
        return False
    verb, reading = frame.clause.verb, frame.reading
    if frame.slot.predicate in _HOMES and frame.slot.name != "dobj":
        is_within = frame.slot.name == "in" and any(
            reading.classes.fits(token, "place") for token in frame.clause.slots.get("to", ())
        )  # "to Split in Croatia"
        is_move = verb_key(verb).startswith("move")
        is_elsewhere = is_move and not moves_home(frame.clause, reading)
        return is_within or is_elsewhere or moves_thing(verb, reading)
    is_start = frame.slot.predicate == "employer" and lemma(verb) in _STARTS
    is_school = any(
        reading.classes.is_of(word, "schooling")
        for token in frame.clause.slots.get(frame.slot.name, ())
        for word in (token, *children(token, "compound", "nmod"))
    )
    is_child = lemma(verb) != "join" and frame.person.kin in _YOUNG
    return is_start and (is_school or is_child)


def _contrasted(frame: _Frame) -> Iterator[Extracted]:
    """As in "I live in Split, not in Zadar", "not in Bonn but in Cologne"."""
    name, is_denied = frame.slot.name, frame.state is State.NEGATED
    lead, kind = ("but", "affirmed") if is_denied else ("not", "ended")
    for token in _tokens_of(replace(frame, slot=frame.slot._replace(name=f"{lead} {name}"))):
        value = value_of(token, frame.slot, frame.reading)
        if is_denied or frame.state is State.NOW:
            yield frame.claim(value, kind="affirmed" if kind == "affirmed" else "ended")


def _with_objects(frame: _Frame, tokens: list[Token]) -> Iterator[Extracted]:
    if frame.kind == "event" and not _can_have_happened(frame):
        return
    if (
        frame.kind == "end"
        and frame.slot.word_class == "workplace"
        and is_for_the_day(frame.clause)
    ):
        return
    if frame.kind == "event" and any(child.lower_ == "then" for child in frame.clause.verb.subtree):
        tokens = tokens[-1:]  # "to Rome, then back to Milan"
    make = {"state": _is_so, "event": _happened, "end": _ended}[frame.kind]
    for token in tokens:
        if frame.slot.word_class == "pet" and frame.reading.cast.names_of(token):
            continue  # it has a name, and is known by that
        value = value_of(token, frame.slot, frame.reading, is_whole=frame.frames.whole)
        if value and value.casefold() != frame.person.subject.casefold():
            yield from make(frame, value)


def _without_object(frame: _Frame, key: str) -> Iterator[Extracted]:
    """An end without an object: of whatever there was."""
    if frame.kind != "end":
        return
    has_other = bool(frame.clause.slots.get("dobj")) and ":" not in key
    slots = frame.reading.lexicon.slots("end", key) + frame.reading.lexicon.slots("me_end", key)
    others = [one for one in slots if one.predicate == frame.slot.predicate and one.name != "none"]
    is_filled = any(_tokens_of(replace(frame, slot=one)) for one in others)
    if (
        not is_filled
        and not _is_about_other(frame)
        and (not has_other or ("dobj" not in {one.name for one in slots} and _is_of_me(frame)))
    ):
        yield from _ended(frame, None)


def _is_about_other(frame: _Frame) -> bool:
    """Whether an end is of something else: "notice to my landlord", "retired to bed"."""
    clause, cast, values = frame.clause, frame.reading.cast, frame.reading.values
    others = [token for name in _TOPICS for token in clause.slots.get(name, ())]
    others += filter(cast.is_kin, clause.slots.get("dobj", ()))
    if any(
        token.lower_ not in _OFFICES
        and not values.is_date(token)
        and cast.kin_predicate(token) != "team_leader"
        for token in others
    ):
        return True
    clauses = [each for each in children(clause.verb, "ccomp", "xcomp") if not is_let_go(each)]
    clauses += [each for each in children(clause.verb, "advcl") if each.tag_ == "VB"]
    clauses += [each for noun in clause.slots.get("dobj", ()) for each in children(noun, "acl")]
    return bool(clauses) or (frame.frames.human and (clause.is_us or bool(clause.slots.get("as"))))


def _is_of_me(frame: _Frame) -> bool:
    return any(token.lower_ in {"me", "us"} for token in frame.clause.slots.get("dobj", ()))


def _can_have_happened(frame: _Frame) -> bool:
    """Whether an event makes something so: not for a while, nor for somebody else, nor of a firm."""
    slots, frames, reading = frame.clause.slots, frame.frames, frame.reading
    if frames.keepsake and _is_given(frame):
        return False
    if frames.human and not reading.cast.is_human(frame.person):
        return False
    if any(reading.values.is_date(token) for token in slots.get("for", ())):
        return False  # "I've gone vegan for January"
    roles = slots.get("as", ())
    is_role = any(reading.classes.fits(token, "role") for token in roles)
    return not frames.human or not roles or is_role or frame.slot.name != "at"


def _is_given(frame: _Frame) -> bool:
    """Whether it is for somebody else: "I bought my sister a car"."""
    clause, own = frame.clause, {"me", "us", "myself"}
    is_for_others = any(token.lower_ not in own for token in clause.slots.get("for", ()))
    objects = clause.slots.get("dobj", ())
    is_two = len(children(clause.verb, "dobj")) > 1 or any(
        children(each, "appos") for each in objects
    )
    is_for_others = is_for_others or (is_two and frame.reading.cast.is_kin(objects[0]))
    return is_for_others or bool(children(clause.verb, "dative"))


def _tokens_of(frame: _Frame) -> list[Token]:
    slots, slot = frame.clause.slots, frame.slot
    tokens = slots.get(slot.name, ())
    if slot.name == "topic" and not slots.get("to"):
        tokens = _topic(frame.clause)
    return [token for token in (*tokens, *_misread(frame)) if _fits(token, frame)]


def _misread(frame: _Frame) -> list[Token]:
    """What a parse takes for a verb after the object of another, as in "I play tennis and squash"."""
    if frame.slot.name != "dobj" or frame.slot.word_class not in _LISTED:
        return []
    verbs = [frame.clause.verb, *frame.clause.slots.get("dobj", ())]
    joined = [child for verb in verbs for child in children(verb, "conj") if child.pos_ == "VERB"]
    return [one for one in joined if all(child.dep_ in _JOINING for child in one.children)]


def _fits(token: Token, frame: _Frame) -> bool:
    word_class = frame.slot.word_class.rstrip("!")
    if word_class == "person" and token.lower_ in {"me", "us"}:
        speaker = frame.reading.cast.speaker
        return all(person.subject != speaker for person in frame.clause.subjects)
    return frame.reading.classes.fits(token, word_class)


def _topic(clause: Clause) -> list[Token]:
    """What was spoken of right before, as in "Peanuts could kill me, I'm allergic"."""
    before = [token for token in clause.verb.doc if token.i < clause.verb.i]
    return [token for token in before if token.dep_ == "nsubj" and token.tag_ == "NNS"][-1:]


def _is_bare(frame: _Frame) -> bool:
    """Whether a clause says nothing but its verb, as in "I don't work there any more"."""
    return not any(row for name, row in frame.clause.slots.items() if name not in _BARE)


def _is_so(frame: _Frame, value: str) -> Iterator[Extracted]:
    """A state, by its status."""
    state, frames = frame.state, frame.frames
    if frames.denied or frames.feeling:  # what somebody likes, eats and drinks, or does not
        is_denied, verb = state is State.NEGATED or not frames.denied, frame.clause.verb
        if is_limited(verb, frame.reading.lexicon.grammar, is_denied=is_denied):
            return
    if frame.is_denying or _is_now(frame):
        times = {"valid_from": frame.times.starts, "valid_to": frame.times.ends}
        yield frame.claim(value).model_copy(update=times)
        if frames.opposite:
            yield frame.claim(value, frames.opposite, "ended")
    elif state in {State.NEGATED, State.NEVER}:
        yield from _is_not_so(frame, value)
    elif state is State.ENDED:
        yield from _ended(frame, value)
    is_over = state is State.ENDED or (
        state is State.PAST and not frame.clause.status.is_progressive
    )
    if frames.past and is_over:
        yield frame.claim(value, frames.past)


def _is_not_so(frame: _Frame, value: str) -> Iterator[Extracted]:
    """What is denied: it has ended, or it never was so."""
    frames = frame.frames
    if frame.state is State.NEGATED:
        yield frame.claim(value, kind="ended")
        if frames.denied:
            yield frame.claim(value, frames.denied)
    elif not frames.feeling:
        yield frame.claim(value, kind="retracted")


def _is_now(frame: _Frame) -> bool:
    """Whether it is so: now, or since some time; of a habit, being at it just now is none."""
    status, frames = frame.clause.status, frame.frames
    if status.state is State.PERFECT:
        return status.lasts and not frames.now_only
    is_busy = status.is_progressive and not any(key.startswith("be:") for key in frame.clause.keys)
    is_bound = is_busy or is_at_times(frame.clause)
    return status.state is State.NOW and not (
        is_bound and (frames.feeling or frames.no_progressive)
    )


def _happened(frame: _Frame, value: str) -> Iterator[Extracted]:
    """An event, by its status: what has happened is so since then."""
    state, frames, clause = frame.state, frame.frames, frame.clause
    if frames.participle:
        value = f"{clause.verb.lower_} {value}"
    kind: ClaimKind = "corrected" if frame.reading.is_correction else "affirmed"
    if state in _DONE and not _is_aside(clause):
        is_past = frame.slot.predicate in frame.reading.lexicon.pasts
        begins = None if is_past else frame.times.begins
        yield frame.claim(value, kind=kind).model_copy(update={"valid_from": begins})
    elif state is State.NOW and not clause.status.is_progressive and not frames.dated:
        ahead = times_of(clause, frame.reading, tense="future")
        begins = ahead.begins or frame.times.begins
        is_ahead = clause.verb.tag_ in {"VBP", "VBZ"} and begins is not None
        if is_ahead or children(clause.verb, "auxpass"):
            yield frame.claim(value).model_copy(update={"valid_from": begins})
    elif state is State.NEVER:
        yield frame.claim(value, kind="retracted")


def _is_aside(clause: Clause) -> bool:
    """Whether a clause only says when something else was: "when I moved to Lima"."""
    words = {child.lower_ for child in clause.verb.children}
    return clause.verb.dep_ == "advcl" and not words.isdisjoint(_ASIDE)


def _ended(frame: _Frame, value: str | None) -> Iterator[Extracted]:
    """What is so no longer; what somebody is about to leave ends on the day that is named."""
    state, status = frame.state, frame.clause.status
    is_done = state in _DONE or (frame.kind == "state" and state is State.ENDED)
    is_passive = state is State.NOW and bool(children(frame.clause.verb, "auxpass"))
    is_ahead = state is State.NOW and status.is_progressive
    is_state = state is State.NOW and lemma(frame.clause.verb) == "be"
    if not _is_aside(frame.clause) and (is_done or is_passive or (value and is_ahead) or is_state):
        claim = frame.claim(value, kind="ended")
        yield claim.model_copy(update={"valid_to": frame.times.begins})


def is_for_the_day(clause: Clause) -> bool:
    """Whether somebody left at an hour, and comes back tomorrow: "I left Acme at six", "early"."""
    hours = [
        token
        for token in clause.slots.get("at", ())
        if token.ent_type_ == "TIME" or token.pos_ == "NUM"
    ]
    early = [token for token in clause.slots.get("advmod", ()) if token.lower_ in _EARLY]
    return bool(hours or early)


def is_at_times(clause: Clause) -> bool:
    """Whether it is so at times only: "I'm Irish when it suits me", "I only like tea when I'm ill"."""
    asides = [word for child in children(clause.verb, "advcl") for word in child.children]
    return clause.status.state is State.NOW and any(word.lower_ in _AT_TIMES for word in asides)


def is_habitual(verb: Token, reading: Reading) -> bool:
    """Whether a clause says that something is done regularly: "twice a week", "on Thursdays"."""
    text = f" {clause_text(verb)} "
    is_again = not reading.lexicon.grammar.again.isdisjoint(text.split())
    is_weekly = any(
        token.lower_.endswith("days") and token.tag_ in {"NNS", "NNPS"} for token in verb.subtree
    )
    is_counted = any(each in text for each in (" times a ", " once a ", " twice a "))
    return is_again or is_weekly or is_counted
