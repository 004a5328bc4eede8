"""A message is split into what it asks and what it remarks."""

import pytest

from mnestic.memory.retrieval.clauses import MOST_CLAUSES, split_clauses


def questions(message: str) -> list[str]:
    return [clause.text for clause in split_clauses(message) if clause.is_question]


def remarks(message: str) -> list[str]:
    return [clause.text for clause in split_clauses(message) if not clause.is_question]


@pytest.mark.parametrize(
    "message",
    [
        "Where does Ana live?",
        "Which city does Ana live in, Ghent or Oslo?",
        "Does Ana, who lives in Oslo, like tea?",
        "When did Dr. Weiss move to St. Gallen?",
        "harbour crane permit",
        "Ana lives in Ghent.",
    ],
)
def test_a_message_of_one_clause_stays_as_it_is(message: str) -> None:
    assert [clause.text for clause in split_clauses(message)] == [message]


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Hey! Long day. Where does Ana live? Thanks!", ["Where does Ana live?"]),
        ("I was cooking all day, what does Ana not eat?", ["what does Ana not eat?"]),
        ("Sorry for the noise - where does Ana live?", ["where does Ana live?"]),
        ("Keep going. Where does Ana live?", ["Where does Ana live?"]),
        (
            "i was at the store and forgot the milk have you seen where ana moved to",
            ["have you seen where ana moved to"],
        ),
        (
            "i was at the store and forgot it do you know where ana is?",
            ["do you know where ana is?"],
        ),
        ("The kettle boils. Tell me where Ana lives.", ["Tell me where Ana lives."]),
        ("Es regnet seit Stunden draussen. Wo wohnt Ana?", ["Wo wohnt Ana?"]),
        (
            "Where does Ana live, and when did Ben move to Oslo?",
            ["Where does Ana live?", "when did Ben move to Oslo?"],
        ),
        (
            "What's the locker number and when did Ben move to Oslo?",
            ["What's the locker number?", "when did Ben move to Oslo?"],
        ),
        (
            "Where\u2019s the ladder, and who's our baker?",
            ["Where\u2019s the ladder?", "who's our baker?"],
        ),
        ("Who leads Heron and is it due?", ["Who leads Heron?", "is it due?"]),
        (
            "Two things before lunch: who leads Heron, and is INV-309 settled?",
            ["Two things before lunch: who leads Heron?", "is INV-309 settled?"],
        ),
        ("Quick one: where does Ana live?", ["Quick one: where does Ana live?"]),
        (
            "The trip to Bergen: who drove us and where did we stay?",
            ["The trip to Bergen: who drove us?", "where did we stay?"],
        ),
        (
            "Remember the trip to Bergen: who drove us?",
            ["Remember the trip to Bergen: who drove us?"],
        ),
        ("A question about tea: is there any?", ["A question about tea: is there any?"]),
        ("Boiler question: who fixed it?", ["Boiler question: who fixed it?"]),
        ("Let me know, I have to run before the shop closes.", []),
    ],
)
def test_questions_are_found_among_remarks(message: str, asked: list[str]) -> None:
    assert questions(message) == asked


@pytest.mark.parametrize(
    "message",
    [
        "Give me the phone number and the address of the baker",
        "Tell me about the quarrel between the cook and the waiter",
        "Tell me what Ana and her sister eat",
        "Tell me when Ana comes and the house is empty",
        "Remind me what Ben said about the oven and the roof",
        "Tell me the day Ana and the boys arrive",
        "Tell me the day that she and the boys arrive",
        "Remind me to call the baker and the cook",
        "Give me the key, the long one",
        "Show me Ana's phone number and address",
    ],
)
def test_a_request_for_one_thing_stays_whole(message: str) -> None:
    assert questions(message) == [message]


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("What did the roofer say? I was away yesterday.", "What did the roofer say?"),
        ("What did the roofer say, because we meet today?", "What did the roofer say"),
        ("How high is the roofer's bill, I pay on Friday?", "How high is the roofer's bill"),
        ("How high is the bill, so I can pay it tomorrow?", "How high is the bill"),
        ("What did the roofer say? It must be settled by Monday.", "What did the roofer say?"),
        ("What did the roofer say? In March.", "What did the roofer say? In March."),
        (
            "What did Ana cook when I was ill, and we were away in May?",
            "What did Ana cook when I was ill, and we were away in May?",
        ),
        (
            "Does Ana say that I, we or Ben come on Friday?",
            "Does Ana say that I, we or Ben come on Friday?",
        ),
    ],
)
def test_what_somebody_says_of_themselves_is_no_part_of_their_question(
    message: str, asked: str
) -> None:
    assert questions(message) == [asked]


