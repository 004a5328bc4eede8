"""Full text search in the language of each entry, and of each script."""

# ruff: noqa: RUF001 (letters and punctuation of other scripts are meant)

from collections.abc import Mapping
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from mnestic.memory.knowledge.claims import name_key
from mnestic.memory.ports import Transaction
from mnestic.starter.settings import Settings
from tests.stores.conftest import Begin
from tests.stores.entry_samples import entry
from tests.stores.search_samples import parsed_query, read_words, resolve

Owner = psycopg.Connection[TupleRow]


async def keep(begin: Begin, language: str, **contents: str) -> None:
    async with begin() as transaction:
        await transaction.settings.put("language", language)
        await transaction.entries.add([entry(*said) for said in contents.items()])


async def near_names(transaction: Transaction, *words: str) -> Mapping[str, str]:
    return (await transaction.search.suggest(words, ())).names


async def find(transaction: Transaction, *words: str, **asked: Any) -> set[str]:
    """The ids of entries that have any of the words."""
    vocabulary = await read_words(transaction, *words, **asked)
    found = await transaction.search.find_candidates(parsed_query(vocabulary=vocabulary))
    return {text.entry_id for text in found.texts}


@pytest.mark.parametrize(
    ("language", "content", "asked", "silent"),
    [
        ("german", "Die Häuser am Fluss wurden verkauft.", "haus", "am"),
        ("french", "L’église est fermée aux visiteurs.", "églises", "est"),
        ("russian", "В библиотеке много «книг».", "книга", "в"),
        ("simple", "駅前のラーメン屋は深夜二時まで。", "ラーメン", "。"),
        ("simple", "ร้านอาหารเปิดกี่โมง", "อาหาร", "!"),
    ],
)
async def test_a_form_of_a_word_is_found_in_the_entry_s_language(
    begin: Begin, language: str, content: str, asked: str, silent: str
) -> None:
    await keep(begin, language, said=content)

    async with begin(write=False) as transaction:
        assert await find(transaction, asked) == {"said"}
        assert await find(transaction, silent) == set()


async def test_each_entry_keeps_its_language_and_all_are_asked(
    begin: Begin, owner: Owner, settings: Settings
) -> None:
    await keep(begin, "english", old="Two houses were sold.")
    await keep(begin, "german", new="Die Häuser wurden verkauft.")
    async with begin() as transaction:
        changed = await transaction.entries.get("old")
        await transaction.entries.change(
            [changed.model_copy(update={"content": "The houses were selling."})]
        )

    async with begin(write=False) as transaction:
        assert await find(transaction, "sells") == {"old"}
        assert await find(transaction, "haus") == {"new"}
        assert await find(transaction, "house", "häusern") == {"old", "new"}
        counted = await read_words(transaction, "häuser")
    assert [sorted(one.lexemes) for one in counted.query_lexemes] == [["haus", "häuser"]]
    query = "SELECT id, language FROM mnestic.entry WHERE tenant_id = %s ORDER BY id"
    rows = owner.execute(query, [settings.tenant_id]).fetchall()
    assert rows == [("new", "german"), ("old", "english")]
    query = "SELECT languages FROM mnestic.corpus WHERE tenant_id = %s"
    assert owner.execute(query, [settings.tenant_id]).fetchall() == [(["english", "german"],)]


async def test_function_words_of_the_question_s_language_are_not_looked_for(begin: Begin) -> None:
    await keep(begin, "english", war="The war was about a hat.")
    await keep(begin, "german", hut="Der Hut war rot.")

    async with begin(write=False) as transaction:
        assert await find(transaction, "war") == {"war"}
        assert await find(transaction, "cold", "war") == {"war"}
        assert await find(transaction, "was", "war", "der", "hut") == {"hut"}
        assert await find(transaction, "where", "is", "the", "hat") == {"war"}


async def test_english_function_words_say_nothing_to_whom_english_is_foreign(begin: Begin) -> None:
    await keep(begin, "german", note="Die Note steht auf dem Blatt.", tor="Das Tor ist zu.")

    async with begin(write=False) as transaction:
        english = await read_words(transaction, "where", "is", "the", "tor", stop_words=["where"])
        quiet = await read_words(transaction, "note", stop_words=["note"])
    assert [one.lexemes for one in english.query_lexemes] == [("tor",)]
    assert [one.lexemes for one in quiet.query_lexemes] == [("not",)]


async def test_a_misspelt_word_is_read_as_one_of_any_language(begin: Begin) -> None:
    await keep(begin, "english", ferry="The ferries leave at six.")
    await keep(begin, "russian", kniga="Книги лежат в библиотеке.")

    async with begin(write=False) as transaction:
        assert await find(transaction, "библеотека", misspellings=["библеотека"]) == {"kniga"}
        assert await find(transaction, "библи", misspellings=["библи"]) == {"kniga"}
        assert await find(transaction, "feries", misspellings=["feries"]) == {"ferry"}


async def test_a_misspelt_name_is_read_as_one_that_begins_with_its_letter(begin: Begin) -> None:
    slips = {"Zdneka": "Zdenka", "Élodei": "Élodie", "Žoffie": "Žofie", "Иринна": "Ирина"}
    names = (*slips.values(), "Yvonne", "Zuzana", "Ëlodie")
    async with begin() as transaction:
        await transaction.entries.add([entry(each, "Tea?", subjects=(each,)) for each in names])

    async with begin(write=False) as transaction:
        for slip, name in slips.items():
            assert await near_names(transaction, slip) == {slip: name.casefold()}


