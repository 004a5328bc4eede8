"""Which later texts give another value for what a query asks of an earlier one."""

import pytest

from mnestic.memory.language.changes.change_words import stems_of
from mnestic.memory.language.changes.new_values import find_change
from mnestic.memory.language.changes.update_texts import UpdateText
from mnestic.memory.language.query_words import requested_by


def _has_new_value(query: str, old: str, new: str, *, by_same: bool = True) -> bool:
    stems, requested = stems_of(query), requested_by(query)
    earlier, later = (
        UpdateText(text, query_stems=stems, speaker=speaker, requested=requested)
        for text, speaker in ((old, "lena"), (new, "lena" if by_same else "otto"))
    )
    asked, both = earlier.stems & stems, earlier.stems & later.stems & stems
    common = len(both) / max(len(asked), 1)
    return find_change(earlier, later, common=common, covered=common) is not None


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What is the rate limit of the API?", "The API rate limit is 100.", "The rate limit goes up to 250."),
        ("Who is the vet of our dog?", "The vet of our dog Rollo is Dr Hahn.", "Our dog Rollo has a new vet, Dr Lutz."),
        ("What is the wifi password?", "The guest wifi password is tulip.", "I have changed the wifi password, it is crocus, which nobody can spell."),
        ("Who is the landlord?", "Our landlord is Ada Hale.", "Ada Hale sold the building, our landlord is Inge Brandt now."),
        ("What does she drive?", "I drive a red Skoda.", "I sold the Skoda and got a cargo bike instead."),
        ("What does she study?", "I study physics in Graz.", "Switched my major from physics to chemistry."),
        ("Which Postgres does staging run?", "Staging runs Postgres 15.", "Staging was upgraded to Postgres 17 last night."),
        ("Where do shipments leave from?", "Shipments leave from the depot in Halle.", "We closed Halle; shipments leave from Bremen."),
        ("What is his phone number?", "My phone number is 0151 2345678.", "New number, use 0160 9998887 from now on."),
        ("On which day do we deploy?", "We deploy on Fridays.", "We no longer deploy on Fridays, too many bad weekends. Tuesdays it is."),
        ("Does she drink coffee?", "I drink three coffees a day.", "I gave up coffee completely, I drink rooibos."),
        ("What is the Wi-Fi key?", "The Wi-Fi key is otter-73.", "New Wi-Fi key: heron-18."),
        ("How much iron does she take?", "I was told to take 30 mg of iron.", "My iron dose was lowered to 15 mg."),
        ("How much salt do we buy?", "We have agreed on 40 kilos of salt a week.", "The salt is reduced to 25 kilos."),
        ("When is the inspection?", "The inspection is on 4 May.", "They pushed the inspection back to 9 June."),
        ("Which plan are we on?", "We are on the Basic plan.", "We upgraded to the Premium plan."),
        ("Which floor is marketing on?", "Marketing is on the third floor.", "Marketing moved to the fifth floor."),
        ("What do we use for support?", "We use Slack for support.", "We switched to Zendesk for support."),
        ("What does CI run on?", "CI runs on Jenkins.", "CI was migrated to Buildkite."),
        ("When is the review?", "The review is on 4 May.", "The review got pushed to 9 May."),
        ("When does Heron ship?", "Project Heron ships on 12 May.", "Heron slipped by a month, the new date is 9 June."),
        ("When is the audit?", "The audit is on 3 March.", "The audit was pushed back. New date: 17 March."),
        ("When does Nils have swimming?", "Nils has swimming on Tuesdays.", "Correction: Nils swims on Wednesdays now, same time."),
        ("When is Lotte's dentist?", "The dentist of Lotte is on 2 October.", "The dentist called, they had to move Lotte to 9 October."),
        ("When does the Harlow site launch?", "The launch of the Harlow site is on 31 March.", "Launch of the Harlow site slips to 20 April."),
        ("Which version is Northgate on?", "Northgate Dental runs version 4.2.1.", "Northgate upgraded to 4.3.0."),
        ("Who is our contact at Vantor?", "Our contact at Vantor is Luis Herrera.", "Carmen Vidal takes over from Luis at Vantor."),
        ("Who is our contact at Vantor?", "Vantor's contact: Luis Herrera, call before 5.", "Luis moved to another department. For Vantor ask Carmen Vidal instead."),
        ("Who is our contact at Alpenhof?", "The contact at Alpenhof is Resi Gruber.", "Resi is on leave, Florian Huber takes over her accounts at Alpenhof."),
        ("What does a case of olive oil cost?", "The olive oil is from Frantoio Belli, a case is 96 euros.", "Belli put their prices up, the case is 104 now."),
        ("What colour are we painting the kitchen?", "We'll paint the kitchen green.", "We're painting the kitchen white after all."),
    ],
)  # fmt: skip
def test_a_later_text_with_a_word_of_change_gives_another_value(
    query: str, old: str, new: str
) -> None:
    assert _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Where is the studio?", "Our studio is on Harbour Street.", "Clients can find the studio at 58 Weaver Lane."),
        ("Which region is production in?", "Our production cluster is in eu-west-1.", "Production lives in eu-central-1."),
        ("When does the gym close?", "The gym closes at 10 pm.", "The gym closes at 9 pm on weekdays."),
    ],
)  # fmt: skip
def test_no_word_of_change_is_needed_where_both_say_what_is_so(
    query: str, old: str, new: str
) -> None:
    assert _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What is the alarm code of the cellar?", "The alarm code of the cellar is 1111.", "The alarm code of the attic has changed to 2222."),
        ("When does bus line 14 leave?", "Bus line 14 leaves at quarter past.", "Bus line 7 now leaves at half past."),
        ("How high is the rent?", "The rent is 900 euros.", "The cellar rent was raised to 300 euros."),
        ("How cold is it in New York?", "In New York it is 20 degrees.", "In New York 3 people asked for you."),
        ("When is the birthday?", "My birthday is on 3 May.", "Now my birthday cake is gone."),
        ("Which is the favourite mug?", "My favourite mug is green.", "I left my mug at the office."),
        ("When is the birthday?", "My birthday is on 3 May.", "I got a new kayak for my birthday."),
        ("Who is the vet of our dog?", "The vet of our dog Rollo is Dr Hahn.", "Rollo got a new leash."),
        ("Who is our supplier of paper?", "Our supplier of paper is Ekman.", "Our supplier of ink is Dahl now."),
        ("Which CI do we use?", "Our CI is CircleCI.", "We might move CI to Buildkite next quarter."),
        ("What does she play?", "I play the cello.", "I also play the harp now."),
        ("Where is the office in York?", "Our office in York is in Mill Street.", "Our office in New York is in Pine Street."),
        ("Who is the dentist?", "My dentist is Dr Okoro.", "The dentist was lovely today."),
        ("How many hens are there?", "We keep 14 hens.", "Two hens laid eggs this morning."),
        ("Which plan is Acme on?", "Acme is on the Basic plan.", "Globex upgraded to the Premium plan."),
        ("How many bedrooms does my flat have?", "My flat has two bedrooms.", "Tine moved to a flat with three bedrooms."),
        ("What does the third floor have?", "The third floor has a kitchen.", "The fifth floor has a terrace and a kitchen."),
        ("When is the spring fair?", "The spring fair is on 3 May.", "The autumn fair got pushed to 9 October."),
        ("Which Postgres does staging run?", "Staging runs Postgres 15.", "Production was upgraded to Postgres 17."),
        ("What is Mara allergic to?", "Mara is allergic to peanuts.", "Mara moved to Porto in March."),
        ("When is the sauna heated?", "The sauna is heated on Sundays.", "The sauna is no longer heated on Mondays."),
        ("Where is the office?", "The office is in Bonn.", "It is not true that the office moved to Kiel."),
    ],
)  # fmt: skip
def test_a_text_about_something_else_gives_none(query: str, old: str, new: str) -> None:
    assert not _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("old", "new", "takes_the_place"),
    [
        ("The rent is 900 euros.", "The rent went up to 980 euros.", True),
        ("We deploy on Fridays.", "We no longer deploy on Fridays. Tuesdays it is.", True),
        ("The rent is 900 euros, and Ada collects it on Mondays.", "The rent went up to 980 euros.", False),
        ("The rent is 900 euros.", "The rent is 980 euros.", False),
        ("Greta speaks Danish.", "Greta speaks Finnish now.", False),
    ],
)  # fmt: skip
def test_what_says_one_thing_that_has_changed_is_replaced(
    old: str, new: str, takes_the_place: bool
) -> None:
    stems = stems_of("How much is the rent? When do we deploy? What does Greta speak?")
    texts = (UpdateText(text, query_stems=stems, speaker="lena") for text in (old, new))

    change = find_change(*texts, common=1.0, covered=1.0)

    assert change == ("replaced" if takes_the_place else "changed")


