"""The words that the rules know by name: kin, people, animals, languages, professions.

It is data alone, apart from the patterns that use it, so that a word is added in one obvious place.
"""

# ruff: noqa: SIM905 (word lists read best as text)

from typing import Literal, NamedTuple

Gender = Literal["f", "m", ""]


class Kin(NamedTuple):
    """What somebody is to somebody: its predicate, whether there are few of them, and he or she."""

    predicate: str
    is_close: bool = False
    gender: Gender = ""


_KIN = {
    "sibling": ("sister:f brother:m sibling twin half-sister:f half-brother:m stepsister:f stepbrother:m", True),
    "parent": ("mother:f mum:f mom:f father:m dad:m stepmother:f stepfather:m stepmom:f stepdad:m", True),
    "child": ("daughter:f son:m kid child stepdaughter:f stepson:m", True),
    "married_to": ("wife:f husband:m spouse", True),
    "partner": ("partner girlfriend:f boyfriend:m", True),
    "engaged_to": ("fiancé:m fiancée:f fiance fiancee:f", True),
    "cousin": ("cousin", False),
    "aunt_or_uncle": ("aunt:f auntie:f uncle:m", False),
    "grandparent": ("grandmother:f grandma:f granny:f nana:f grandfather:m grandpa:m grandad:m granddad:m", False),
    "grandchild": ("granddaughter:f grandson:m", True),
    "niece_or_nephew": ("niece:f nephew:m", True),
    "in_law": ("mother-in-law:f father-in-law:m sister-in-law:f brother-in-law:m", False),
    "friend": ("friend bestie buddy pal", False),
    "colleague": ("colleague coworker co-worker workmate teammate", False),
    "team_leader": ("boss manager supervisor leader", False),
    "lives_with": ("flatmate roommate housemate", False),
    "neighbour": ("neighbour neighbor", False),
    "knows": ("classmate teacher tutor coach mentor therapist dentist doctor landlord landlady:f", False),
}  # fmt: skip
KIN = {
    word: Kin(predicate, is_close=is_close, gender=gender)  # type: ignore[arg-type]
    for predicate, (words, is_close) in _KIN.items()
    for word, _, gender in (each.partition(":") for each in words.split())
}
KIN_PLURALS = {f"{word}s": kin for word, kin in KIN.items()} | {
    "wives": KIN["wife"],
    "children": KIN["child"],
}
KIN_ADJECTIVES = frozenset(
    "younger older elder little big twin best good close dear oldest youngest eldest old new other "
    "team line first second half only lovely work school university college long-time longtime".split()
)
GONE = frozenset("ex former late previous future ex-".split())
PETS = frozenset(
    "cat dog puppy kitten rabbit hamster parrot budgie horse pony tortoise turtle goldfish gecko snake "
    "lizard guinea-pig ferret hedgehog chicken duck donkey goat spaniel labrador retriever poodle terrier "
    "greyhound collie beagle dachshund corgi pug tabby".split()
)
PEOPLE = frozenset(
    "man woman guy girl boy lady doctor nurse surgeon teacher boss stranger baby friend vet tailor host "
    "person somebody someone everybody everyone colleague neighbour neighbor kid child driver waiter "
    "customer client student chef mate mother father sister brother wife husband son daughter".split()
)

