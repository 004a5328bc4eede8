"""What only tells somebody to act, or agrees, and what names something to search for."""

import pytest

from mnestic.memory.language.commands import is_command

ENGLISH = [
    *("start", "Begin!", "Stop that please", "try that again", "ok start", "please begin", "next one please"),
    *("keep at it", "yes, proceed", "Alright, repeat it.", "perfect, keep going", "ok, hold on", "wait"),
    *("leave it", "skip this one", "use that one", "carry on with it", "undo that", "Set it up", "yes please", "do that", "turn it off"),
    *("Hi Tom, start it", "start over :)", "and resume it", "then do the same again, start", "let me put it back", "sounds good, execute it"),
    *("let's continue", "don’t wait", "try both", "hang on"),  # noqa: RUF001
]  # fmt: skip
OTHERS = [
    *("ja bitte", "Mach es einfach", "mach das bitte nochmal", "los", "fang an", "hör auf damit", "Machen Sie weiter"),
    *("vas-y", "oui, continue", "d'accord", "fais-le", "arrete", "s'il te plaît continue", "lance-le maintenant"),
    *("sigue", "vale, hazlo", "sí, adelante", "por favor continua", "otra vez", "dale", "repítelo"),
    *("va bene, procedi", "sì, avanti", "d'accordo", "provalo ancora, vai", "aspetta"),
    *("faz isso", "sim, continua", "pode continuar", "para", "por favor, começa"),
    *("ga door", "doe het maar", "ja graag", "ga verder alsjeblieft", "nu opnieuw"),
    *("继续", "好的，继续", "停下来", "开始吧", "请继续", "執行一下"),  # noqa: RUF001 (a comma as Chinese has it)
    *("続けてください", "はい、お願いします", "止めて", "次へ", "これを実行して"),
]  # fmt: skip
NAMING = [
    *("Porto", "passport", "Passport number", "Mara", "Curtains", "42", "room 42", "run 5k", "run the tests"),
    *("run Tom's tests", "stop smoking", "next Thursday", "take Leila", "bus stop", "Set theory", "Honda Accord"),
    *("book it", "cancel it", "play it", "yes, Thursday", "tell me more", "continue the garden plan", "weiter Weg"),
    *("Weiterbildung", "停车", "开始日期", "运行日志", "次の会議", "IT", "run IT", "Start Up Lisbon", "Kaffee"),
]  # fmt: skip


@pytest.mark.parametrize("text", [*ENGLISH, *OTHERS])
def test_a_command_that_names_nothing_is_one_in_each_language(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", NAMING)
def test_a_name_or_a_noun_is_no_command(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize("text", ["leave", "resume", "door", "fang", "leg", "sim", "vale", "accord", "prueba", "perfect"])  # fmt: skip
def test_a_word_that_may_be_a_noun_is_no_command_by_itself(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize("text", ["war", "hat", "die", "son", "pour", "sur", "come"])
def test_a_function_word_of_another_language_is_no_command(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        *("my run", "the start", "the next one", "a stop", "der Start", "mein Start"),
        *("I quit", "I want to leave", "she will stop", "we start now", "that run was good", "ich mache das"),
        *("How was your run?", "Should I stop?", "what next", "when do you start", "wie weiter", "はじめる？"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_a_statement_a_question_and_a_noun_of_the_same_words_are_no_command(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "👍",
        "...",
        "thanks",
        "good night",
        "stop " * 13,
        "等" * 199 + "车",
        "再等" * 90 + "车",
        "x" * 10**6,
    ],
)
def test_a_text_of_no_words_or_of_many_is_no_command(text: str) -> None:
    assert not is_command(text)
