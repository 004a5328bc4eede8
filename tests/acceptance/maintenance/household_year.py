"""A year of messages between Nora and an assistant, and forty questions about it.

Nobody's benchmark has made it. The questions were written first. Most messages are small talk that repeats in kind; the rest are
statements, some of which are made once, and values that change.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from mnestic.memory.knowledge.resources import Resource

BEGAN = datetime(2030, 1, 1, 6, tzinfo=UTC)
DAYS = 364  # 52 weeks
ASKED_AT = BEGAN + timedelta(days=DAYS)
SEED = 20_300_101
_A_DAY = 9  # messages beside the statements that the questions are about
_ASIDE_SHARE = 0.15  # of these: statements about others, most of which are made once


class Question(NamedTuple):
    """A question, a part of the message that answers it, and parts of messages that said otherwise before."""

    text: str
    answer: str
    outdated: tuple[str, ...] = ()


class Message(NamedTuple):
    """What Nora says on a day of the year, counted from 0."""

    day: int
    text: str


# About what is said once, in January.
ONCE = {
    Message(2, "I'm allergic to latex."): Question("What is Nora allergic to?", "latex"),
    Message(3, "My dentist is Dr. Okafor on Mill Lane."): Question(
        "Who is Nora's dentist?", "Dr. Okafor"
    ),
    Message(5, "The boiler was installed in 2019 by a firm called Hearthline."): Question(
        "Which firm installed the boiler?", "Hearthline"
    ),
    Message(6, "My grandmother was born in Tromsø."): Question(
        "Where was Nora's grandmother born?", "Tromsø"
    ),
    Message(8, "The spare key is under the blue flowerpot."): Question(
        "Where is the spare key?", "blue flowerpot"
    ),
    Message(9, "My blood type is O negative."): Question("What is my blood type?", "O negative"),
    Message(11, "We got married in a lighthouse near Calais."): Question(
        "Where did Nora get married?", "lighthouse"
    ),
    Message(13, "Our insurance policy number is HX-44871."): Question(
        "What is the number of our insurance policy?", "HX-44871"
    ),
    Message(15, "My brother Anton is a beekeeper."): Question(
        "What does Anton do for a living?", "beekeeper"
    ),
    Message(17, "I broke my left wrist when I was nine."): Question(
        "Which bone did Nora break as a child?", "left wrist"
    ),
    Message(19, "The attic window leaks when the wind comes from the east."): Question(
        "When does the attic window leak?", "from the east"
    ),
    Message(22, "My thesis was about tidal energy."): Question(
        "What was Nora's thesis about?", "tidal energy"
    ),
    Message(25, "My neighbour Ilse feeds the cat when we are away."): Question(
        "Who feeds the cat when we travel?", "Ilse"
    ),
    Message(28, "I can't stand coriander."): Question("Which herb does Nora dislike?", "coriander"),
}
# Values that change: what is asked, and how it was told from day to day.
CHANGING: dict[Question, tuple[Message, ...]] = {
    Question("Where does Nora live now?", "Leiden", ("Haarlem", "Delft")): (
        Message(1, "I live in Haarlem."),
        Message(70, "I moved to Delft."),
        Message(150, "We moved to Leiden last week."),
    ),
    Question("What is the wifi password?", "copper-kettle-9", ("green-otter", "slow-river")): (
        Message(4, "The wifi password is green-otter-4."),
        Message(90, "The wifi password is now slow-river-7."),
        Message(171, "I changed the wifi password to copper-kettle-9."),
    ),
    Question("Who is Nora's manager?", "Bastian", ("Wilma", "Rosalind")): (
        Message(7, "My manager is Wilma."),
        Message(120, "My new manager is Rosalind."),
        Message(200, "Bastian is my manager now."),
    ),
    Question("Where does Nora work?", "Vesper Maps", ("Tideworks",)): (
        Message(10, "I work at Tideworks."),
        Message(133, "I work at Vesper Maps now."),
    ),
    Question("Which car does Nora drive?", "Skoda", ("Renault",)): (
        Message(12, "I drive an old Renault."),
        Message(110, "We sold the Renault, and I drive a Skoda now."),
    ),
    Question("On which day is the yoga class?", "Thursdays", ("Mondays", "Tuesdays")): (
        Message(14, "My yoga class is on Mondays."),
        Message(60, "My yoga class is on Tuesdays now."),
        Message(180, "My yoga class has moved to Thursdays."),
    ),
    Question("Who looks after Milo in the afternoon?", "Greta", ("Paulien",)): (
        Message(16, "Paulien looks after Milo in the afternoon."),
        Message(140, "Greta looks after Milo in the afternoon now."),
    ),
    Question("What is Nora's phone number?", "0655 871", ("0611 204",)): (
        Message(18, "My phone number is 0611 204."),
        Message(100, "My new phone number is 0655 871."),
    ),
    Question("How does Nora take her coffee?", "oat milk", ("two sugars",)): (
        Message(20, "I take my coffee with two sugars."),
        Message(125, "I take my coffee with oat milk now, and no sugar."),
    ),
    Question("Which school does Milo go to?", "Linden School", ("Harbour School",)): (
        Message(21, "Milo goes to the Harbour School."),
        Message(210, "Milo goes to the Linden School now."),
    ),
}
# Of the rest of the year: preferences, plans, and what is said again and again.
OTHERS = {
    Message(40, "I prefer the window seat on trains."): Question(
        "Which seat does Nora prefer on trains?", "window seat"
    ),
    Message(48, "My favourite soup is borscht."): Question(
        "What is Nora's favourite soup?", "borscht"
    ),
    Message(57, "The plumber is called Yusuf, and he comes on weekends too."): Question(
        "What is the plumber called?", "Yusuf"
    ),
    Message(66, "I speak Danish with my mother."): Question(
        "Which language does Nora speak with her mother?", "Danish"
    ),
    Message(80, "Milo's godmother is Saskia."): Question("Who is Milo's godmother?", "Saskia"),
    Message(95, "My shoe size is 39."): Question("What is my shoe size?", "39"),
    Message(105, "The tax office wants the form M-12 by the end of June."): Question(
        "Which form does the tax office want?", "M-12"
    ),
    Message(130, "My sister Clara plays the bassoon."): Question(
        "Which instrument does Clara play?", "bassoon"
    ),
    Message(160, "We planted a quince tree behind the shed."): Question(
        "Which tree is behind the shed?", "quince"
    ),
    Message(185, "My passport expires in March 2033."): Question(
        "When does my passport expire?", "March 2033"
    ),
    Message(215, "I paid 1,450 euros for the new sofa."): Question(
        "How much did the new sofa cost?", "1,450"
    ),
    Message(240, "The vet said that Biscuit must not eat grapes."): Question(
        "What must Biscuit not eat?", "grapes"
    ),
    Message(270, "Our anniversary dinner was at the Golden Heron."): Question(
        "Where was our anniversary dinner?", "Golden Heron"
    ),
    Message(300, "The choir sings in Utrecht on the second of December."): Question(
        "Where does the choir sing in December?", "Utrecht"
    ),
    Message(330, "I lent my drill to Marek."): Question("To whom did I lend my drill?", "Marek"),
    Message(355, "The heating engineer comes on the ninth of January."): Question(
        "When does the heating engineer come?", "ninth of January"
    ),
}
QUESTIONS = {
    "once": (*ONCE.values(),),
    "current": (*CHANGING,),
    "other": (*OTHERS.values(),),
}

_TALK = (
    "Good {daytime}, {how} today.",
    "The {vehicle} was {late} again this {daytime}.",
    "I had {food} for {meal}, it was {quality}.",
    "{weather} outside, so we {indoors}.",
    "The meeting about {topic} took {long}.",
    "Can you remind me to {errand} {when}?",
    "We watched {show} yesterday and {verdict}.",
    "Milo {milo} at school, so he is {mood}.",
    "I'm {mood}, the {noise} kept me awake.",
    "Tonight it is {food} with {side}, {how}.",
    "The {shop} had no {goods} left, I'll try {when}.",
    "Biscuit {cat} while I was on a call about {topic}.",
    "{who} sent {thing} about {topic}, I'll answer {when}.",
)
_REPLIES = (
    "Sounds {quality}. Shall I note anything about {topic}?",
    "I'll remind you {when}.",
    "Noted, have a {quality} {daytime}.",
    "Do you want a recipe with {food}?",
)
_ASIDES = (
    "{name} from the {place} collects {things}.",
    "{name} once {did} in {town}.",
    "At the {place} I met {name}, who {did} in {town}.",
    "{name} gave us {things} from {town}.",
)
_WORDS = {
    "daytime": "morning afternoon evening day",
    "how": "a bit tired|quite cheerful|in a hurry|glad that it is nearly over|still sleepy|full of plans",
    "vehicle": "tram bus train ferry metro",
    "late": "late|crowded|on time|diverted|cancelled",
    "food": "noodles|lentil stew|pancakes|rice and beans|a cheese sandwich|leftovers|dumplings|salad|curry",
    "meal": "lunch breakfast dinner",
    "quality": "fine lovely okay great dull",
    "weather": "Drizzle|Sunshine|Fog|A storm|Sleet|Thick clouds|A mild breeze",
    "indoors": "stayed in|took umbrellas|walked to the park|played cards|tidied the hall",
    "topic": "the budget|the release|holidays|the survey|a new map layer|invoices|the intern|the backlog",
    "long": "an hour|two hours|ten minutes|all morning|longer than planned",
    "errand": "buy bread|call the bank|post the parcel|water the plants|book a haircut|return the books",
    "when": "tomorrow|on Friday|after lunch|tonight|next week|at six",
    "show": "a detective series|a cooking show|the news|an old western|a film about whales",
    "verdict": "fell asleep|laughed a lot|liked it|switched it off|want to see more",
    "milo": "painted a dragon|lost a glove|learned a song|ran a race|traded stickers|built a tower",
    "mood": "proud tired happy grumpy excited",
    "noise": "wind|neighbours' party|rain|cat|fridge",
    "side": "peas potatoes bread rice yoghurt",
    "shop": "bakery|corner shop|pharmacy|market|hardware store",
    "goods": "rye bread|batteries|oranges|cough drops|light bulbs|basil",
    "cat": "slept on the keyboard|chased a moth|asked for food|knocked over a mug",
    "who": "The office|A colleague|The landlord|The bank|The team",
    "thing": "a long mail|a short note|three files|a question|a calendar invite",
    "name": "Aisha|Bruno|Celeste|Dimitri|Edda|Farid|Gwen|Hugo|Ines|Jarek|Kaito|Lotte|Mirjam|Nils|Oona|Pascal",
    "place": "library|pool|garage|night course|book club|allotment|print shop|rowing club",
    "things": "stamps|old maps|beer mats|marbles|postcards|fountain pens|sea shells|tin toys|thimbles",
    "did": "ran a marathon|repaired clocks|taught maths|studied law|sailed a barge|sold ice cream|kept goats",
    "town": "Bergen|Porto|Ghent|Turin|Gdansk|Lyon|Cork|Graz|Split|Malmö",
}


def messages_of(week: int) -> Iterator[Resource]:
    """The messages of a week, counted from 0: the same each time."""
    random = Random(SEED + week)
    for day in range(7 * week, 7 * week + 7):
        texts = [("Nora", said.text) for said in STATEMENTS if said.day == day]
        for _ in range(_A_DAY):
            texts.append(("Nora", _talk(random)))
            if random.random() < 0.2:
                texts.append(("Assistant", _filled(random, _REPLIES)))
        random.shuffle(texts)
        for number, (speaker, text) in enumerate(texts):
            yield Resource(
                session_id=f"day {day}",
                source_id=f"{number}",
                channel="chat",
                speaker=speaker,
                content=text,
                at=BEGAN + timedelta(days=day, minutes=47 * number),
            )


STATEMENTS = (*ONCE, *(said for told in CHANGING.values() for said in told), *OTHERS)


def _talk(random: Random) -> str:
    if random.random() < _ASIDE_SHARE:
        return _filled(random, _ASIDES)
    return " ".join(
        _filled(random, (one,)) for one in random.sample(_TALK, random.choice((1, 2, 2, 3)))
    )


def _filled(random: Random, templates: tuple[str, ...]) -> str:
    words = {
        slot: random.choice(text.split("|") if "|" in text else text.split())
        for slot, text in _WORDS.items()
    }
    return random.choice(templates).format_map(words)
