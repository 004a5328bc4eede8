"""Reading questions: which words ask, whom they name, and which time."""

from datetime import UTC, datetime, timedelta

import pytest

from mnestic.memory.retrieval.query_parsing import (
    asks_for_earlier,
    content_words,
    is_english,
    parse_words,
    possible_names,
    without_names,
)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
DAY = timedelta(days=1)


def words_of(text: str) -> list[str]:
    return [word.text for word in parse_words(text, asked_at=NOON).words]


def test_names_are_written_with_a_capital_within_a_sentence() -> None:
    question = parse_words("Hello, Paul. Mark the day: does Anna know the PIN?", asked_at=NOON)

    assert [word.text for word in question.words if word.is_capital] == ["Paul", "Anna"]


@pytest.mark.parametrize(
    ("asked", "month"),
    [
        ("what did she say in may?", 5),
        ("who came last may\nand why?", 5),
        ("in march last year", 3),
    ],
)
def test_a_month_may_be_written_small(asked: str, month: int) -> None:
    period = parse_words(asked, asked_at=NOON).period

    assert period is not None
    assert (period.start.month, period.unit) == (month, "month")


@pytest.mark.parametrize(
    "asked",
    ["may she come in", "who may see the flat we live in", "what of this may, in theory, break?"],
)
def test_what_may_be_is_no_month(asked: str) -> None:
    assert parse_words(asked, asked_at=NOON).period is None


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("When does the fair take place?", "When does the fair"),
        ("Where will the fair be held?", "Where will the fair"),
        ("What time is the fair?", "What is the fair"),
        ("Quand a lieu la kermesse ?", "Quand a la kermesse"),
        ("Quand est-ce que la kermesse aura lieu ?", "Quand est-ce que la kermesse aura"),
        ("À quelle heure la kermesse a-t-elle lieu ?", "À quelle la kermesse a-t-elle"),
        ("O\u00f9 se trouve la kermesse ?", "O\u00f9 se la kermesse"),
        ("Comment s'appelle la kermesse ?", "Comment la kermesse"),
        ("Wann findet das Schulfest statt?", "Wann das Schulfest"),
        ("Weißt du, wann das Schulfest stattfindet?", "du wann das Schulfest"),
        ("An welchem Tag fand das Schulfest statt?", "An welchem das Schulfest"),
        ("¿Dónde tendrá lugar la feria?", "Dónde tendrá la feria"),
        ("¿Cuándo se celebra la feria?", "Cuándo se la feria"),
        ("Dove si svolge la fiera?", "Dove si la fiera"),
        ("Quando tem lugar a feira?", "Quando tem a feira"),
        ("Waar vindt de kermis plaats?", "Waar de kermis"),
    ],
)
def test_the_frame_of_a_question_is_not_looked_for(asked: str, left: str) -> None:
    assert " ".join(words_of(asked)) == left


@pytest.mark.parametrize(
    "asked",
    [
        "Which place did Mara take?",
        "Quel est le lieu de la kermesse ?",
        "Quel est le mot de passe ?",
        "Wer findet den Tag gut?",
        "Was trinkt sie statt Kaffee?",
        "¿Qué lugar tiene la feria?",
    ],
)
def test_the_same_words_elsewhere_are_looked_for(asked: str) -> None:
    assert len(words_of(asked)) == len(asked.rstrip(" ?").split())


def test_words_that_name_the_time_ask_for_nothing_else() -> None:
    question = parse_words("What broke at the harbour last week?", asked_at=NOON)

    assert [word.text for word in question.words] == ["What", "broke", "at", "the", "harbour"]
    assert question.period is not None
    monday = datetime(2026, 2, 23, tzinfo=UTC)
    assert (question.period.start, question.period.end) == (monday, monday + 7 * DAY)


def test_a_month_without_a_year_is_the_last_one() -> None:
    period = parse_words("Where were we in November?", asked_at=NOON).period

    assert period is not None
    assert period.start == datetime(2025, 11, 1, tzinfo=UTC)


