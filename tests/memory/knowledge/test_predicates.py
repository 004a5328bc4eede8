import sys
import unicodedata

from pydantic import ValidationError

from mnestic.memory.knowledge.claims import Span
from mnestic.memory.knowledge.extraction import Extracted
from mnestic.memory.knowledge.predicates import check_predicate, predicate_of
from mnestic.memory.knowledge.prompt_facts import KnowledgeSelection
from tests.memory.tables import not_refused, tables, wrong

CASES = tables(__file__)


def test_words_of_any_script_name_a_predicate() -> None:
    names = [name for _, name in CASES["names"]]

    assert wrong(CASES["names"], predicate_of) == []
    assert list(map(check_predicate, names)) == names
    assert KnowledgeSelection(predicates=tuple(names)).predicates == tuple(names)
    for name in names:
        Extracted(subject="Ida", predicate=name, span=Span(start=0, end=1))


def test_a_predicate_keeps_every_letter_and_is_named_by_itself() -> None:
    letters = [
        one for one in map(chr, range(sys.maxunicode)) if unicodedata.category(one)[0] == "L"
    ]

    names = {one: predicate_of(f"x{one}x") for one in letters}

    lost = [one for one, name in names.items() if name in {"xx", "x_x"}]
    assert lost == ["\u2e2f"]  # a tilde, which identifiers leave out
    assert [one for one, name in names.items() if predicate_of(name) != name] == []


def test_words_that_begin_with_no_letter_or_are_too_long_name_none() -> None:
    assert not_refused(CASES["none"], predicate_of) == []


def test_a_name_that_is_none_is_refused_with_one_that_is() -> None:
    rows = [(name, f"such as {instead}") for name, instead in CASES["instead"]]

    def select(name: str) -> KnowledgeSelection:
        return KnowledgeSelection(predicates=(name,))

    assert not_refused(rows, check_predicate) == []
    assert not_refused(rows, select, error=ValidationError) == []
