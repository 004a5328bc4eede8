"""Which texts say that something is different from before, and which earlier ones they revise or replace."""

import pytest

from mnestic.memory.language.change_words import is_revision
from mnestic.memory.language.statements import Statements
from mnestic.memory.retrieval.supersession import replaces


@pytest.mark.parametrize(
    "text",
    [
        "The limit goes up to 250 requests.",
        "The rent has gone up again.",
        "Aiko approves them from now on.",
        "Use my new email, please.",
        "I gave up coffee.",
        "The code was changed to 4410.",
        "Das Passwort heißt jetzt Mondfinsternis7.",
        "Ya no vivo en Lima.",
        "Nous avons déménagé à Brest.",
    ],
)
def test_words_of_change_are_found_in_some_languages(text: str) -> None:
    assert is_revision(text)


@pytest.mark.parametrize(
    "text",
    [
        "The limit is 100 requests.",
        "I know the newspaper.",
        "",
        "Der Schlüssel hängt hier.",
        "Our office in New York is closed.",
        "Was often meant.",
        "There is one slice left.",
    ],
)
def test_what_only_tells_how_it_is_revises_nothing(text: str) -> None:
    assert not is_revision(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "The grey bin goes out on Thursdays, every other week.",
            "They changed it again! The grey bin goes out on Fridays now.",
        ),
        (
            "Oh and the bins: the grey bin goes out on Thursdays, every other week.",
            "They changed it again! The grey bin goes out on Fridays now.",
        ),
        (
            "Our broadband is with Skylark, 32 pounds a month.",
            "Switched the broadband from Skylark to Brightnet today, 27 pounds a month, and the engineer was lovely.",
        ),
        (
            "Our broadband is with Skylark, 32 pounds a month.",
            "The broadband is with Orbit now; we left Brightnet after the third outage.",
        ),
        (
            "Switched the broadband from Skylark to Brightnet today, 27 pounds a month.",
            "The broadband is with Orbit now; we left Brightnet after the third outage.",
        ),
        (
            "Tess's orthodontist appointment is on 12 March at four.",
            "The orthodontist rang, Tess's appointment has been moved to 19 March at half past two.",
        ),
        (
            "Tess's orthodontist appointment is on 12 March at four.",
            "And again, argh: Tess's orthodontist appointment is postponed to 2 April at 8:30.",
        ),
        (
            "The orthodontist rang, Tess's appointment has been moved to 19 March at half past two.",
            "And again, argh: Tess's orthodontist appointment is postponed to 2 April at 8:30.",
        ),
        (
            "The primary on-call for Lantern is Priya.",
            "From March on the primary on-call for Lantern is Tomasz.",
        ),
        (
            "The primary on-call for Lantern is Priya.",
            "Yuki took over as primary on-call for Lantern, Tomasz is only the backup.",
        ),
        (
            "From March on the primary on-call for Lantern is Tomasz.",
            "Yuki took over as primary on-call for Lantern, Tomasz is only the backup.",
        ),
        (
            "We deploy Lantern on Thursdays at 16:00.",
            "The deployments of Lantern were moved to Tuesdays at 10:00.",
        ),
        (
            "We deploy Lantern on Thursdays at 16:00.",
            "Lantern is now deployed on Wednesdays at 11:00, because Tuesdays clashed with the sales call.",
        ),
        (
            "The deployments of Lantern were moved to Tuesdays at 10:00.",
            "Lantern is now deployed on Wednesdays at 11:00, because Tuesdays clashed with the sales call.",
        ),
        (
            "Ostara Logistics pays 1,200 euros a month.",
            "They signed! From June on Ostara Logistics pays 1,600 euros a month.",
        ),
        (
            "After the renewal Ostara Logistics pays 1,450 euros a month.",
            "They signed! From June on Ostara Logistics pays 1,600 euros a month.",
        ),
        (
            "The home match against Falcons is on Saturday 5 April at 14:00.",
            "The home match against Falcons was moved to Sunday 13 April at 11:00.",
        ),
        (
            "The home match against Falcons was moved to Sunday 13 April at 11:00.",
            "Moved yet again, sorry everyone: the match against Falcons is now on Wednesday 23 April at 19:30, under floodlights.",
        ),
        (
            "The code of locker 12 is 4471.",
            "The code of locker 12 is 8086 now, Sanne had forgotten the old one.",
        ),
        (
            "Our main sponsor is Brouwer Bakery.",
            "Brouwer Bakery pulled out; our main sponsor is Kade Insurance from January on.",
        ),
        (
            "Our coffee beans come from Hobart Roasters, you can taste the chocolate.",
            "The coffee beans come from Finch and Daughter now, no more Hobart Roasters.",
        ),
        (
            "The coffee beans come from Finch and Daughter now, no more Hobart Roasters.",
            "Finch and Daughter are closing, so from now on our coffee beans come from Moor Coffee.",
        ),
        ("The pool opens at 7 in the morning.", "The pool now opens at 9 in the morning."),
        ("The membership fee is 300 euros a year.", "The membership fee was raised to 330 euros."),
        ("The head of sales is Petra.", "Omar took over from Petra as head of sales."),
        ("Project Heron ships on 1 June.", "Project Heron has been postponed to 1 July."),
        (
            "Our day rate for new clients is 780 euros.",
            "As of January our day rate for new clients is 820 euros.",
        ),
        (
            "The weekly review takes place on Tuesdays at 9:30 in the attic.",
            "The weekly review now takes place on Mondays at 10.",
        ),
    ],
)
def test_another_value_of_the_same_kind_takes_the_place_of_one(old: str, new: str) -> None:
    assert replaces(Statements(new), Statements(old), by_same=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The grey bin goes out on Thursdays.", "The green bin goes out on Fridays now."),
        ("The bin goes out on Thursdays.", "The green bin goes out on Fridays now."),
        ("Ben's rate is 40 euros.", "Anna's rate is now 50 euros."),
        ("Lantern is written in Rust.", "Harbor is written in Go now."),
        ("Marcus likes tea.", "Helen likes tea now."),
        ("Standup is at 9:15 in room Elm.", "Standup moved to room Oak."),
        ("The code of locker 7 is 3310.", "The code of locker 12 is 8086 now."),
        ("The gym opens at 6.", "From now on the sauna opens at 10."),
        ("Bus line 14 leaves at 9:15.", "Bus line 7 now leaves at 9:30."),
        ("The head of sales is Petra.", "The new head of marketing is Lin."),
        ("My birthday is on 3 May.", "We moved the party to 4 May."),
        (
            "The alarm code of the cellar is 1111.",
            "The alarm code of the attic has changed to 2222.",
        ),
        (
            "The limit is 100 requests per minute for free users.",
            "The limit goes up to 250 requests per minute for paying users.",
        ),
        ("The new office is in Mill Street.", "Our office now has a coffee machine from Jura."),
        ("Anna moved to Berlin.", "Ben moved to Hamburg."),
        ("Anna is on holiday until 3 May.", "Ben is on holiday until 4 June now."),
        ("The director is Aurelio.", "The deputy director is Casimir now."),
        ("Pump 3 is serviced by Otto.", "Pump 4 is now serviced by Karl."),
        (
            "The meeting with Kestrel is on Monday.",
            "The meeting with Palladio was moved to Tuesday.",
        ),
        (
            "We paid 120 euros for the March bill.",
            "We paid 140 euros for the April bill, prices have changed.",
        ),
        ("Rosa takes 5 mg of the drug.", "Rosa's new doctor is Dr Weiss."),
        ("The train to Leeds leaves at 7:40.", "The train to York now leaves at 8:10."),
        ("I live in Leeds.", "I moved the piano to Leeds."),
        ("Tickets for adults cost 20 euros.", "Tickets for children now cost 8 euros."),
        ("Backups are kept for 90 days.", "Logs are now kept for 30 days."),
        ("The API is down since 09:10.", "The API is up again."),
        ("Emma is allergic to nuts.", "Emma is no longer allergic to eggs."),
        ("The pool opens at 7.", "The pool opens at 9."),
        ("Platform 2 has trains to Leeds.", "Platform 2 now has trains to York."),
        ("The yoga class is on Mondays.", "The yoga class is on Thursdays now, too."),
        ("I ran 5 km.", "I ran 8 km today."),
        ("My boss is Petra.", "My boss is in Rome now."),
        ("The office is in York.", "Is the office in Leeds now?"),
        ("Anna lives in Leeds.", "Anna no longer lives in York."),
        ("The Berlin team is led by Petra.", "The Hamburg team is led by Petra now."),
        ("The roof was repaired in 2018.", "The roof was replaced in 2023."),
        ("The shop opens at 9:00.", "The shop now opens at 10:00 on Sundays."),
        ("The grey bin goes out on Thursdays.", "The bin goes out on Fridays now."),
        ("Daniel's rate is 40 euros.", "Daniela's rate is 50 euros now."),
        ("Locker 7 belongs to Sanne.", "Locker 9 belongs to Sanne now."),
        ("The class has 20 pupils.", "The class has 2 teachers now."),
        (
            "The rent of the flat is 900 euros. The landlord of the flat is Mr Kim, from Leeds.",
            "The rent of the flat is 950 euros now.",
        ),
    ],
)
def test_what_is_said_of_something_else_takes_no_place(old: str, new: str) -> None:
    assert not replaces(Statements(new), Statements(old), by_same=True)


