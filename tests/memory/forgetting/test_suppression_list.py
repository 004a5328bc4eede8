"""Keep-outs: what is kept out of a text by hashes alone."""

from hypothesis import given
from hypothesis import strategies as st

from mnestic.memory.forgetting.suppression_list import (
    ExcludedNames,
    SuppressionKey,
    excluded_names,
    kept_topic,
)
from mnestic.memory.forgetting.topic_names import parse_topic
from tests.memory.tables import tables, wrong

KEY = SuppressionKey(b"k" * 32, tenant_id="acme")
STEMS = {"divorce": ("divorc",), "divorced": ("divorc",), "divorcee": ("divorce",)}


def kept(topic: str, *, key: SuppressionKey = KEY) -> ExcludedNames:
    return excluded_names(parse_topic(topic), stems=STEMS, key=key)


def left(topic: str, text: str) -> str:
    found = kept_topic(text, [kept(topic)], stems=STEMS, key=KEY)
    return text if found is None else found.cut(text).left


def test_what_speaks_of_it_is_cut_out_by_its_hashes() -> None:
    assert wrong(tables(__file__)["left"], left) == []


@given(st.text("abcdefghij ", min_size=1, max_size=30).filter(str.strip))
def test_a_tombstone_holds_no_word(topic: str) -> None:
    stored = kept(f"{topic} zebra")

    assert "zebra" not in stored.model_dump_json()
    hashes = {one for name in stored.names for term in name for one in term.hashes}
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