def test_what_is_said_of_oneself_is_changed_by_oneself_alone() -> None:
    texts = (
        "What is the locker number?",
        "My locker number is 118.",
        "My locker number is 204 now.",
    )

    assert _has_new_value(*texts)
    assert not _has_new_value(*texts, by_same=False)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Who leads Egret?", "Marcus leads Egret.", "Priya leads Egret now."),
        ("Who leads Egret?", "Leila leads Heron and Marcus leads Egret.", "Marcus left the company on Friday, so Priya leads Egret now."),
        ("Who is our plumber?", "Rasmus is our plumber.", "Nils is our plumber now."),
        ("Which firm audits the group?", "Deloitte audits the group.", "KPMG audits the group from now on."),
    ],
)  # fmt: skip
def test_another_subject_is_another_value_for_who_asks_for_it(
    query: str, old: str, new: str
) -> None:
    assert _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Who leads Heron?", "Ana leads Heron.", "Ben leads the Egret team now."),
        ("When does Heron ship?", "Heron ships on 12 May.", "Heron has a new manager since 26 May."),
        ("When does Heron ship?", "Heron ships on 12 May.", "Egret slipped by two weeks, the new date is 26 May."),
        ("Who runs the bakery in Graz?", "Ana runs the bakery in Graz.", "Otto runs the bakery in Linz now."),
        ("Who plays the violin?", "Ana plays the violin.", "Ben plays the violin too."),
        ("Who treats my knee?", "Dr. Moen treats my knee.", "Dr. Falk now treats my mother's knee."),
        ("Who repairs the lift in our block?", "Mr. Okafor repairs the lift in our block.", "Now Mr. Banda repairs the lift at the station."),
        ("Who reviews pull requests?", "Xenia reviews pull requests on Fridays.", "Yann reviewed a pull request yesterday and changed the title."),
        ("When is the school play?", "The school play is on 20 May.", "After the school play Noor got a new time for swimming, Friday at four."),
        ("What does the bakery in Graz sell?", "The bakery in Graz sells rye bread.", "Otto's bakery in Graz is closed on Mondays now."),
    ],
)  # fmt: skip
def test_another_subject_of_another_thing_is_none(query: str, old: str, new: str) -> None:
    assert not _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Has C-118 been signed?", "Acme signed contract C-118.", "Acme moved from Leeds to York."),
        ("When is the dentist appointment?", "Nils has a dentist appointment on 3 May.", "Nils switched from judo to tennis."),
        ("What can Lotte not eat?", "Our Lotte can't have nuts.", "Our Lotte goes to Mr Castellano now."),
        ("What is the policy number at Axa?", "The policy number with Axa is 8812-C.", "The policy number at Zurich is 8821-C."),
        ("Is #88231 still open?", "There is a new ticket #88231 from Vantor.", "For Vantor ask Carmen Vidal instead."),
        ("Who is the admin at Northgate?", "Customer Northgate runs version 4.2.1. The admin is Helen Marsh.", "At the weekend Northgate upgraded to 4.3.0."),
        ("What does Northgate run its server on?", "Customer Northgate runs version 4.2.1 on Server 2019.", "At the weekend Northgate upgraded to 4.3.0."),
        ("Who leads Heron?", "Leila leads Heron and Marcus leads Egret.", "Marcus left the company, so Priya leads Egret now."),
        ("When does the harlow site go live?", "The Harlow site is live by March.", "Bad news, Priya left Harlow. Tom Okafor is the contact there from now on."),
    ],
)  # fmt: skip
def test_a_change_of_something_else_about_the_same_name_is_none(
    query: str, old: str, new: str
) -> None:
    assert not _has_new_value(query, old, new)


@pytest.mark.parametrize(
    ("question", "requested"),
    [
        ("When is the fair?", "time"),
        ("Where is the fair?", "place"),
        ("Who runs the fair?", "subject"),
        ("Is the fair open?", "whether"),
        ("What is the fair called?", None),
    ],
)
def test_what_a_question_asks_for(question: str, requested: str | None) -> None:
    assert requested_by(question) == requested
