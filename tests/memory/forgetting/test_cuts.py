"""Cuts: which sentences go with a topic, and what is left where it stood."""

import pytest

from mnestic.memory.forgetting.cuts import SentenceCut
from mnestic.memory.forgetting.follow_ups import refers_back
from mnestic.memory.forgetting.topic_names import parse_topic
from mnestic.memory.forgetting.topics import Topic
from mnestic.memory.knowledge.claims import Span

FALCON = Topic(parse_topic("Project Falcon"), {})


def cut(text: str) -> SentenceCut:
    return FALCON.cut(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ida comes in July. Project Falcon starts in August.", "Ida comes in July."),
        ("Project Falcon starts in August. Ida comes in July.", "Ida comes in July."),
        ("Hi!  Project Falcon starts. Bye.", "Hi! Bye."),
        ("Ida comes.\nProject Falcon starts.\nTea is hot.", "Ida comes.\n \nTea is hot."),
        ("Project Falcon starts. It ends in May. This is late. I like tea.", "I like tea."),
        ("Project Falcon is Otto's. And he runs it. I like tea.", "I like tea."),
        ("Mara runs Project Falcon. She likes tea.", "She likes tea."),
        ("It rains. Project Falcon starts.", "It rains."),
        ("Project Falcon starts. Tea is hot. It is green.", "Tea is hot. It is green."),
        ("I bake bread and Project Falcon starts in May.", ""),
        ("Project Falcon starts in May, but I bake bread. We rest.", "We rest."),
        ("Otto leads Project Falcon and he likes it, but I bake.", ""),
        ("Project Falcon starts and it ends in May. I bake.", "I bake."),
        ("Project Falcon starts, I live in Ghent, and my dog rests.", ""),
        ("When Project Falcon starts, I rest. I bake.", "I bake."),
        ("Ida and Otto lead Project Falcon and work late.", ""),
        ("Project Falcon starts. ...", ""),
        ("Project Falcon starts.", ""),
    ],
)
def test_what_speaks_of_it_or_stands_for_it_goes(text: str, left: str) -> None:
    assert cut(text).left == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The key is lost; Project Falcon starts.", "The key is lost."),
        ("The key is lost; Project Falcon starts; it ends in May!", "The key is lost!"),
        ("The key is lost; Project Falcon starts soon; I bake bread.", "The key is lost; I bake bread."),
        ("Project Falcon starts soon; my dog is ill. We rest.", "my dog is ill. We rest."),
        ("Project Falcon starts soon; Otto Berg bakes bread.", "Otto Berg bakes bread."),
        ("Project Falcon starts soon; Otto Berg leads it.", ""),
        ("Project Falcon is ours; born in Ghent; run by twelve.", ""),
        ("Project Falcon starts soon; the budget is small.", ""),
        ("Project Falcon; twelve thousand; Ghent office", ""),
        ("Name: Project Falcon; place: Ghent, near here; team: the red one", ""),
        ("We met (the key is lost; Project Falcon starts here).", ""),
        ("Project Falcon | 12,000 | Ghent", ""),
        ("Project Falcon \u2013 my first one \u2013 ends soon.", ""),
        ("Project Falcon: I lead it.", ""),
    ],
)  # fmt: skip
def test_a_statement_stays_behind_a_semicolon_if_it_stands_by_itself(text: str, left: str) -> None:
    assert cut(text).left == left


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("Ines Brandt", "My friend Ines Brandt and I marry in May."),
        ("Ines Brandt", "I think Ines Brandt and I will marry."),
        ("Ines Brandt", "I hate Ines Brandt, my old teacher from Leeds."),
        ("Ines Brandt", "Ines Brandt from Ghent and Otto Berg are getting divorced."),
        ("Ines Brandt", "In May I married, in a small chapel, Ines Brandt."),
        ("ada@example.org", "My mail is ada@example.org, and the password is tulip."),
        ("OPS-311", "OPS-311 is a disaster, 650 euros, due on the 30th."),
    ],
)
def test_nothing_of_a_sentence_outlives_its_topic(topic: str, text: str) -> None:
    assert Topic(parse_topic(topic), {}).cut(f"{text} I bake.").left == "I bake."