async def test_a_function_word_with_a_slip_in_it_is_not_looked_for(begin: Begin) -> None:
    await keep(begin, "english", wish="The printer is what they wished for.")

    async with begin(write=False) as transaction:
        slips = ["wich", "printr", "whre", "Wherr", "teh", "pritner"]
        found = await read_words(transaction, "wich", "printr", "whre", misspellings=slips)
        named = await read_words(transaction, "printer", "Wherr", misspellings=slips)
        short = await read_words(transaction, "teh", "pritner", misspellings=slips)

    assert [one.lexemes for one in found.query_lexemes] == [("printer",)]
    assert found.silent == {"wich", "whre"}
    assert {one.lexemes: one.is_known for one in named.query_lexemes} == {
        ("printer",): True,
        ("wherr",): False,
    }
    assert [one.lexemes for one in short.query_lexemes] == [("printer",)]


async def test_names_are_near_that_are_a_slip_away_and_of_the_same_memory(begin: Begin) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry("one", "I like beer.", speaker="Tomasz", subjects=("Tomasz",)),
                entry("two", "She left.", subjects=("Leila", "Li Wei"), aliases=("Lulu",)),
            ]
        )
    async with begin(write=False) as transaction:
        near = await near_names(transaction, "Tomsz", "Lela", "Luly", "Lisa", "Bob", "Maria")
        strange = [f"Tomsz{number}" for number in range(500)]
        assert await near_names(transaction, "Tomsz", *strange) == {"Tomsz": "tomasz"}
    async with begin(agent="another", write=False) as transaction:
        elsewhere = await near_names(transaction, "Tomsz")

    assert near == {"Tomsz": "tomasz", "Lela": "leila", "Luly": "lulu"}
    assert elsewhere == {}


async def test_a_name_is_near_among_any_number_that_begin_with_its_letter(begin: Begin) -> None:
    crowd = tuple(f"Ma{number:04}" for number in range(2000))
    async with begin() as transaction:
        await transaction.entries.add(
            [
                entry(f"{first}", subjects=crowd[first : first + 100])
                for first in range(0, 2000, 100)
            ]
        )
        for number in range(50):  # more than are read at a time
            await transaction.entries.add([entry(f"of {number}", subjects=("Mzia", "Élodie"))])
        await transaction.entries.add([entry("last", subjects=("Mzygmunt", "Zygmunt", "Ołena"))])

    async with begin(write=False) as transaction:
        asked = ["Mzygmnut", "Mziia", "Ma01O23", "Élodei", "Zygmnut", "Ołnea"]
        near = await near_names(transaction, *asked)

    assert [*near.values()] == ["mzygmunt", "mzia", "ma0123", "élodie", "zygmunt", "ołena"]


async def test_of_names_as_near_as_each_other_the_one_is_read_that_a_hand_slips_from(
    begin: Begin,
) -> None:
    async with begin() as transaction:
        await transaction.entries.add(
            [entry("one", "Hello.", subjects=("Maral", "Maria", "Marti"))]
        )

    async with begin(write=False) as transaction:
        assert await near_names(transaction, "Marai") == {"Marai": "maria"}


async def test_the_languages_that_there_are_are_those_of_the_database(begin: Begin) -> None:
    async with begin(write=False) as transaction:
        languages = await transaction.settings.list_languages()

    assert {"simple", "english", "german", "russian", "arabic"} <= set(languages)


APART = {
    "don’t “quote” — me…": "don t quote me",
    "Don't stop; e-mail C++ (ASCII)": "Don't stop; e-mail C++ (ASCII)",
    "¡Sí! «ёлка» 😀 Ｆｕｌｌ": "Sí! ёлка Full",
    "café 30€": "café 30",
    "ABC 東京都 x": "ABC 東京 京都 x",
    "犬": "犬",
    "X東y京都Z": "X 東 y 京都 Z",
    "서울 지하철": "서울 지하철",
}


def test_words_are_what_is_between_punctuation_of_any_script(owner: Owner) -> None:
    query = "SELECT mnestic.words_apart(content) FROM unnest(%s::text[]) AS content"
    found = owner.execute(query, [[*APART]]).fetchall()

    assert [row[0].split() for row in found] == [words.split() for words in APART.values()]


async def test_whoever_spoke_is_known_however_their_name_is_folded(begin: Begin) -> None:
    """SQL knows no ss in \u00df, and keeps the article."""
    names = ("Wei\u00df", "\u0130pek", "The Doctor")
    said = [entry(name, "Hm.", speaker=name, subjects=(name,)) for name in (*names, "Bo")]
    async with begin() as transaction:
        await transaction.entries.add([*said, entry("e", "Hm.", speaker="Bo", subjects=("Mara",))])

    keys = {name_key(name) for name in (*names, "Mara")}
    async with begin(write=False) as transaction:
        known = await resolve(transaction, keys=keys)

    assert {key for key, name in known.names.items() if name.is_speaker} == keys - {"mara"}
    assert known.names.keys() == keys
