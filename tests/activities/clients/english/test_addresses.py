"""Whose an address or a number is: the speaker's only where the message says so."""

import pytest

from tests.activities.clients.english.claims import last_claims

PHONE, EMAIL = "0176 5554433", "kim@new.example"


@pytest.mark.parametrize(
    "text",
    [
        f"My plumber is Rasmus Dahl, {PHONE}.",
        f"The plumber we use is Rasmus Dahl, {PHONE}.",
        f"Our new dentist is Dr. Okafor, {PHONE}.",
        f"My sister can be reached at {PHONE}.",
        f"My landlord's number is {PHONE}.",
        f"The school's new number is {PHONE}.",
        f"For the boiler use Warmtech, {PHONE}.",
        f"Use Warmtech's number {PHONE}.",
        f"My doctor, {PHONE}, is away.",
        f"My son Emil: {PHONE}",
        f"My son Emil's number: {PHONE}",
        f"The new vet: {PHONE}",
        f"Our vet's email: {EMAIL}",
        f"Number of the school: {PHONE}",
        f"The emergency number is {PHONE}.",
        f"I use Nordlys as my courier, {EMAIL}.",
        f"We use {EMAIL} for tickets.",
        f"In my absence write to {EMAIL}.",
        f"My accountant is on {PHONE} all day.",
        f"Ana gave me {PHONE} for emergencies.",
        f"Remind me that the roofer is on {PHONE}.",
    ],
)
def test_an_address_of_others_is_not_the_speakers(text: str) -> None:
    affirmed = [claim for claim in last_claims(text) if claim[0] == "affirmed"]
    assert not [claim for claim in affirmed if claim[3] in {PHONE, EMAIL}]


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        (f"My number is {PHONE}.", "phone"),
        (f"My new number: {PHONE}", "phone"),
        (f"New number: {PHONE}", "phone"),
        (f"Phone: {PHONE}", "phone"),
        (f"My work number changed, it's {PHONE} now.", "phone"),
        (f"Reach me on {PHONE}.", "phone"),
        (f"Catch me at {PHONE} tonight.", "phone"),
        (f"You can get me on {PHONE}.", "phone"),
        (f"You can use {PHONE} for me.", "phone"),
        (f"I can be reached at {PHONE}.", "phone"),
        (f"My new mail is {EMAIL}.", "email"),
        (f"mail: {EMAIL}", "email"),
        (f"Hit me up at {EMAIL}!", "email"),
        (f"Please use {EMAIL}.", "email"),
        (f"Please use this address from now on: {EMAIL}", "email"),
    ],
)
def test_an_address_of_the_speaker_is_known_as_such(text: str, predicate: str) -> None:
    value = PHONE if predicate == "phone" else EMAIL
    assert ("affirmed", "Ada", predicate, value) in last_claims(text)