RUN_ON = [
    (
        "morning I just sat down with the coffee and the papers and then I thought where does Noor teach now because I need to write to her",
        ["where does Noor teach now"],
    ),
    (
        "we are halfway up the stairs with the sofa and nobody has measured anything how wide is the door of the flat",
        ["how wide is the door of the flat"],
    ),
    (
        "ok the kids are asleep at last and I am sorting the bills what did the plumber charge us in the end",
        ["what did the plumber charge us in the end"],
    ),
    (
        "standing at the counter with the forms in my hand and my head is empty what is my insurance number",
        ["what is my insurance number"],
    ),
    (
        "so the bus was late again and I missed the start of it all when does the choir sing next so I can plan",
        ["when does the choir sing next"],
    ),
    (
        "been cleaning the whole kitchen since noon and found a lid without a pot where did we buy the blue pots",
        ["where did we buy the blue pots"],
    ),
    (
        "i was on the phone with my aunt for an hour and she would not stop anyway why did pavel leave the band",
        ["why did pavel leave the band"],
    ),
    (
        "sitting in the car with the engine off and writing this with one thumb how many seats has the new van",
        ["how many seats has the new van"],
    ),
    (
        "the guests come in an hour and I have flour up to my elbows can you tell me what Noor must not eat",
        ["can you tell me what Noor must not eat"],
    ),
    (
        "just came home and the heating is off and it is freezing in here does anyone know where the boiler key is",
        ["does anyone know where the boiler key is"],
    ),
    (
        "I was packing my bag for the weekend and got lost in old letters and now I wonder when did Noor move to Lyon",
        ["when did Noor move to Lyon"],
    ),
    (
        "it rained on the washing and the cat hid under the bed so what time does the vet open because I'm off to find the basket",
        ["what time does the vet open"],
    ),
    (
        "I am at the garage and the man wants to see papers where's the logbook of the car and when was the last service",
        ["where's the logbook of the car", "when was the last service"],
    ),
    (
        "where does Noor teach now because I have to send her a parcel",
        ["where does Noor teach now"],
    ),
    (
        "Long walk today and my feet hurt, when is the vet open, I want to be early.",
        ["when is the vet open"],
    ),
]


@pytest.mark.parametrize(("message", "asked"), RUN_ON)
def test_a_question_is_found_in_a_message_without_marks(message: str, asked: list[str]) -> None:
    assert questions(message) == asked


@pytest.mark.parametrize(
    "message",
    [
        "I told the clerk what Noor did the day before and she wrote it all down without a word",
        "the shop is where the old mill was and it smells of bread until noon on most days",
        "we still talk about what was the worst summer of all with its storms and its wasps",
        "nobody in this house will see what is the point of ironing towels but my mother does it",
        "I know how the engine works and when it was built and why the belt keeps slipping off",
        "my brother told me what is the matter with the pump and it will cost him a new seal",
        "that is when the lights went out and how we ended up with candles on every single shelf",
        "they explained what they do and where they go when the harbour is closed for the winter",
        "we forgot the milk and the bread and went back through the rain with a bag full of soap",
        "people tell me where to stand and what to hold and then the picture is blurred all the same",
        "Noor asked me how the move went and I said fine since there was nothing more to tell her",
    ],
)
def test_a_statement_with_the_words_of_a_question_stays_whole(message: str) -> None:
    assert [(one.text, one.is_question) for one in split_clauses(message)] == [(message, False)]


@pytest.mark.parametrize(
    "message", ["I am planning Ana's birthday. Any ideas?", "Ana went to Ghent.\nand her sister?"]
)
def test_a_question_that_says_too_little_goes_with_what_is_before_it(message: str) -> None:
    (clause,) = split_clauses(message)

    assert clause.is_question
    assert clause.text.split() == message.split()


def test_beside_a_question_a_remark_of_few_words_is_left_out_unless_it_names_something() -> None:
    assert remarks("A long day. What does Ana drink?") == []
    assert remarks("Dinner with Omar tonight. What does Ana drink?") == [
        "Dinner with Omar tonight."
    ]
    assert remarks("A long day.") == ["A long day."]


def test_white_space_is_read_once() -> None:
    """With backtracking over it, this takes hours."""
    (clause,) = split_clauses("is Tom there" + " " * 9000 + "z")

    assert clause.is_question


def test_of_many_clauses_the_questions_and_the_longest_remarks_are_kept_in_their_order() -> None:
    short = [f"Basket {number} holds apples." for number in range(20)]
    message = " ".join(
        [*short, "Where does Ana keep the red ladder?", "The harbour crane permit lapsed."]
    )

    clauses = [clause.text for clause in split_clauses(message)]

    assert len(clauses) == MOST_CLAUSES
    assert clauses[-2:] == [
        "Where does Ana keep the red ladder?",
        "The harbour crane permit lapsed.",
    ]
