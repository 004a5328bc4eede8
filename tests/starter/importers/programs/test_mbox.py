"""Mail in mbox files, and what its senders wrote."""

import pytest

from mnestic.starter.importers.programs.mail_text import html_text, own_text
from tests.starter.case_files import read_cases
from tests.starter.importers.programs.conftest import ReadMessages

HEAD = "From a@example.org Mon Mar 10 08:00:00 2025\nFrom: Ada <a@example.org>\nDate: Mon, 10 Mar 2025 08:00:00 +0100\n"


def test_a_mail_without_an_id_is_the_same_in_a_longer_file(read_messages: ReadMessages) -> None:
    one = f"{HEAD}Subject: Hi\n\nI sing.\n\n"

    [short] = read_messages("in.mbox", text=one)
    longer = read_messages("in.mbox", text=one + f"{HEAD}Subject: Other\n\nI hum.\n")

    assert longer[0] == short
    assert longer[1].source_id != short.source_id


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        ("Content-Type: text/plain; charset=x-unknown\n", b"I sing", "I sing"),
        ("Content-Type: text/plain; charset=iso-8859-1\n", b"caf\xe9", "café"),
        ("Content-Transfer-Encoding: base64\n", b"SSBzaW5n", "I sing"),
        ("Content-Transfer-Encoding: base64\n", b"SSBzaW5n=", "I sing"),
        ("Content-Type: multipart/mixed\n", b"I sing", ""),
        ("Subject: =?nonsense?Q?x?=\n", b"I sing", "=?nonsense?Q?x?=\n\nI sing"),
    ],
)
def test_a_body_is_decoded_as_far_as_it_can_be(
    read_messages: ReadMessages, headers: str, body: bytes, text: str
) -> None:
    found = read_messages("in.mbox", text=f"{HEAD}{headers}\n".encode() + body)

    assert [one.content for one in found] == ([text] if text else [])


@pytest.mark.parametrize("rest", read_cases(__file__, "mail_ends"))
def test_quotes_and_signatures_are_cut(rest: str) -> None:
    assert own_text(f"I sing alto: really.{rest}") == "I sing alto: really."


def test_answers_between_quotes_stay() -> None:
    text = "On 3 Mar 2025 at 09:30, Otto wrote:\n> Which voice?\nAlto.\n> Which day?\nMonday:\n\n- the 10th"

    assert own_text(text) == "Alto.\nMonday:\n\n- the 10th"


@pytest.mark.parametrize(("markup", "text"), read_cases(__file__, "mail_markup"))
def test_html_becomes_text(markup: str, text: str) -> None:
    assert own_text(html_text(markup)) == text
