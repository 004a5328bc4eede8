"""The verbs that the rules know, in all their forms.

It stands apart because clauses are read by the forms, and patterns are kept by the verb itself.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from typing import Literal

Form = Literal["base", "s", "past", "participle", "ing"]

_REGULAR = (
    "live reside move relocate work start join quit resign retire graduate study manage like love enjoy "
    "adore prefer hate dislike detest loathe own adopt visit travel marry date separate divorce turn "
    "attend learn play speak cancel drop postpone scrap abandon plan intend decide want need hope wish "
    "stop finish sign register book enrol enroll withdraw guess believe suppose imagine pretend dream "
    "claim wonder ask doubt suspect expect assume try consider pass twist sprain injure complete "
    "discover call name rent play smoke bake garden cycle surf row sail skate box meditate camp fish jog "
    "hike climb dance paint knit ski fire hire promote land accept care mention promise reckon gather "
    "worry fear joke report announce insist suggest recommend offer warn seem appear look feel happen "
    "use volunteer collect practise practice train stay talk watch listen walk cook help follow miss "
    "relocate emigrate immigrate push reschedule shift delay sack switch change swap return wait scream celebrate share support hand tender"
).split()
_IRREGULAR = """
go goes went gone going
be is was been being
have has had had having
do does did done doing
get gets got got getting
eat eats ate eaten eating
drink drinks drank drunk drinking
run runs ran run running
swim swims swam swum swimming
sing sings sang sung singing
draw draws drew drawn drawing
sew sews sewed sewn sewing
speak speaks spoke spoken speaking
teach teaches taught taught teaching
leave leaves left left leaving
quit quits quit quit quitting
begin begins began begun beginning
buy buys bought bought buying
sell sells sold sold selling
fly flies flew flown flying
take takes took taken taking
make makes made made making
know knows knew known knowing
think thinks thought thought thinking
say says said said saying
tell tells told told telling
hear hears heard heard hearing
read reads read read reading
write writes wrote written writing
mean means meant meant meaning
find finds found found finding
give gives gave given giving
put puts put put putting
break breaks broke broken breaking
hurt hurts hurt hurt hurting
win wins won won winning
lose loses lost lost losing
lead leads led led leading
grow grows grew grown growing
become becomes became become becoming
split splits split split splitting
come comes came come coming
keep keeps kept kept keeping
bring brings brought brought bringing
see sees saw seen seeing
stand stands stood stood standing
learn learns learnt learnt learning
dream dreams dreamt dreamt dreaming
swear swears swore sworn swearing
feel feels felt felt feeling
plan plans planned planned planning
stop stops stopped stopped stopping
drop drops dropped dropped dropping
scrap scraps scrapped scrapped scrapping
cancel cancels cancelled cancelled cancelling
travel travels travelled travelled travelling
prefer prefers preferred preferred preferring
study studies studied studied studying
marry marries married married marrying
enrol enrols enrolled enrolled enrolling
jog jogs jogged jogged jogging
knit knits knitted knitted knitting
submit submits submitted submitted submitting
swap swaps swapped swapped swapping
spend spends spent spent spending
meet meets met met meeting
forget forgets forgot forgotten forgetting
pull pulls pulled pulled pulling
lay lays laid laid laying
"""
# What such a verb governs is somebody's thought or word, and not a fact.
OPAQUE = frozenset(
    "guess believe suppose imagine pretend dream claim wonder ask doubt suspect assume think say tell hear "
    "read write mean joke report announce insist suggest recommend warn seem appear wish hope reckon "
    "gather fear worry swear offer promise consider mention feel know".split()
)


def _forms() -> dict[str, tuple[tuple[str, Form], ...]]:
    names: tuple[Form, ...] = ("base", "s", "past", "participle", "ing")
    found: dict[str, list[tuple[str, Form]]] = {}
    rows = [line.split() for line in _IRREGULAR.split("\n") if line]
    known = {row[0] for row in rows}
    rows += [_regular(verb) for verb in _REGULAR if verb not in known]
    for row in rows:
        lemma = row[0]
        for form, text in zip(names, row, strict=True):
            if (lemma, form) not in found.setdefault(text, []):
                found[text].append((lemma, form))
    for text in ("canceled", "traveled", "canceling", "traveling", "learned", "dreamed"):
        lemma = text.removesuffix("ed").removesuffix("ing")
        found[text] = (
            [(lemma, "ing")] if text.endswith("ing") else [(lemma, "past"), (lemma, "participle")]
        )
    found["gotten"] = [("get", "participle")]
    return {text: tuple(pairs) for text, pairs in found.items()}


def _regular(verb: str) -> list[str]:
    stem = verb.removesuffix("e")
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        third, past = f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    else:
        past = f"{stem}ed"
    return [verb, third, past, past, f"{stem}ing"]


FORMS = _forms()
"""Form of a verb -> each verb that it may be of, and as what."""
GERUNDS = {lemma: text for text, pairs in FORMS.items() for lemma, form in pairs if form == "ing"}
"""Verb -> its gerund, of two spellings the later."""
