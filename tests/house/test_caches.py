"""Caches of the process: none is keyed by what people said, so that a word that was forgotten lives on nowhere."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.acceptance  # a gate of `make check`


ROOT = Path(__file__).parents[2]
ROOMS = ("memory", "stores", "activities", "workflows", "starter")
CACHES = {"cache", "lru_cache"}

# Each function whose results the process caches, and why no text of a person stays in it.
ALLOWED = {
    "activities/clients/english/lexicon.py": {
        "load_lexicon": "our own words",
        "pattern": "our own patterns",
    },
    "activities/clients/english/parsing.py": {
        "load_pipeline": "the parser, once; it forgets words with its memory zone",
    },
    "activities/clients/english/repairs.py": {"_words_in_haste": "our own words"},
    "activities/clients/english/corrections.py": {
        "_cue": "a pattern, once",
        "_trailing_cue": "a pattern, once",
    },
    "activities/clients/messages/machine_text.py": {"_pattern": "our own patterns"},
    "activities/clients/token_vectors.py": {
        "_loaded": "the model, once",
        "_shared": "directions of the model, once",
    },
    "memory/jobs/long_term/schemas.py": {
        "_checker": "structures of contracts, which the operator writes"
    },
    "memory/retrieval/agent_settings.py": {"_policy": "names of presets, and weights"},
    "memory/maintenance/compression.py": {"_denials": "our own words"},
    "memory/maintenance/duplicates.py": {
        "words_that_add_nothing": "our own words",
    },
    "memory/knowledge/predicates.py": {"default_predicates": "our own predicates"},
    "memory/language/word_forms.py": {
        "_verbs": "our own words",
        "_forms": "our own words",
        "_stemmer": "an algorithm, without words",
    },
    "memory/language/date_words.py": {"date_words": "our own words and patterns"},
    "memory/language/numbers.py": {"number_words": "our own words and patterns"},
    "memory/knowledge/time_mentions.py": {"_words": "our own patterns"},
    "memory/language/query_words.py": {"query_lists": "our own words and patterns"},
    "memory/forgetting/topic_names.py": {"_phrases": "our own words", "_separators": "a pattern"},
    "memory/language/acronyms.py": {"_ambiguous_words": "our own words"},
    "memory/language/function_words.py": {"_words": "our own words, and patterns of them"},
    "memory/forgetting/proper_names.py": {"_all": "our own words"},
    "memory/language/identifiers.py": {"_data": "our own words", "_patterns": "our own patterns"},
    "memory/language/word_lists.py": {"read_word_lists": "our own words"},
    "memory/retrieval/exact_terms.py": {
        "_no_names": "our own words",
        "_short_names": "our own words",
        "_pattern": "our own words, as a pattern",
        "_titles": "our own words",
        "_title_pattern": "our own words, as a pattern",
    },
    "stores/postgres/queries.py": {
        "_files": "our own files",
        "_statements": "our own statements",
        "_filtered": "our own statements, with the filters that are wanted",
    },
    "memory/retrieval/clauses.py": {
        "_patterns": "our own patterns",
        "_request_patterns": "our own patterns",
    },
    "memory/language/small_talk.py": {"_courtesies": "two patterns, once"},
    "memory/language/commands.py": {"_spaced": "our own words", "_unspaced": "two patterns, once"},
    "memory/packing.py": {"_spoken": "single characters"},
    "starter/importers/programs/mail_text.py": {"_words": "our own words"},
    "starter/importers/programs/whatsapp.py": {"_words": "our own words"},
    "starter/importers/speaker_words.py": {"_words": "our own words"},
    "memory/quotations.py": {"_openings": "a pattern, once", "_unsafe": "a pattern, once"},
}


def caches(source: str) -> Iterator[str]:
    """What lives as long as the process: functions that are cached at the top of a module or in a class."""
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(names_cache(decorator) for decorator in node.decorator_list):
                yield node.name
            continue  # what is cached within a call ends with it
        if isinstance(node, ast.Call) and names_cache(node.func):
            yield ast.unparse(node)
        todo += ast.iter_child_nodes(node)


def names_cache(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(function).split(".")[-1] in CACHES


@pytest.mark.parametrize("room", ROOMS)
def test_the_process_caches_nothing_that_people_said(room: str) -> None:
    found = {
        str(path.relative_to(ROOT)): set(caches(path.read_text(encoding="utf-8")))
        for path in (ROOT / room).rglob("*.py")
    }

    new = {
        path: names
        for path, cached in found.items()
        if (names := cached - ALLOWED.get(path, {}).keys())
    }

    assert not new, (
        f"{new} outlive a call. If their keys or values may be words of people, keep them in an object that lives as"
        " long as the call; else add them to ALLOWED, with the reason"
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("@cache\ndef f(text): ...", {"f"}),
        ("@functools.lru_cache(maxsize=10)\ndef f(text): ...", {"f"}),
        ("class A:\n    @lru_cache\n    def f(self): ...", {"f"}),
        ("f = lru_cache(10)(len)", {"lru_cache(10)(len)", "lru_cache(10)"}),
        ("def f(texts):\n    @cache\n    def g(text): ...", set()),
        ("@cached_property\ndef f(self): ...", set()),
    ],
)
def test_a_cache_of_the_process_is_found_however_it_is_made(source: str, found: set[str]) -> None:
    assert set(caches(source)) == found