def test_only_the_name_that_a_text_has_takes_sentences_out_of_it() -> None:
    topic = Topic(parse_topic("Ida Berg / Project Falcon"), {})

    assert topic.cut("I met Ida Berg. The project is late.").left == "The project is late."


@pytest.mark.parametrize(
    ("topic", "text", "left"),
    [
        ("Project Heron", "Project Heron begins. Project Kite is late.", "Project Kite is late."),
        ("Project Heron", "Project Kite is late; Project Heron begins.", "Project Kite is late."),
        ("Project Heron", "Heron grows. The Kite project is late.", "The Kite project is late."),
        ("Project Heron", "Heron grows. The project is late. I rest.", "I rest."),
        ("project heron", "Project Heron begins. We rest.", "We rest."),
        ("Ines Brandt", "Ines Brandt pays here; Ines Wolff waits here.", "Ines Wolff waits here."),
        ("Ines Brandt", "Ines Brandt is ill. Tell Ines to rest. I bake.", "I bake."),
        ("Ines Brandt", "Ines Brandt is ill. Met Ines today. I bake.", "I bake."),
        ("Ines Brandt", "Ines Brandt is ill. Call Brandt back. I bake.", "I bake."),
        ("Ines Brandt", "Ines Brandt is ill. Otto Brandt bakes.", "Otto Brandt bakes."),
        ("Drew Brandt", "Drew Brandt is ill. Drew Wolff bakes.", "Drew Wolff bakes."),
        ("Ines Brandt", "Call Ines Brandt and buy stamps. I bake.", "I bake."),
        ("Ines Brandt", "Buy stamps and then call Ines Brandt. I bake.", "I bake."),
        ("Ines Brandt", "Call Ines Brandt and tell her the news. I bake.", "I bake."),
        ("Ines Brandt", "I met Ines Brandt and then went home. I bake.", "I bake."),
        ("Ines Brandt", "Ines Brandt sang and then went home. I bake.", "I bake."),
        ("Ines Brandt", "Per bakes, Ines Brandt sings well and Kim rests.", ""),
        ("Ines Brandt", "The lift works: Ines Brandt called a man.", ""),
        ("Ines Brandt", "Per Lund\nInes Brandt | 0555 0142\nKim Falk", "Per Lund\n \nKim Falk"),
        ("J. R. Alvarez", "JR Alvarez signed. J. R. Ortega did not.", "J. R. Ortega did not."),
        ("JR Alvarez", "J.R. Alvarez signed. I bake.", "I bake."),
        ("card 5500000000000004", "My card is 5500 0000 0000 0004. It is a red card.", ""),
        (
            "Ines' card 5500000000000004",
            "5500000000000004 is Ines' card. Ines bakes.",
            "Ines bakes.",
        ),
    ],
)
def test_a_name_takes_the_sentences_of_its_own_alone(topic: str, text: str, left: str) -> None:
    assert Topic(parse_topic(topic), {}).cut(text).left == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I met Tamsin today. She has two parrots. My bus was late.", "My bus was late."),
        ("Our auditor is Tamsin. Her desk is new. We rest.", "We rest."),
        ("Do you know Tamsin? She's new. We rest.", "We rest."),
        ("We hired Tamsin in Ghent. She sings. We rest.", "We rest."),
        ("Tamsin is ill. The doctor says she needs rest. We rest.", "We rest."),
        ("Tamsin is ill. I will visit her. We rest.", "We rest."),
        ("Tamsin is ill. Yesterday I visited her. We rest.", "We rest."),
        ("Tamsin bakes. In spring she sells bread. We rest.", "We rest."),
        ("Tamsin bakes. My wife says she is tired.", "My wife says she is tired."),
        ("Tamsin bakes. Oswin says he is tired.", "Oswin says he is tired."),
        ("My brother met Tamsin. He sings. We rest.", "We rest."),
        ("My boss fired Tamsin. She cried. We rest.", "We rest."),
        ("We have a new dentist, Tamsin. She takes cards. We rest.", "We rest."),
        ("Met Tamsin today. She has two parrots. We rest.", "We rest."),
        ("Buy flowers for Tamsin. She turns 60. We rest.", "We rest."),
        ("Order flowers for Tamsin. She turns 60. We rest.", "We rest."),
        ("Lunch with Tamsin. She was late. We rest.", "We rest."),
        ("Friday works for Tamsin. She comes early. We rest.", "We rest."),
        ("Otto's sister Tamsin is ill. She rests. We bake.", "We bake."),
        ("Her friend is Tamsin. Her dog barks. We rest.", "We rest."),
        ("Mara is Tamsin's boss. She yells. We rest.", "We rest."),
        ("To my surprise Tamsin sang. In my view she is great. We rest.", "We rest."),
        ("Mara Rossi visits Tamsin. She likes tea.", "She likes tea."),
        ("Mara drives Tamsin home. She likes tea.", "She likes tea."),
        ("She works for Tamsin. She likes tea.", "She likes tea."),
        ("Mara ist bei Tamsin. Sie mag Tee.", "Sie mag Tee."),
        ("Tamsin ist krank. Sie bleibt im Bett. Wir ruhen.", "Wir ruhen."),
        ("Tamsin est malade. Elle reste au lit. Nous dormons.", "Nous dormons."),
        ("Il treno è qui. Tamsin canta. Il bus è in ritardo.", "Il treno è qui. Il bus è in ritardo."),
        ("Тамсин поёт. Она врач. Лифт работает.", "Лифт работает."),
    ],
)  # fmt: skip
def test_what_a_pronoun_says_of_somebody_goes_along(text: str, left: str) -> None:
    assert Topic(parse_topic("Tamsin / Тамсин"), {}).cut(text).left == left


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("We bake bread; Project Falcon starts.", "We bake bread [x]."),
        ("Project Falcon starts; I bake bread.", "[x] I bake bread."),
        ("I bake. Project Falcon starts. We rest.", "I bake. [x] We rest."),
    ],
)
def test_a_mark_stands_where_something_went(text: str, marked: str) -> None:
    assert cut(text).marked("[x]") == marked


