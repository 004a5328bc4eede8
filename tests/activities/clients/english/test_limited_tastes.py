"""What somebody does not eat, drink or like at a time or in a place alone is no taste."""

import pytest

from tests.activities.clients.english.claims import said

TASTES = {"avoids", "dislikes", "drinks", "eats", "likes"}


@pytest.mark.parametrize(
    "text",
    [
        "I never eat cheese after nine.",
        "I don't drink wine at lunch.",
        "I drink beer only abroad.",
        "I eat fish only at my mother's.",
        "I hate jazz before breakfast.",
        "I never eat meat on Fridays.",
        "I only drink tea in winter.",
        "I don't like coffee without sugar.",
    ],
)
def test_what_is_so_at_times_alone_claims_no_taste(text: str) -> None:
    (claims,) = said(text)

    assert not [one for one in claims if one.predicate in TASTES]


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I never eat cheese.", "avoids", "cheese"),
        ("I don't eat meat at all.", "avoids", "meat"),
        ("I don't eat meat on principle.", "avoids", "meat"),
        ("I never eat pork in any form.", "avoids", "pork"),
        ("I don't eat meat for ethical reasons.", "avoids", "meat"),
        ("I love jazz in the morning.", "likes", "jazz"),
        ("I eat fish on Fridays.", "eats", "fish"),
    ],
)
def test_what_is_so_without_limits_claims_a_taste(text: str, predicate: str, value: str) -> None:
    (claims,) = said(text)

    assert (predicate, value) in {
        (one.predicate, one.object) for one in claims if one.kind == "affirmed"
    }
