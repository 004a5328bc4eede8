"""The patterns: which verb, with which words after it, says which fact. Data, and no code.

A pattern is tried at the beginning of what follows its verb, dates blanked out by a bar. Its kind says
what tenses and denials make of it; `meanings` does that. No pattern repeats what it repeats inside,
and what it reads is short, so that reading takes time in proportion to the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from mnestic.activities.clients.rules.lexicon import (
    EVENTS,
    INSTRUMENTS,
    JUDGED,
    KIN,
    LANGUAGES,
    NATIONALITIES,
    ORGANISATIONS,
    OWNED,
    PETS,
    PROFESSIONS,
    SPORTS,
)
from mnestic.memory.language.numbers import CARDINAL, ORDINAL

Kind = Literal["state", "habit", "feeling", "event", "trip", "end", "plan", "dropped", "self"]
"""What a verb tells of.

state    something that is so: "live", "work"
habit    something done again and again: "drink"; being at it just now is none
feeling  "like", whose denial is a fact of its own
event    something that has happened: "moved", "visited"
trip     a journey: made, planned or wished
end      something that is so no longer: "left Acme", "sold the car"
plan     something arranged: "signed up for", "booked"
dropped  a plan that was given up: "cancelled the trip"
self     who the speaker is: "I'm Anna"
"""

Reading = Literal["name", "phrase", "list", "food", "text", "verbatim", "deed"]
"""How the object is read: as a name, one noun, a list of them, of food, of names; as it stands; with its verb."""


class Pattern(NamedTuple):
    """One row: what has to follow the verb (`rest`), and what that says.

    `past` is the predicate of what was so, `denied` of what is not. `also` are more facts of the same
    words, as predicate and group. `is_of_me` says that the object of the verb is whom the fact is of.
    """

    verbs: str
    rest: str
    predicate: str
    kind: Kind = "state"
    object: str = "x"
    reading: Reading = "phrase"
    past: str = ""
    denied: str = ""
    also: tuple[tuple[str, str], ...] = ()
    is_of_me: bool = False


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_U = "A-Z\u00c0-\u00de\u0100-\u017f"
_CAP = rf"(?!(?:I|Im|Ive|Id|Ill)\b)[{_U}][\w&.-]*(?<![.-])(?!\w)"
_SAINT = r"(?:St|Ste|Mt|Ft)\. "
PLACE = _PLACE = (
    rf"(?:the )?(?:{_SAINT})?(?!{_SAINT}){_CAP}(?:[ -](?:(?:de|del|la|le|upon|am|an der|of|the) )?{_CAP}){{0,3}}(?!'s|\w)"
)
NAME = _NAME = rf"{_CAP}(?: {_CAP}){{0,2}}(?!'s|\w)"
_ORGHEAD = rf"(?:{_any(ORGANISATIONS)})"
_ORG = rf"(?:the |an? )?(?:{_SAINT})?(?!{_SAINT}){_CAP}(?:'s)?(?: (?:of |and |& )?{_CAP}(?:'s(?= (?:[{_U}]|{_ORGHEAD}\b)))?){{0,3}}(?: {_ORGHEAD}\b)?"
_WORKPLACE = rf"(?:{_any(ORGANISATIONS - {'company', 'firm', 'gym'})})"
_A_WORKPLACE = rf"an? (?:(?:new|different|small|big|little|local|nice|great|lovely|busy|large) ){{0,2}}(?P<x>(?:[a-z-]+ )?{_WORKPLACE})\b"
_JOBWORD = rf"(?:(?!no\b|hardly\b|a\b|an\b|of\b|in\b|with\b|for\b|and\b|at\b|on\b|my\b|your\b|the\b|as\b|(?:{_any(JUDGED)})\b)[A-Za-z-]+ )"
_JOB = (
    rf"(?:{_JOBWORD}{{0,3}}(?:{_any(PROFESSIONS)})\b(?!'|-)(?! of (?:the|my|his|her|our|this|all|every)\b)(?: of [a-z]+)?"
    r"|(?:deputy |acting |assistant )?(?:head|director|dean|chief|chair|vice president|vp) of [a-z]+(?: [a-z]+)?"
    r"|(?:CEO|CTO|CFO|COO|headteacher|head teacher|team lead(?:er)?|project lead|product owner|intern|trainee|apprentice|phd student)\b(?! of (?!{_CAP})))"
)
_PET = rf"(?:{_any(PETS)})"
_DIET = (
    "(?:vegetarian|vegan|pescatarian|flexitarian|pescetarian|lacto-vegetarian|omnivore|carnivore)"
)
_LANGUAGE = rf"(?:{_any(LANGUAGES)})"
_LESSONS = rf"(?:(?:an?|the|my|some) )?(?P<x>{_any(INSTRUMENTS)}|(?i:{_LANGUAGE})) (?:lessons?|class(?:es)?|courses?)\b"
_BODY = "(?:leg|arm|ankle|wrist|knee|foot|hand|toe|finger|nose|collarbone|rib|hip|shoulder|back|elbow|thumb|tooth|meniscus)"
_OWN = rf"(?:(?!and\b|or\b|with\b|for\b|to\b|of\b|in\b|as\b)[\w-]+ ){{0,3}}(?:{_any(OWNED)})s?\b(?! (?:accident|crash|loan|insurance|ride|trip|tour|lesson|lessons|case|number|call))"
_EVENT = rf"(?:(?!about\b|at\b|in\b|for\b|with\b|of\b|to\b|on\b|and\b|from\b|by\b|during\b|after\b|before\b|my\b|your\b|her\b|his\b)[\w'-]+ ){{0,4}}(?:{_any(EVENTS)})\b"
_AS_JOB = rf"as (?:an? |the |their )?(?P<job>{_JOB})"
_AS_ANY = r"as an? (?P<job>(?!(?:volunteer|team|group|couple|pair|family|unit|charm|favour|favor|whole|kid|child|teen|teenager|student|beginner|newbie|rookie|customer|client|user|member|guest|patient|result|rule|hobby|joke|stopgap|reminder|warning)\b)[a-z-]+(?: [a-z-]+)?)(?=\s*(?:$|[,.|!;]|(?:at|for|in|with|from|and|but|near|these|now)\b))"
_LIST = r"(?P<x>[^|;:.!?()_\u2013\u2014]{1,160})"
_HABIT = r"(?!(?:late|out|into|away|errands|the|an?|my|our|with|around)\b)(?P<mark>.{0,60}?\b(?:every|each|times a|once a|twice a|daily|regularly|often|usually|always|mornings?|evenings|weekends|nights|mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|for fun|as a hobby|a lot|a (?:day|week|month))\b)"
_END = r"(?=\s*(?:$|[,.|!;]|now\b|and\b|but\b|again\b|already\b|too\b|since\b|for\b|with\b|to\b|any ?more|any longer))"
_ALONE = r"(?=\s*(?:$|[,.|!;]|and\b|but\b|so\b|because\b|after\b|when\b|since\b))"
_JOB_OVER = r"(?=\s*(?:$|[,.|!;]|and\b|but\b|so\b|because\b|after\b|when\b|since\b|due to\b|as an?\b|to\b|for\b))"
# What a job is given notice of, or who; notice of anything else, such as a flat, is no end of it.
_AT_WORK = rf"(?:my|our|his|her|their|the) (?:{_any(word for word, kin in KIN.items() if kin.predicate == 'team_leader')}|employer|company|firm|job)|work|HR|(?<=at )(?:my|our|his|her|their|the) {_WORKPLACE}"
_NOTICE = r"(?:(?:(?:my|our|his|her|their) )?(?:[a-z\d]+ (?:week|month)s?(?:'s?)? )?notice|(?:my|our|his|her|their) (?:letter of )?resignation(?: letter)?)"
_NO_MORE_SAID = r"(?![\s|]*(?!(?:and|but|so|because|after|when|since|due to|already|too)\b)\w)"
_RETIRED = rf"(?:\s*early\b)?(?:\s*from (?:(?:my )?(?:work|job)\b|(?P<x>{_ORG})))?(?=[\s|]*(?:$|[,.!;]|and\b|but\b|so\b|because\b|after\b|when\b|since\b|due to\b|now\b|already\b|these days\b|as an?\b|at (?:the age of )?(?:{CARDINAL})\b))"
_COUPLE = r"(?=\s*(?:$|[,.|!;]|now\b|again\b|since\b|any ?more\b|any longer\b|but\b|and\b(?! (?!I\b)[A-Z])))"

PATTERNS: tuple[Pattern, ...] = (
    # Where somebody lives
    Pattern("live reside", rf"(?:[^|.!?_]{{0,60}}?[ ,])??(?:in|at) (?:(?:an?|the|my|our) [a-z -]{{1,30}} in )?(?P<x>{_PLACE})(?! \d+\w?(?:,| in\b|\s*$))", "lives_in", reading="name", past="lived_in"),
    Pattern("live reside", rf"(?:[^|.!?_]{{0,40}}?)on the (?P<x>{ORDINAL}|ground|top) floor\b", "floor", reading="text"),
    Pattern("live", rf"with (?:(?:my|our) (?:[a-z-]+ ){{1,2}})?(?P<x>{_NAME})", "lives_with", reading="name"),
    Pattern("be", rf"(?:based|living) in (?P<x>{_PLACE})", "lives_in", reading="name", past="lived_in"),
    Pattern("move relocate emigrate immigrate return", rf"(?:(?:out|away|back|over|here|house|abroad) )*from (?P<y>{_PLACE})(?:,? (?:back )?(?:to|into) (?:[a-z -]{{1,30}} in )?(?P<x>{_PLACE})(?! as\b)(?!,? (?:and )?then\b))", "lives_in", "event", reading="name", also=(("lived_in", "y"),)),
    Pattern("move relocate emigrate immigrate", rf"(?:(?:out|away|back|over|house) )*(?:to|into) (?:(?:an?|the|my|our) [a-z -]{{1,40}} in )?(?P<x>{_PLACE})(?! as\b)(?!,? (?:and )?then\b)(?: from (?P<y>{_PLACE}))?", "lives_in", "event", reading="name", also=(("lived_in", "y"),)),
    Pattern("move", rf"(?P<x>(?:in|house|flat|out)\b(?! with)|to (?:(?:an?|our|my) |{_PLACE}))", "floor", "end", object=""),
    Pattern("move", rf"in with (?:my (?:[a-z-]+ ){{1,2}})?(?P<x>{_NAME}|me\b)", "lives_with", "event", reading="name"),
    Pattern("grow", rf"up in (?P<x>{_PLACE})", "lived_in", "event", reading="name"),
    Pattern("be", rf"(?:originally )?from (?P<x>{_PLACE})", "comes_from", reading="name"),
    Pattern("come", rf"(?:originally )?from (?P<x>{_PLACE})", "comes_from", "habit", reading="name"),
    # Who somebody is
    Pattern("be", rf"(?:turning )?(?P<x>(?!one\b(?! years?\b)){CARDINAL})(?: years? old| years of age|(?=\s*(?:$|[,.|!;]|now\b|and\b|but\b|today\b|already\b)))", "age", reading="text"),
    Pattern("turn", rf"(?P<x>{CARDINAL})(?=\s*(?:the\s*\||$|[,.|!]|years old\b|and\b|but\b|so\b))", "age", "event", reading="text"),
    Pattern("be", rf"born[\s|]+in (?P<x>{_PLACE})", "born_in", "event", reading="name"),
    Pattern("be", rf"(?:an? )?(?P<x>(?i:{_any(NATIONALITIES)}))(?: citizen)?{_END}", "nationality", reading="text"),
    Pattern("be", rf"(?P<x>{_NAME})(?=\s*(?:$|,\s*(?:nice|by the way|and I|your)))", "preferred_name", "self", reading="name"),
    Pattern("be", rf"(?:an? |the |our |their )?(?:new )?(?P<job>{_JOB})(?! (?:at heart|by heart|myself))(?:[^|.!?_]{{0,30}}? (?:at|for) (?P<org>{_ORG}))?", "job_title", object="job", reading="text", also=(("employer", "org"),)),
    Pattern("become", rf"(?:an? |the )?(?P<job>{_JOB})(?: (?:at|for) (?P<org>{_ORG}))?", "job_title", "event", object="job", reading="text", also=(("employer", "org"),)),
    Pattern("be", rf"(?:just )?promoted to (?P<job>{_JOB})", "job_title", "event", object="job", reading="text"),
    Pattern("get", rf"promoted to (?P<job>{_JOB})", "job_title", "event", object="job", reading="text"),
    Pattern("be", rf"(?:an? )?(?:[a-z]+ )?(?P<x>{_DIET})\b", "diet", reading="text"),
    Pattern("become go turn", rf"(?:an? )?(?:[a-z]+ )?(?P<x>{_DIET})\b", "diet", "event", reading="text"),
    Pattern("follow keep", rf"an? (?:[a-z]+ )?(?P<x>{_DIET}) diet\b", "diet", "habit", reading="text"),
    Pattern("be", rf"(?:[a-z]+ly )?allergic to {_LIST}", "allergic_to", reading="list"),
    Pattern("have", rf"an? (?:[a-z]+ )?allergy to {_LIST}", "allergic_to", "habit", reading="list"),
    Pattern("have", r"an? (?:(?:severe|bad|serious|mild) )?(?P<x>[a-z]+(?: [a-z]+)?) allergy\b", "allergic_to", "habit"),
    Pattern("be", r"(?P<x>lactose|gluten)[ -]intolerant", "avoids", reading="text"),
    Pattern("speak", rf"(?:[a-z]+ languages?[:,] ?)?(?P<x>[^|;:.!?()_]{{0,40}}(?i:{_LANGUAGE})[^|;:.!?()_]{{0,80}})", "languages_spoken", "habit", reading="verbatim"),
    Pattern("be", rf"fluent in (?P<x>[^|;:.!?()_]{{0,10}}(?i:{_LANGUAGE})[^|;:.!?()_]{{0,80}})", "languages_spoken", reading="verbatim"),
    # People
    Pattern("be get", rf"(?:[a-z]+ly )?married to (?P<x>{_NAME})", "married_to", reading="name"),
    Pattern("marry", rf"(?P<x>{_NAME})", "married_to", "event", reading="name"),
    Pattern("be", rf"engaged to (?P<x>{_NAME})", "engaged_to", reading="name"),
    Pattern("get", rf"(?:married|hitched) to (?P<x>{_NAME})", "married_to", "event", reading="name"),
    Pattern("get", rf"engaged to (?P<x>{_NAME})", "engaged_to", "event", reading="name"),
    Pattern("date", rf"(?P<x>{_NAME})", "partner", reading="name"),
    Pattern("be", rf"(?:dating|in a relationship with|together with|going out with|seeing) (?P<x>{_NAME}){_COUPLE}", "partner", reading="name"),
    Pattern("break split", rf"up with (?P<x>{_NAME})", "partner", "end", reading="name"),
    Pattern("call break cancel", rf"(?:off )?(?:the|our|my) engagement{_ALONE}", "engaged_to", "end", object=""),
    Pattern("call break cancel", rf"(?:off )?(?:the|our|my) engagement{_ALONE}", "relationship_status", "end", object="engaged"),
    Pattern("be", rf"friends with (?P<x>{_NAME})", "friend", reading="name"),
    # Animals and things
    Pattern("have get own", rf"(?!(?:me|him|her|us|them|you|my|his|our|their)\b)(?:an? |two |three |got an? )?(?:[a-z-]+ ){{0,2}}?(?P<kind>{_PET})s? (?:called|named)\s+(?P<x>{_NAME}(?:(?:,? and |, ){_NAME}){{0,3}})", "pet", "habit", reading="verbatim", also=(("is_a", "kind"),)),
    Pattern("adopt get rescue buy", rf"(?!(?:me|him|her|us|them|you|my|his|our|their)\b)(?:an? |two |three )?(?:[a-z-]+ ){{0,3}}?(?P<kind>{_PET})s? (?:called|named)\s+(?P<x>{_NAME}(?:(?:,? and |, ){_NAME}){{0,3}})", "pet", "event", reading="verbatim", also=(("is_a", "kind"),)),
    Pattern("have own", rf"an? (?:[a-z-]+ ){{0,2}}?(?P<x>{_PET})\b(?! (?:called|named|allergy|person|hotel|sitter|walker|show|food|bed|video|at heart))", "pet", "habit", reading="text"),
    Pattern("adopt", rf"an? (?:[a-z-]+ ){{0,3}}?(?P<x>{_PET})\b(?! (?:called|named))", "pet", "event", reading="text"),
    Pattern("own", rf"(?:an? |the )?(?P<x>{_OWN})", "owns", reading="text"),
    Pattern("have", rf"(?:got )?an? (?P<x>{_OWN})", "owns", "habit", reading="text"),
    Pattern("buy", rf"(?:myself |ourselves )?(?:an? |our first |my first )(?P<x>{_OWN})(?! for\b)", "owns", "event", reading="text"),
    Pattern("sell", rf"(?:my|our|the) (?:old )?(?P<x>{_OWN})", "owns", "end", reading="text"),
    # Work and study
    Pattern("work", rf"(?:[a-z-]+ly |full[- ]time |part[- ]time )?(?:{_AS_JOB} )?(?:for|at) (?P<x>{_ORG})(?: {_AS_JOB.replace('job', 'post')})?", "employer", reading="name", past="worked_at", also=(("job_title", "job"), ("job_title", "post"))),
    Pattern("work", rf"(?:[a-z-]+ly |full[- ]time |part[- ]time )?{_AS_JOB}(?! (?:for|at|with)\b)", "job_title", object="job", reading="text"),
    Pattern("work", rf"(?:[a-z-]+ly |full[- ]time |part[- ]time )?{_AS_ANY}(?:,? (?:at|for|with) (?P<org>{_ORG}))?", "job_title", object="job", reading="text", also=(("employer", "org"),)),
    Pattern("be", rf"(?:employed|hired) (?:by|at) (?P<x>{_ORG})(?: {_AS_JOB})?", "employer", reading="name", past="worked_at", also=(("job_title", "job"),)),
    Pattern("start begin", rf"(?:(?:my|a) (?:new )?(?:job|position|role|post) |working |work )?{_AS_JOB} (?:at|with|for) (?P<x>{_ORG})", "employer", "event", reading="name", also=(("job_title", "job"),)),
    Pattern("start begin", rf"(?:(?:my|a) (?:new )?(?:job|position|role|post) |working |work )?{_AS_ANY} (?:at|with|for) (?P<x>{_ORG})", "employer", "event", reading="name", also=(("job_title", "job"),)),
    Pattern("start begin", rf"(?:(?:my|a) (?:new )?(?:job|position|role|post) |working |work )?(?:at|with|for) (?P<x>{_ORG})(?:[\s|,]{{0,60}}{_AS_JOB})?", "employer", "event", reading="name", also=(("job_title", "job"),)),
    Pattern("join", rf"(?P<x>{_ORG})[\s|]{{1,40}}{_AS_JOB}", "employer", "event", reading="name", also=(("job_title", "job"),)),
    Pattern("join", r"(?:an? |the |my |our |my local |a local )?(?P<x>(?:[\w'-]+ ){1,3}?(?:club|band|team|group|association|society|league|committee|class|union|party|orchestra|choir|gym|church)|orchestra|choir|gym|church|union)\b(?! of\b)", "member_of", "event", reading="text"),
    Pattern("take accept", rf"(?:an?|the|my|their) (?:new )?(?:job )?offer(?: {_AS_JOB})? (?:at|with|from) (?P<x>{_ORG})(?: {_AS_JOB.replace('job', 'post')})?", "employer", "event", reading="name", also=(("job_title", "job"), ("job_title", "post"))),
    Pattern("get land take accept", rf"(?:an?|the|my) (?:new )?(?:job|position|role|post)(?: {_AS_JOB})? (?:at|with) (?P<x>{_ORG})(?: {_AS_JOB.replace('job', 'post')})?", "employer", "event", reading="name", also=(("job_title", "job"), ("job_title", "post"))),
    Pattern("start begin", rf"(?:(?:my|a) (?:new )?(?:job|position|role|post) |working |work )?(?:{_AS_JOB} )?(?:at|with|for) {_A_WORKPLACE}", "employer", "event", reading="text", also=(("job_title", "job"),)),
    Pattern("get land take accept", rf"(?:an?|the|my) (?:new )?(?:job|position|role|post)(?: {_AS_JOB})? (?:at|with) {_A_WORKPLACE}", "employer", "event", reading="text", also=(("job_title", "job"),)),
    Pattern("leave quit", rf"(?:my (?:job|position|role|post) (?:at|with) )?(?P<x>{_ORG})(?! (?:for|to|at)\b)", "employer", "end", reading="name"),
    Pattern("quit", rf"(?:the|my|our) (?:{_WORKPLACE}|company|firm){_JOB_OVER}", "employer", "end", object=""),
    Pattern("lose", rf"my (?:old )?(?:job|position|role|post) (?:at|with) (?P<x>{_ORG})", "employer", "end", reading="name"),
    Pattern("leave quit", rf"my (?:old )?(?:job|position|role|post)\b{_JOB_OVER}", "employer", "end", object=""),
    Pattern("lose", rf"my (?:old )?job\b{_JOB_OVER}", "employer", "end", object=""),
    Pattern("resign", rf"from (?:my (?:job|position|role|post) (?:at|with) )?(?P<x>{_ORG})", "employer", "end", reading="name"),
    Pattern("resign", rf"(?:(?:from )?(?:my|our|his|her|their) (?:job|position|role|post)|from work)?{_NO_MORE_SAID}", "employer", "end", object=""),
    Pattern("give hand put turn submit tender", rf"(?:in )?(?:(?:{_AT_WORK}|(?P<x>{_ORG})) )?{_NOTICE}(?: in)?(?: (?:at|to|with|from) (?:{_AT_WORK}|(?P<z>{_ORG})))?{_NO_MORE_SAID}", "employer", "end", reading="name"),
    Pattern("be get", rf"(?:fired(?! (?:up|upon)\b)|laid off|let go(?! of\b)|made redundant|sacked)(?: (?:from|by|at) (?P<x>{_ORG}))?", "employer", "end", reading="name"),
    Pattern("lay", rf"me off\b{_JOB_OVER}", "employer", "end", object="", is_of_me=True),
    Pattern("fire sack", rf"me\b{_JOB_OVER}", "employer", "end", object="", is_of_me=True),
    Pattern("make", rf"me redundant\b{_JOB_OVER}", "employer", "end", object="", is_of_me=True),
    Pattern("retire", _RETIRED, "employer", "end", reading="name"),
    Pattern("be", rf"retired{_RETIRED}", "employer", "end", reading="name"),
    Pattern("teach", rf"(?P<x>[a-z]+(?: [a-z]+)?) (?:at|in) (?P<org>{_ORG})", "teaches", "habit", also=(("employer", "org"),)),
    Pattern("teach", r"(?P<x>[a-z]+)(?=\s*(?:$|[,.|!]))", "teaches", "habit"),
    Pattern("be", rf"(?:an? )?(?:[a-z]+ )?student at (?P<x>{_ORG})", "studies_at", reading="name"),
    Pattern("study", rf"(?:(?P<y>[a-z]+(?: [a-z]+)?) )?at (?P<x>{_ORG})", "studies_at", reading="name", also=(("studies", "y"),)),
    Pattern("study", r"(?P<x>[a-z]+(?: [a-z]+)?)(?=\s*(?:$|[,.|!]|and\b|in\b))", "studies"),
    Pattern("graduate", rf"from (?P<x>{_ORG})", "graduated_from", "event", reading="name"),
    Pattern("put", r"(?:me|us) in charge of (?:the )?(?P<x>[^|,;.!?_]{2,60})", "responsible_for", "event", is_of_me=True),
    Pattern("be", r"(?:in charge of|responsible for) (?:the )?(?P<x>[^|,;.!?_]{2,60})", "responsible_for"),
    Pattern("manage lead", r"(?:the |an? |our )(?P<x>(?:[\w'-]+ ){0,3}?(?:team|department|project|group|store|shop|office|lab|programme|program)\b(?: of \w+(?: \w+)?)?)", "manages", "habit", reading="text"),
    Pattern("work", r"on (?:the |an? |our |my )?(?:new |big |little )?(?P<x>(?!(?:the|an?|our|my|new|big|little) )(?:[\w'-]+ ){1,3}?(?:project|thesis|novel|app|model|dissertation|album|documentary|website)\b)", "works_on", reading="text"),
    # What somebody likes
    Pattern("like love enjoy adore prefer", rf"(?:to (?P<doing>[a-z]+\b[^|;:.!?()_,]{{0,60}})|{_LIST})", "likes", "feeling", reading="list", denied="dislikes"),
    Pattern("hate dislike detest loathe", rf"(?:to (?P<doing>[a-z]+\b[^|;:.!?()_,]{{0,60}})|{_LIST})", "dislikes", "feeling", reading="list"),
    Pattern("be", rf"(?:an? )?(?:[a-z]+ )?(?:fan of|into|fond of|crazy about|passionate about|keen on|obsessed with) {_LIST}", "likes", "feeling", reading="list", denied="dislikes"),
    Pattern("stand", rf"{_LIST}", "likes", "feeling", reading="list", denied="dislikes"),
    Pattern("drink", rf"{_LIST}", "drinks", "habit", reading="food", denied="avoids"),
    Pattern("eat", rf"{_LIST}", "eats", "habit", reading="food", denied="avoids"),
    Pattern("give", rf"up {_LIST}", "drinks", "end", reading="food"),
    Pattern("give", rf"up {_LIST}", "eats", "end", reading="food"),
    Pattern("smoke", r"(?P<x>(?=\s*(?:$|[,.|!]|any)))", "habit_of", "habit", object="smoking"),
    Pattern("play", rf"(?:the )?(?P<x>(?:{_any(INSTRUMENTS)})\b(?:(?:,? and (?:the )?|, (?:the )?)(?:{_any(INSTRUMENTS)})\b){{0,2}})(?! (?:player|music|concert))", "plays", "habit", reading="verbatim"),
    Pattern("play", rf"(?P<x>{_any(SPORTS)})\b", "plays", "habit", reading="text"),
    Pattern("learn", rf"(?:(?:to speak|to play|how to play|how to speak) )?(?:the )?(?P<x>{_any(INSTRUMENTS)}|(?i:{_LANGUAGE}))\b(?! songs?)", "learns", reading="text"),
    Pattern("start begin", _LESSONS, "learns", "event", reading="text"),
    Pattern("take have", _LESSONS, "learns", "habit", reading="text"),
    Pattern("learn discover", r"that (?P<x>(?![^|;:!?_]{0,160}\b(?:I|my|me|mine|we|our|us|you|your|this|these|it|they|he|she|hard way)\b)[^|;:!?_]{8,160})", "knows_that", "event", reading="text"),
    Pattern("do practise practice", r"(?P<x>yoga|pilates|karate|judo|taekwondo|aikido|tai chi|crossfit|ballet|gymnastics|archery)\b", "hobby", "habit", reading="text"),
    Pattern("take", r"up (?P<x>[a-z]+(?: [a-z]+)?)(?=\s*(?:$|[,.|!]))", "hobby", "event"),
    Pattern("call", r"me (?P<x>[A-Z][\w-]+)(?=\s*(?:$|[,.|!;]|and\b|but\b))", "nickname", "habit", reading="name", is_of_me=True),
    Pattern("go", rf"by (?P<x>{_NAME})", "preferred_name", "habit", reading="name"),
    # Journeys, events, plans
    Pattern("visit", rf"(?P<x>{_PLACE})", "visited", "trip", reading="name"),
    Pattern("go travel fly drive", rf"(?:back |over |up |down )?to (?P<x>{_PLACE})(?! as\b)", "visited", "trip", reading="name"),
    Pattern("spend", rf"(?:[a-z-]+ ){{1,4}}?(?:days?|nights?|weeks?|months?|weekend|holidays?|vacation|summer|winter|christmas|easter) (?:in|on) (?P<x>{_PLACE})", "visited", "trip", reading="name"),
    Pattern("be go", rf"(?:away )?on (?:a )?(?:[a-z]+ )?(?:holiday|vacation|honeymoon|trip)s? (?:in|to|on) (?P<x>{_PLACE})", "visited", "trip", reading="name"),
    Pattern("be", rf"(?:back )?to (?P<x>{_PLACE})", "visited", "trip", reading="name"),
    Pattern("take", rf"(?:the|an?) (?:train|bus|ferry|plane|flight|boat|trip|night train) to (?P<x>{_PLACE})", "visited", "trip", reading="name"),
    Pattern("have plan book", rf"(?:booked )?(?:an?|our|my|the) (?:[a-z]+ ){{0,2}}?(?:trip|flight|flights|holiday|vacation|weekend) (?:in|to) (?P<x>{_PLACE})", "plans", "plan", reading="name"),
    Pattern("sign", r"up for (?:an? |the |my (?:first )?)?(?P<x>[^|,;.!?_]{2,60})", "plans", "plan"),
    Pattern("register enrol enroll", r"(?:for|in|on) (?:an? |the |my (?:first )?)?(?P<x>[^|,;.!?_]{2,60})", "plans", "plan"),
    Pattern("cancel drop scrap abandon call", rf"(?:off )?(?:(?:the|our|my|all|that) )?(?:whole )?(?:(?:trip|holiday|vacation|journey|flights?|plans?) to (?:(?:go|travel|fly) to )?(?P<x>{_PLACE})|(?P<z>{_PLACE}) (?:trip|holiday|vacation|plans?|visit))", "plans", "dropped", reading="name"),
    Pattern("cancel drop scrap abandon call", rf"(?:off )?(?:the|our|my|that) (?:(?:whole|planned) )?move to (?P<x>{_PLACE})", "lives_in", "dropped", reading="name"),
    Pattern("cancel drop scrap abandon call", r"(?:off )?(?:the|our|my) (?:plans? (?:to|of|for) )?(?P<x>[^|,;.!?_]{2,50})", "plans", "dropped"),
    Pattern("withdraw pull", r"(?:out of|from) (?:the |my )?(?P<x>[^|,;.!?_]{2,50})", "plans", "dropped"),
    Pattern("attend", rf"(?:an? |the |my (?:first )?|our )?(?P<x>{_EVENT}(?: (?:at|in|on|by|for|with) {_PLACE})?)", "attended", "event", reading="text"),
    Pattern("go", rf"to (?:an? |the |my (?:first )?|our )(?P<x>{_EVENT}(?: (?:at|in|on|by|for) {_PLACE})?)", "attended", "event", reading="text"),
    Pattern("have", rf"an? (?P<x>(?:[a-z-]+ ){{0,2}}?interview (?:at|with) {_PLACE})", "attended", "event", reading="text"),
    Pattern("break twist sprain injure hurt fracture", rf"(?:my|his|her) (?:left |right )?(?P<x>{_BODY})\b", "experienced", "event", reading="deed"),
    Pattern("have", r"(?:an? |my )?(?P<x>(?:[a-z]+ )?(?:surgery|operation|accident|miscarriage|heart attack|stroke|car crash|concussion))\b", "experienced", "event", reading="deed"),
    Pattern("pass", r"(?:my |the )(?P<x>(?:[a-z]+ ){0,2}(?:test|exam|exams|finals))\b", "experienced", "event", reading="deed"),
    Pattern("run complete finish", r"(?:an? |the |my (?:first |second |third )?)(?P<x>(?:[\w-]+ ){0,3}?(?:marathon|triathlon|10k|5k))\b", "experienced", "event", reading="deed"),
    Pattern("win", r"(?:an? |the |my first |first )(?P<x>(?:[\w-]+ ){0,4}?(?:prize|award|competition|contest|tournament|medal|championship|match|lottery|scholarship))\b", "experienced", "event", reading="deed"),
    Pattern("expect have", r"(?:an? |our (?:first |second )?)?(?P<x>baby(?: girl| boy)?|girl|boy|twins)\b", "expects", "habit", reading="text"),
)  # fmt: skip

HABIT = re.compile(_HABIT, re.IGNORECASE)
ATTRIBUTES: tuple[tuple[str, str, str, Reading], ...] = (
    # noun, what follows "is", predicate, reading
    (r"(?:full )?name", rf"(?P<x>{_NAME})", "full_name", "name"),
    (r"(?:nick ?name|preferred name)", rf"(?P<x>{_NAME})", "preferred_name", "name"),
    (
        r"(?:all[- ]time )?favou?rite (?P<what>[a-z]+(?: [a-z]+)?)(?<![a-rt-z]s)",
        r"(?P<x>[^|;:.!?()_]{1,80})",
        "favourite",
        "phrase",
    ),
    (r"hobb(?:y|ies)", _LIST, "hobby", "list"),
    (
        r"(?:job|profession|occupation|job title|position|role)",
        rf"(?:an? |the )?(?P<x>{_JOB})",
        "job_title",
        "text",
    ),
    (r"(?:employer|company)", rf"(?P<x>{_ORG})", "employer", "name"),
    (
        r"(?:native language|mother tongue|first language)",
        rf"(?P<x>(?i:{_LANGUAGE}))\b",
        "languages_spoken",
        "text",
    ),
    (r"preferred language", rf"(?P<x>(?i:{_LANGUAGE}))\b", "preferred_language", "text"),
    (r"nationality", rf"(?P<x>(?i:{_any(NATIONALITIES)}))\b", "nationality", "text"),
    (r"home ?town", rf"(?P<x>{_PLACE})", "comes_from", "name"),
    (
        r"(?:home )?address",
        rf"\s*(?:\d+\w? [\w' ]{{3,40}}?,|[^|!?_]{{0,60}}?\d+ ?[a-z]?,?) (?:in )?(?:\d+ )?(?P<x>{_PLACE})",
        "lives_in",
        "name",
    ),
    (r"time ?zone", r"(?P<x>[A-Z][\w/+:-]{1,40})", "timezone", "text"),
    (
        r"(?:e-?mail(?: address)?)",
        r"(?P<x>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})",
        "email",
        "text",
    ),
    (
        r"(?:(?:phone|telephone|mobile|cell)(?: number)?|number)",
        r"(?P<x>\+?\d[\d ()-]{5,20}\d)",
        "phone",
        "text",
    ),
    (r"pronouns", r"(?P<x>(?:she|he|they)/(?:her|him|them)(?:/\w+)?)", "pronouns", "text"),
)

BY_VERB: dict[str, list[tuple[Pattern, re.Pattern[str]]]] = defaultdict(list)
for _pattern in PATTERNS:
    for _verb in _pattern.verbs.split():
        BY_VERB[_verb].append((_pattern, re.compile(r"[\s|]*" + _pattern.rest)))
BY_NOUN = tuple(
    (re.compile(noun + r"$", re.IGNORECASE), re.compile(r"\s*" + rest), predicate, reading)
    for noun, rest, predicate, reading in ATTRIBUTES
)