MONTHS_AND_DAYS = frozenset(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays christmas easter halloween".split()
)
LANGUAGES = frozenset(
    "english french german spanish portuguese italian dutch flemish swedish norwegian danish finnish "
    "icelandic polish czech slovak hungarian romanian bulgarian greek turkish russian ukrainian arabic "
    "hebrew persian farsi hindi urdu bengali tamil telugu punjabi chinese mandarin cantonese japanese "
    "korean vietnamese thai indonesian malay tagalog swahili zulu afrikaans irish welsh gaelic catalan "
    "basque latin esperanto croatian serbian slovenian lithuanian latvian estonian".split()
)
NATIONALITIES = (LANGUAGES - {"mandarin", "cantonese", "latin", "esperanto", "farsi", "swahili"}) | frozenset(
    "american british canadian australian belgian austrian swiss scottish mexican brazilian argentinian "
    "chilean colombian peruvian egyptian moroccan nigerian kenyan ghanaian ethiopian indian pakistani "
    "iranian iraqi syrian lebanese israeli filipino african european asian".split()
)  # fmt: skip
NOT_NAMES = MONTHS_AND_DAYS | LANGUAGES | NATIONALITIES | frozenset(
    "i a an the this that these those my our your his her its their we you he she it they who what when "
    "where why how which there here yes no not nope yeah yep ok okay oh ah wow hey hi hello thanks thank "
    "well so and but or if then now today tomorrow yesterday also still just only maybe perhaps please "
    "sorry congrats congratulations happy good great nice lovely sure actually honestly anyway plus "
    "because since while after before until although though as at by for from in into of off on over to "
    "with without about all both some any every each one two three four five six most many much more "
    "do does did is are was were am be been have has had will would can could should may might must "
    "let's let go come look see say tell ask take give keep remember note ignore everyone everybody "
    "someone somebody nobody nothing something everything people life work school home dinner lunch "
    "breakfast coffee tea music love family mom mum dad mother father grandma grandpa god dear mr mrs ms "
    "miss dr prof user assistant system tool human bot ai lol haha btw fyi re ps welcome glad hope "
    "another other meanwhile later soon finally recently currently lately once never always sometimes usually often "
    "spring summer autumn fall winter internet covid".split()
)  # fmt: skip

