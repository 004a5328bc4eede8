"""Keep-outs: what is kept out of a text by hashes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.forgetting.suppression_list import (
    ExcludedNames,
    SuppressionKey,
    excluded_names,
    kept_topic,
)
from mnestic.memory.forgetting.topic_names import parse_topic

KEY = SuppressionKey(b"k" * 32, tenant_id="acme")
STEMS = {"divorce": ("divorc",), "divorced": ("divorc",), "divorcee": ("divorce",)}


def kept(topic: str, *, key: SuppressionKey = KEY) -> ExcludedNames:
    return excluded_names(parse_topic(topic), stems=STEMS, key=key)


def left(topic: str, text: str) -> str:
    found = kept_topic(text, [kept(topic)], stems=STEMS, key=KEY)
    return text if found is None else found.cut(text).left


@pytest.mark.parametrize(
    ("topic", "text", "stays"),
    [
        ("J. R. Alvarez", "J. R. Alvarez sings. We rest.", "We rest."),
        ("J. R. Alvarez", "JR Alvarez sings. We rest.", "We rest."),
        ("JR Alvarez", "J.R. Alvarez sings. We rest.", "We rest."),
        ("Olena", "OLENA sings. We rest.", "We rest."),
        ("Olena", "Olenas sings.", "Olenas sings."),
        ("Olena / Олена", "Tea is hot. Олена поёт.", "Tea is hot."),
        ("Project Falcon", "The project is late. A falcon flies. We rest.", "We rest."),
        ("Project Falcon", "The project is late.", "The project is late."),
        ("divorce", "They divorced, but we rest. Tea is hot.", "Tea is hot."),
        ("divorce", "They divorced last year; we rest here.", "we rest here."),
        ("divorce", "A divorcee sings.", "A divorcee sings."),
        ("東京", "来週東京に行く。京都は静か。", "京都は静か。"),
        ("219-09-9999", "It is 219099999 and I like tea. Bye.", "Bye."),
        ("219-09-9999", "It is 219-09-9998.", "It is 219-09-9998."),
        ("+33 6 12 34 56 78", "Call 0612345678. Bye.", "Bye."),
        ("06 12 34 56 78", "Call +33 6 12 34 56 78. Bye.", "Bye."),
        ("+33 6 12 34 56 78", "Call +34 612 34 56 78.", "Call +34 612 34 56 78."),
        ("olena@north.example", "Mail olena+shop@north.example. Bye.", "Bye."),
        ("olena+shop@north.example", 'Mail "olena"@north.example. Bye.', "Bye."),
        ("key sk_live_9Qx7Lm2Ra", "It is sk.live.9Qx7Lm2Ra. Bye.", "Bye."),
        ("OPS-311", "See https://tickets.example/browse/OPS-311. Bye.", "Bye."),
        ("olena@north.example", "Mail bohdan@north.example.", "Mail bohdan@north.example."),
        ("Maria Lopez", "Maria Silva and Ana Lopez sing.", "Maria Silva and Ana Lopez sing."),
        ("Maria Lopez", "Maria Lopez and Ana Silva sing. We rest.", "We rest."),
        ("#412", "Ticket 412 is done. Bye.", "Bye."),
    ],
)
def test_what_speaks_of_it_is_cut_out_by_its_hashes(topic: str, text: str, stays: str) -> None:
    assert left(topic, text) == stays


@given(st.text("abcdefghij ", min_size=1, max_size=30).filter(str.strip))
def test_a_tombstone_holds_no_word(topic: str) -> None:
    stored = kept(f"{topic} zebra").model_dump_json()

    assert "zebra" not in stored
    hashes = {one for name in kept("zebra").names for term in name for one in term.hashes}
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in hashes)


def test_hashes_are_a_tenant_s_and_a_secret_s_own() -> None:
    keys = [
        KEY,
        SuppressionKey(b"k" * 32, tenant_id="other"),
        SuppressionKey(b"x" * 32, tenant_id="acme"),
    ]

    assert len({kept("Olena", key=key).model_dump_json() for key in keys}) == 3
    assert len({key.id for key in keys}) == 3
    assert kept("Olena") == kept("olena")
