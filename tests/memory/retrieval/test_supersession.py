"""Which earlier texts are left out, since a later one takes their place."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mnestic.memory.language.changes.change_words import is_revision, stems_of
from mnestic.memory.retrieval.candidates import RankingQuery
from mnestic.memory.retrieval.supersession import apply_supersession
from tests.memory.retrieval.candidate_samples import Sample, candidates

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_DAY = timedelta(days=1)


def _is_replaced(
    query: str,
    old: str,
    new: str,
    *,
    by_same: bool = True,
    begins: datetime | None = None,
    includes_past: bool = False,
) -> bool:
    """Whether the earlier text is left out of the answers to a query; `begins` is when the later one names a day."""
    stems = sorted(stems_of(query))
    texts = (
        Sample(
            number=number,
            at=_NOON - days * _DAY,
            content=text,
            speaker=speaker,
            revises=is_revision(text),
            lexemes=sum(1 << bit for bit, stem in enumerate(stems) if stem in stems_of(text)),
            times=() if begins is None else ((begins, begins + _DAY),),
        )
        for number, (days, text, speaker) in enumerate(
            ((90, old, "lena"), (30, new, "lena" if by_same else "otto"))
        )
    )
    found = RankingQuery(
        asked_at=_NOON,
        weights=(2.0,) * len(stems),
        stems=frozenset(stems),
        includes_past=includes_past,
    )

    _, replaced = apply_supersession(candidates(texts), found, total=np.ones(2))

    assert not replaced[1]
    return bool(replaced[0])


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("When does the grey bin go out?", "The grey bin goes out on Thursdays, every other week.", "They changed it again! The grey bin goes out on Fridays now."),
        ("When does the grey bin go out?", "Oh and the bins: the grey bin goes out on Thursdays, every other week.", "They changed it again! The grey bin goes out on Fridays now."),
        ("Who is our broadband with?", "Our broadband is with Skylark, 32 pounds a month.", "Switched the broadband from Skylark to Brightnet today, 27 pounds a month, and the engineer was lovely."),
        ("Who is our broadband with?", "Our broadband is with Skylark, 32 pounds a month.", "The broadband is with Orbit now; we left Brightnet after the third outage."),
        ("Who is our broadband with?", "Switched the broadband from Skylark to Brightnet today, 27 pounds a month.", "The broadband is with Orbit now; we left Brightnet after the third outage."),
        ("When is Tess's orthodontist appointment?", "Tess's orthodontist appointment is on 12 March at four.", "The orthodontist rang, Tess's appointment has been moved to 19 March at half past two."),
        ("When is Tess's orthodontist appointment?", "Tess's orthodontist appointment is on 12 March at four.", "And again, argh: Tess's orthodontist appointment is postponed to 2 April at 8:30."),
        ("When is Tess's orthodontist appointment?", "The orthodontist rang, Tess's appointment has been moved to 19 March at half past two.", "And again, argh: Tess's orthodontist appointment is postponed to 2 April at 8:30."),
        ("Who is the primary on-call for Lantern?", "The primary on-call for Lantern is Priya.", "From March on the primary on-call for Lantern is Tomasz."),
        ("Who is the primary on-call for Lantern?", "The primary on-call for Lantern is Priya.", "Yuki took over as primary on-call for Lantern, Tomasz is only the backup."),
        ("Who is the primary on-call for Lantern?", "From March on the primary on-call for Lantern is Tomasz.", "Yuki took over as primary on-call for Lantern, Tomasz is only the backup."),
        ("When do we deploy Lantern?", "We deploy Lantern on Thursdays at 16:00.", "The deployments of Lantern were moved to Tuesdays at 10:00."),
        ("When do we deploy Lantern?", "We deploy Lantern on Thursdays at 16:00.", "Lantern is now deployed on Wednesdays at 11:00, because Tuesdays clashed with the sales call."),
        ("When do we deploy Lantern?", "The deployments of Lantern were moved to Tuesdays at 10:00.", "Lantern is now deployed on Wednesdays at 11:00, because Tuesdays clashed with the sales call."),
        ("How much does Ostara Logistics pay a month?", "Ostara Logistics pays 1,200 euros a month.", "They signed! From June on Ostara Logistics pays 1,600 euros a month."),
        ("How much does Ostara Logistics pay a month?", "After the renewal Ostara Logistics pays 1,450 euros a month.", "They signed! From June on Ostara Logistics pays 1,600 euros a month."),
        ("When is the home match against Falcons?", "The home match against Falcons is on Saturday 5 April at 14:00.", "The home match against Falcons was moved to Sunday 13 April at 11:00."),
        ("When is the match against Falcons?", "The home match against Falcons was moved to Sunday 13 April at 11:00.", "Moved yet again, sorry everyone: the match against Falcons is now on Wednesday 23 April at 19:30, under floodlights."),
        ("What is the code of locker 12?", "The code of locker 12 is 4471.", "The code of locker 12 is 8086 now, Sanne had forgotten the old one."),
        ("Who is our main sponsor?", "Our main sponsor is Brouwer Bakery.", "Brouwer Bakery pulled out; our main sponsor is Kade Insurance from January on."),
        ("Where do our coffee beans come from?", "Our coffee beans come from Hobart Roasters, you can taste the chocolate.", "The coffee beans come from Finch and Daughter now, no more Hobart Roasters."),
        ("Where do our coffee beans come from?", "The coffee beans come from Finch and Daughter now, no more Hobart Roasters.", "Finch and Daughter are closing, so from now on our coffee beans come from Moor Coffee."),
        ("When does the pool open?", "The pool opens at 7 in the morning.", "The pool now opens at 9 in the morning."),
        ("How much is the membership fee?", "The membership fee is 300 euros a year.", "The membership fee was raised to 330 euros."),
        ("Who is the head of sales?", "The head of sales is Petra.", "Omar took over from Petra as head of sales."),
        ("When is Project Heron?", "Project Heron ships on 1 June.", "Project Heron has been postponed to 1 July."),
        ("What is our day rate for new clients?", "Our day rate for new clients is 780 euros.", "As of January our day rate for new clients is 820 euros."),
        ("When is the weekly review?", "The weekly review takes place on Tuesdays at 9:30 in the attic.", "The weekly review now takes place on Mondays at 10."),
    ],
)  # fmt: skip
def test_another_value_of_the_same_kind_takes_the_place_of_one(
    query: str, old: str, new: str
) -> None:
    assert _is_replaced(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("When does the grey bin go out?", "The grey bin goes out on Thursdays.", "The green bin goes out on Fridays now."),
        ("When does the bin go out?", "The bin goes out on Thursdays.", "The green bin goes out on Fridays now."),
        ("What is Ben's rate?", "Ben's rate is 40 euros.", "Anna's rate is now 50 euros."),
        ("What is Lantern written in?", "Lantern is written in Rust.", "Harbor is written in Go now."),
        ("What does Marcus like?", "Marcus likes tea.", "Helen likes tea now."),
        ("When is the standup?", "Standup is at 9:15 in room Elm.", "Standup moved to room Oak."),
        ("What is the code of locker 7?", "The code of locker 7 is 3310.", "The code of locker 12 is 8086 now."),
        ("When does the gym open?", "The gym opens at 6.", "From now on the sauna opens at 10."),
        ("When does bus line 14 leave?", "Bus line 14 leaves at 9:15.", "Bus line 7 now leaves at 9:30."),
        ("Who is the head of sales?", "The head of sales is Petra.", "The new head of marketing is Lin."),
        ("When is my birthday?", "My birthday is on 3 May.", "We moved the party to 4 May."),
        ("What is the alarm code of the cellar?", "The alarm code of the cellar is 1111.", "The alarm code of the attic has changed to 2222."),
        ("What is the limit for free users?", "The limit is 100 requests per minute for free users.", "The limit goes up to 250 requests per minute for paying users."),
        ("Where is the new office?", "The new office is in Mill Street.", "Our office now has a coffee machine from Jura."),
        ("Where did Anna move?", "Anna moved to Berlin.", "Ben moved to Hamburg."),
        ("Until when is Anna on holiday?", "Anna is on holiday until 3 May.", "Ben is on holiday until 4 June now."),
        ("Who is the director?", "The director is Aurelio.", "The deputy director is Casimir now."),
        ("Who services pump 3?", "Pump 3 is serviced by Otto.", "Pump 4 is now serviced by Karl."),
        ("When is the meeting with Kestrel?", "The meeting with Kestrel is on Monday.", "The meeting with Palladio was moved to Tuesday."),
        ("How much was the March bill?", "We paid 120 euros for the March bill.", "We paid 140 euros for the April bill, prices have changed."),
        ("How much of the drug does Rosa take?", "Rosa takes 5 mg of the drug.", "Rosa's new doctor is Dr Weiss."),
        ("When does the train to Leeds leave?", "The train to Leeds leaves at 7:40.", "The train to York now leaves at 8:10."),
        ("Where do I live?", "I live in Leeds.", "I moved the piano to Leeds."),
        ("How much are tickets for adults?", "Tickets for adults cost 20 euros.", "Tickets for children now cost 8 euros."),
        ("How long are backups kept?", "Backups are kept for 90 days.", "Logs are now kept for 30 days."),
        ("Is the API down?", "The API is down since 09:10.", "The API is up again."),
        ("What is Emma allergic to?", "Emma is allergic to nuts.", "Emma is no longer allergic to eggs."),
        ("When does the pool open?", "The pool opens at 7.", "The pool opens at 9."),
        ("Where do the trains of platform 2 go?", "Platform 2 has trains to Leeds.", "Platform 2 now has trains to York."),
        ("When is the yoga class?", "The yoga class is on Mondays.", "The yoga class is on Thursdays now, too."),
        ("How far did I run?", "I ran 5 km.", "I ran 8 km today."),
        ("Who is my boss?", "My boss is Petra.", "My boss is in Rome now."),
        ("Where is the office?", "The office is in York.", "Is the office in Leeds now?"),
        ("Where does Anna live?", "Anna lives in Leeds.", "Anna no longer lives in York."),
        ("Who leads the Berlin team?", "The Berlin team is led by Petra.", "The Hamburg team is led by Petra now."),
        ("When was the roof repaired?", "The roof was repaired in 2018.", "The roof was replaced in 2023."),
        ("When does the shop open?", "The shop opens at 9:00.", "The shop now opens at 10:00 on Sundays."),
        ("When does the grey bin go out?", "The grey bin goes out on Thursdays.", "The bin goes out on Fridays now."),
        ("What is Daniel's rate?", "Daniel's rate is 40 euros.", "Daniela's rate is 50 euros now."),
        ("Who does locker 7 belong to?", "Locker 7 belongs to Sanne.", "Locker 9 belongs to Sanne now."),
        ("How many pupils does the class have?", "The class has 20 pupils.", "The class has 2 teachers now."),
        ("How much is the rent of the flat?", "The rent of the flat is 900 euros. The landlord of the flat is Mr Kim, from Leeds.", "The rent of the flat is 950 euros now."),
    ],
)  # fmt: skip
def test_what_is_said_of_something_else_takes_no_place(query: str, old: str, new: str) -> None:
    assert not _is_replaced(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("Where is the spare key?", "The spare key is under the blue flowerpot.", "The spare key isn't under the flowerpot any more, it's with our neighbour Joost."),
        ("When is the shop open?", "The shop is open on Sundays.", "The shop is no longer open on Sundays."),
        ("Who do we share the garden shed with?", "We share the garden shed with Ida.", "We don't share the garden shed with Ida anymore."),
    ],
)  # fmt: skip
def test_what_is_so_no_more_is_left_out(query: str, old: str, new: str) -> None:
    assert _is_replaced(query, old, new)


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What do I drink?", "I drink coffee and tea.", "I no longer drink coffee."),
        ("What do I eat?", "I eat pizza.", "I can't eat any more pizza."),
        ("Is the shop open?", "The shop is open.", "The shop isn't open on Sundays any more."),
        ("When is the shop open?", "The shop is open on Sundays.", "The shop isn't open any more."),
        ("Is the heater in the hall on?", "The heater in the hall is on.", "The old heater in the hall is not on any more."),
        ("Where is the key?", "The key isn't under the flowerpot.", "The key isn't under the flowerpot any more."),
        ("When is the pool open?", "The pool is open in June.", "Is the pool no longer open in June?"),
        ("When is the pool open?", "The pool is open in June.", "Call me if the pool is no longer open in June."),
        ("Where is the desk?", "The desk is in the hall.", "It is in the hall no longer."),
        ("Where is the key?", "The key is under the flowerpot. The dog sleeps by the big window upstairs.", "The key is no longer under the flowerpot."),
    ],
)  # fmt: skip
def test_what_is_denied_only_in_part_comes_back(query: str, old: str, new: str) -> None:
    assert not _is_replaced(query, old, new)


def test_nobody_replaces_what_somebody_else_says_of_their_own() -> None:
    query, old, new = (
        "On which floor is my desk?",
        "My desk is on floor 3.",
        "My desk is on floor 5 now.",
    )
    of_desk = (query, old.replace("My", "The"), new.replace("My", "The"))

    assert _is_replaced(query, old, new)
    assert not _is_replaced(query, old, new, by_same=False)
    assert _is_replaced(*of_desk, by_same=False)


def test_what_is_still_to_come_replaces_nothing() -> None:
    texts = (
        "How much is the rent?",
        "The rent is 900 euros.",
        "From 1 June on the rent is 980 euros.",
    )

    assert _is_replaced(*texts, begins=_NOON - _DAY)
    assert not _is_replaced(*texts, begins=_NOON + _DAY)


def test_where_the_past_is_included_nothing_is_left_out() -> None:
    texts = ("How much is the rent?", "The rent is 900 euros.", "The rent went up to 980 euros.")

    assert _is_replaced(*texts)
    assert not _is_replaced(*texts, includes_past=True)