def test_what_is_left_stands_where_it_stood() -> None:
    text = "Ida comes. Project Falcon starts. I like tea."

    found = cut(text)

    assert len(found.blanked) == len(text)
    assert found.blanked.index("tea") == text.index("tea")
    assert "Falcon" not in found.blanked
    assert found.sentences == ("Project Falcon starts.",)


@pytest.mark.parametrize(
    ("words", "is_left"),
    [("Ida", True), ("tea", True), ("Falcon", False), ("comes. Project", False)],
)
def test_a_claim_is_left_if_all_its_words_are(words: str, is_left: bool) -> None:
    text = "Ida comes. Project Falcon starts. I like tea."
    start = text.index(words)

    assert cut(text).contains(Span(start=start, end=start + len(words))) is is_left
    assert not cut(text).contains(None), "nobody knows where it stands"


@pytest.mark.parametrize(
    ("sentence", "to_subject", "refers"),
    [
        ("It's late.", False, True),
        ("But then it starts.", False, True),
        ("She sings.", True, True),
        ("She sings.", False, False),
        ("Ida likes it.", True, False),
        ("", True, False),
    ],
)
def test_a_sentence_refers_back_by_its_first_word(
    sentence: str, to_subject: bool, refers: bool
) -> None:
    assert refers_back(sentence, to_person=to_subject) is refers