def test_a_day_without_a_year_may_be_of_an_earlier_one() -> None:
    asked = parse_words("What happened on 29 February?", asked_at=NOON)

    assert asked.period is not None
    days = [period.start for period in (asked.period, *asked.earlier)]
    assert days[:3] == [datetime(year, 2, 29, tzinfo=UTC) for year in (2024, 2020, 2016)]


@pytest.mark.parametrize(
    "date",
    [
        *("31 February", "the 31st of April", "February 30, 2025", "30.2.2025", "31/4/2025"),
        *("2025-02-30", "2025-13-01", "29 February 2023", "the fifth Monday of February 2025"),
        "0001-01-01",
        "9999-12-30",
    ],
)
@pytest.mark.parametrize("relation", ["on", "since", "after", "before", "two days after"])
def test_a_date_that_is_none_names_no_time(relation: str, date: str) -> None:
    asked = parse_words(f"What happened {relation} {date}?", asked_at=NOON)

    assert (asked.period, asked.earlier) == (None, ())


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("on 3 May", datetime(2025, 5, 3, tzinfo=UTC)),
        ("in May", datetime(2025, 5, 1, tzinfo=UTC)),
        ("at the end of May", datetime(2025, 5, 22, tzinfo=UTC)),
        ("on the first Monday of May", datetime(2025, 5, 5, tzinfo=UTC)),
    ],
)
def test_what_comes_each_year_may_be_of_the_year_before(text: str, first: datetime) -> None:
    asked = parse_words(f"What happened {text}?", asked_at=NOON)

    assert asked.period is not None
    starts = [asked.period.start, *(period.start for period in asked.earlier)]
    assert starts[0] == first
    assert [start.year for start in starts] == [2025 - before for before in range(11)]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "on 3 May 2025",
            "last week",
            "yesterday",
            "last spring",
            "on the first Friday of this month",
        ),
        "at the end of May 2025",
    ],
)
def test_a_time_that_is_one_alone_has_no_earlier_ones(text: str) -> None:
    asked = parse_words(f"What happened {text}?", asked_at=NOON)

    assert asked.period is not None
    assert asked.earlier == ()


def test_what_somebody_wants_is_looked_for_where_nothing_else_is_asked() -> None:
    assert content_words(["could", "want", "money"]) == ("money",)
    assert content_words(["want"]) == ("want",)


@pytest.mark.parametrize(
    "moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_the_first_and_last_moments_that_there_are_can_ask_too(moment: datetime) -> None:
    for text in ("since 2020", "after 2020", "in May", "last week", "tomorrow"):
        question = parse_words(f"What changed {text}?", asked_at=moment)

        assert question.period is None or question.period.start < question.period.end


def test_since_goes_on_until_the_question() -> None:
    period = parse_words("What has changed since 2025-12-01?", asked_at=NOON).period

    assert period is not None
    assert (period.start, period.end) == (datetime(2025, 12, 1, tzinfo=UTC), NOON + DAY)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did the pump fail?", True),
        ("How long is the lease?", True),
        ("In which year did she move?", True),
        ("Who was there when it failed?", False),
    ],
)
def test_what_asks_for_a_time_is_told(text: str, asks: bool) -> None:
    assert parse_words(text, asked_at=NOON).asks_for_time is asks


@pytest.mark.parametrize(
    "text", ["What happens after next week?", "What is planned after tomorrow?"]
)
def test_after_what_is_to_come_goes_on_from_there(text: str) -> None:
    period = parse_words(text, asked_at=NOON).period

    assert period is not None
    assert NOON < period.start < period.end


def test_letters_of_other_widths_are_read_as_they_are_meant() -> None:
    assert words_of("\uff4b\uff55\uff42\uff45\uff52\uff4e\uff45\uff54\uff45\uff53 \u7533") == [
        "kubernetes",
        "\u7533",
    ]