def test_what_somebody_says_of_their_own_is_in_nobody_elses_place() -> None:
    old, new = "My desk is on floor 3.", "My desk is on floor 5 now."

    assert replaces(Statements(new), Statements(old), by_same=True)
    assert not replaces(Statements(new), Statements(old), by_same=False)
    assert replaces(
        Statements(new.replace("My", "The")), Statements(old.replace("My", "The")), by_same=False
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "The spare key is under the blue flowerpot.",
            "The spare key isn't under the flowerpot any more, it's with our neighbour Joost.",
        ),
        ("The shop is open on Sundays.", "The shop is no longer open on Sundays."),
        ("We share the garden shed with Ida.", "We don't share the garden shed with Ida anymore."),
    ],
)
def test_what_is_said_to_be_so_no_more_is_told_no_more(old: str, new: str) -> None:
    assert replaces(Statements(new), Statements(old), by_same=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I drink coffee and tea.", "I no longer drink coffee."),
        ("I eat pizza.", "I can't eat any more pizza."),
        ("The shop is open.", "The shop isn't open on Sundays any more."),
        ("The shop is open on Sundays.", "The shop isn't open any more."),
        ("The heater in the hall is on.", "The old heater in the hall is not on any more."),
        ("The key isn't under the flowerpot.", "The key isn't under the flowerpot any more."),
        ("The pool is open in June.", "Is the pool no longer open in June?"),
        ("The pool is open in June.", "Call me if the pool is no longer open in June."),
        ("The desk is in the hall.", "It is in the hall no longer."),
        (
            "The key is under the flowerpot. The dog sleeps by the big window upstairs.",
            "The key is no longer under the flowerpot.",
        ),
    ],
)
def test_what_is_denied_only_in_part_is_told_still(old: str, new: str) -> None:
    assert not replaces(Statements(new), Statements(old), by_same=True)