PROFESSIONS = frozenset(
    "accountant actor actress actuary administrator adviser advisor anaesthetist analyst animator anthropologist "
    "archaeologist architect archivist artist astronaut astronomer attorney auditor author baker banker barber "
    "barista barrister bartender biologist bookbinder bookkeeper botanist bricklayer broker builder butcher "
    "cardiologist caretaker carpenter cartographer cashier chef chemist chiropractor choreographer cleaner clerk "
    "coach cobbler composer conductor consultant cook copywriter counsellor counselor courier curator dancer "
    "decorator dentist dermatologist designer developer dietician diplomat director dispatcher doctor driver "
    "economist editor electrician engineer entrepreneur farmer firefighter fisherman florist fundraiser gardener "
    "geographer geologist glazier goldsmith grocer groundskeeper hairdresser historian hygienist illustrator "
    "inspector instructor interpreter investigator janitor jeweler jeweller joiner journalist judge lawyer lecturer "
    "librarian lifeguard linguist locksmith machinist manager masseuse mathematician mechanic meteorologist midwife "
    "model modeler modeller musician nanny neurologist nurse nutritionist oncologist optician optometrist "
    "paediatrician painter paralegal paramedic pathologist pediatrician pharmacist philosopher photographer physicist "
    "physiotherapist pilot plasterer plumber podiatrist policeman policewoman politician postman potter priest "
    "principal producer professor programmer proofreader psychiatrist psychologist publicist publisher radiographer "
    "radiologist realtor receptionist recruiter registrar reporter researcher retiree roofer sailor salesman "
    "salesperson saleswoman scaffolder scientist sculptor seamstress secretary shopkeeper social-worker sociologist "
    "soldier solicitor statistician steward stewardess stonemason supervisor surgeon surveyor tailor teacher "
    "technician therapist tiler translator tutor typographer undertaker upholsterer vet veterinarian waiter waitress "
    "watchmaker welder writer zookeeper zoologist".split()
)
# Before a profession they say how somebody is at it, or for how long, and not what they are.
JUDGED = frozenset(
    "good great bad terrible big horrible awful decent lousy lovely amazing better best worse worst real total complete "
    "natural born self-proclaimed self-appointed self-styled so-called designated unpaid backseat armchair amateur hobby "
    "weekend aspiring budding wannabe would-be failed frustrated former ex part little bit secret fake couch sofa "
    "rare walking human world's hopeless useless brilliant fantastic".split()
)
# No place that anybody lives in.
NOWHERE = frozenset(
    "narnia hogwarts gotham wakanda westeros middle-earth mordor neverland atlantis oz wonderland asgard tatooine rivendell "
    "winterfell moon mars jupiter saturn venus pluto heaven hell earth space limbo utopia eden valhalla azeroth hyrule "
    "springfield bedrock zion matrix shire fantasia camelot mordor jumanji panem zootopia whoville paradise purgatory".split()
)
# As in "a peanut allergy": how it is called in "allergic to peanuts".
COUNTED = {
    each: f"{each}s"
    for each in "peanut nut walnut cashew almond hazelnut pistachio cat dog horse egg tomato mushroom bee wasp".split()
}
# What nobody likes who says so.
NO_PLEASURES = frozenset(
    "rent taxes bills traffic queues queueing queuing mondays paperwork bureaucracy homework chores spam deadlines overtime debt "
    "hangovers insomnia pain being getting waiting sitting standing paying crying suffering working".split()
)
NO_ALLERGENS = MONTHS_AND_DAYS | frozenset(
    "people work exercise mornings stupidity drama nonsense housework chores homework bullshit talk waiting "
    "politics meetings commitment responsibility fun idiots fools rules paperwork bureaucracy effort sports kids "
    "children men women boredom deadlines emails losing failure lies liars criticism cleaning you".split()
)
SPORTS = frozenset(
    "football soccer tennis basketball volleyball badminton squash hockey rugby cricket golf baseball "
    "softball handball chess padel pickleball bridge poker darts billiards snooker".split()
)
INSTRUMENTS = frozenset(
    "piano guitar violin viola cello flute drums trumpet saxophone clarinet harp bass organ ukulele "
    "accordion trombone oboe banjo mandolin recorder bagpipes keyboard double-bass".split()
)
ACTIVITIES = {
    "run": "running",
    "swim": "swimming",
    "jog": "jogging",
    "hike": "hiking",
    "ski": "skiing",
    "climb": "climbing",
    "dance": "dancing",
    "paint": "painting",
    "knit": "knitting",
    "bake": "baking",
    "garden": "gardening",
    "cycle": "cycling",
    "surf": "surfing",
    "row": "rowing",
    "sail": "sailing",
    "sew": "sewing",
    "draw": "drawing",
    "fish": "fishing",
    "camp": "camping",
    "skate": "skating",
    "box": "boxing",
    "meditate": "meditating",
    "sing": "singing",
    "smoke": "smoking",
}
OWNED = frozenset(
    "house flat apartment condo cottage cabin car van truck bike bicycle motorbike motorcycle scooter boat "
    "sailboat kayak canoe piano guitar violin cello camera laptop computer tablet phone smartphone drone "
    "telescope tent caravan camper campervan greenhouse kiln loom printer maker machine farm tractor "
    "garage allotment".split()
)
EVENTS = frozenset(
    "concert wedding conference workshop festival meeting meetup party funeral exhibition exhibit match "
    "game marathon race parade interview retreat seminar webinar lecture gig opera reunion fair talk "
    "class course lesson hackathon ceremony graduation convention summit operation surgery appointment "
    "exam test presentation performance recital trip holiday vacation tournament competition audition "
    "convention baby-shower picnic barbecue bbq christening hearing demo launch review deadline".split()
)
# What has a day.
MEETINGS = frozenset(
    "operation surgery exam test wedding party marathon race concert meeting interview appointment "
    "deadline trip flight holiday conference presentation workshop launch recital match game tournament "
    "graduation ceremony funeral class course lesson review demo release christening exhibition festival "
    "performance move visit competition defence defense housewarming dinner".split()
)
ORGANISATIONS = frozenset(
    "company hospital school university college bank library bakery museum restaurant cafe café hotel "
    "clinic startup start-up agency firm supermarket nursery kindergarten lab laboratory studio theatre "
    "ministry council charity bookshop bookstore pharmacy gym factory newspaper airport brewery".split()
)