def test_marks_within_a_word_belong_to_it() -> None:
    assert words_of("Is mara@example.org on C++ or e-mail (v2.1)?") == [
        "Is",
        "mara@example.org",
        "on",
        "C++",
        "or",
        "e-mail",
        "v2.1",
    ]


def test_the_longest_name_is_taken_out_of_the_words() -> None:
    words = parse_words("Did Mara Lind's sister visit Mara?", asked_at=NOON).words

    named = without_names(words, {"mara", "mara lind"})
    assert named.names == ("mara lind", "mara")
    assert named.words == ("Did", "sister", "visit")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Where did Ann live before?", True),
        ("What was the previous code?", True),
        ("What was our host before the migration?", True),
        ("Where does Ann live?", False),
        ("What do we do before lunch?", False),
    ],
)
def test_a_query_for_the_past_is_recognised(question: str, asks: bool) -> None:
    assert asks_for_earlier(question) is asks


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What video games does Nate play?", [("Nate",)]),
        ("Who is Nate's brother?", [("Nate",)]),
        ("Where's Nate?", [("Nate",)]),
        ("When is Professor Ada Sandoval's lecture?", [("Ada", "Sandoval")]),
        ("Where does Mr. Nate live?", [("Nate",)]),
        ("Is Dr. Ada Sandoval in?", [("Ada", "Sandoval")]),
        ("Does anyone know if Nate has a car?", [("Nate",)]),
        ("Can you please tell me where Mrs. Sandoval works?", [("Sandoval",)]),
        ("do you happen to know what kind of car Nate drives?", [("Nate",)]),
        ("Tell me when Nate comes.", [("Nate",)]),
        ("Do you know if the Dr. is in?", []),
        ("Do you know if it rains in Lima?", []),
        ("Do you know which bus to Lima leaves?", []),
        ("Do you know him? Nate has a car.", []),
        ("I saw the doctor. Is Nate in?", []),
        ("What do we do if Nate calls?", []),
        ("How do I get to the Nate Street?", []),
        ("How long is the flight to Lima?", []),
        ("Is SSL on?", []),
        ("Where does the Doctor live?", []),
        ("When is Doctor in?", []),
        ("Nate plays what?", []),
        ("does nate play", []),
        ("When Is Tech Rehearsal?", []),
        ("I was at Greta's party. When is the makeup call?", []),
        ("Please check Google's calendar: when do we tour?", []),
    ],
)  # fmt: skip
def test_who_a_question_is_about_follows_an_auxiliary_or_owns(
    text: str, asked: list[tuple[str, ...]]
) -> None:
    assert list(parse_words(text, asked_at=NOON).topics) == asked


def test_a_small_function_word_is_no_name() -> None:
    small = parse_words("what will the art of it be", asked_at=NOON).words
    capital = parse_words("What did Will paint?", asked_at=NOON).words

    assert "will" not in possible_names(small)
    assert "will" in possible_names(capital)


def test_what_a_question_says_of_itself_is_not_looked_for() -> None:
    assert content_words(["Tell", "what", "Mara", "mentioned", "lighthouse"]) == (
        "Mara",
        "lighthouse",
    )


def test_a_very_long_question_is_read_to_its_first_words() -> None:
    assert len(words_of("word " * 1000)) == 200


def test_english_is_told_by_its_function_words() -> None:
    assert is_english(["Tell", "me", "where", "lives", "And", "in", "which", "city"])
    assert is_english(["What", "was", "it"])
    assert not is_english(["Was", "hat", "die", "Apotheke", "in", "Gent"])
    assert not is_english(["lighthouse", "Malmo"])
    assert not is_english(())


@pytest.mark.parametrize("text", ["May I deploy on a Friday", "Who cooks every Friday"])
def test_any_day_of_a_name_is_no_date(text: str) -> None:
    asked = parse_words(f"{text}?", asked_at=NOON)

    assert asked.period is None
    assert asked.words[-1].text == "Friday"
