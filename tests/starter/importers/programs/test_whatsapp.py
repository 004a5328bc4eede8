"""Chats as WhatsApp exports them."""

from collections import Counter
from zoneinfo import ZoneInfo

import pytest

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs.items import LeftOut
from tests.starter.case_files import read_cases
from tests.starter.importers.programs.conftest import Read, ReadMessages

ANDROID = "WhatsApp Chat with Book Club.txt"
IPHONE = "WhatsApp Chat - Rowing"


def test_a_chat_of_android_has_its_speakers_times_and_texts(read_messages: ReadMessages) -> None:
    messages = read_messages(ANDROID, timezone=ZoneInfo("Europe/Stockholm"))

    assert [(one.speaker, one.content) for one in messages] == [
        ("Wren Oduya", "We start with Middlemarch.\nBring the green edition, if you have it"),
        ("Piotr", "ok"),
        ("Piotr", "ok"),
        ("Wren Oduya", "My copy from Lund"),
        ("Wren Oduya", "Next meeting is on Monday at 19:30: my place"),
    ]
    assert {one.channel for one in messages} == {"Book Club"}
    assert messages[0].at.isoformat() == "2025-03-09T20:01:00+01:00"
    assert messages[-1].at.isoformat() == "2025-03-14T00:05:00+01:00"
    assert messages[-1].session_id == "whatsapp/Book Club/2025-03-14"
    assert len({one.source_id for one in messages}) == len(messages)


def test_notices_and_media_are_left_out_and_counted(read: Read) -> None:
    items = read(ANDROID)

    left_out = Counter(item.reason for item in items if isinstance(item, LeftOut))
    assert left_out == {"notice": 3, "media": 1}
    assert sum(getattr(item, "media", 0) for item in items) == 2


def test_a_chat_of_an_iphone_is_named_after_its_folder(
    read: Read, read_messages: ReadMessages
) -> None:
    messages = read_messages(IPHONE)

    assert [(one.speaker, one.content, one.channel) for one in messages] == [
        ("Ines", "I found a boat in Porvoo", "Rowing"),
        ("Bo Lindgren", "How much?\n\nI have 900 euros", "Rowing"),
    ]
    assert messages[0].at.isoformat() == "2025-03-14T21:05:40+00:00"
    left_out = [item.reason for item in read(IPHONE) if isinstance(item, LeftOut)]
    assert left_out == ["notice", "media"]


@pytest.mark.parametrize(
    ("dates", "first"),
    read_cases(__file__, "whatsapp_dates"),
)
def test_the_order_of_day_and_month_follows_from_all_dates(
    read_messages: ReadMessages, dates: tuple[str, ...], first: str
) -> None:
    text = "".join(f"{date}, 10:00 - Ines: I row\n" for date in dates)

    assert f"{read_messages('chat.txt', text=text)[0].at:%Y-%m-%d}" == first


@pytest.mark.parametrize(
    ("clock", "time"),
    read_cases(__file__, "whatsapp_clocks"),
)
def test_times_have_twelve_or_twenty_four_hours(
    read_messages: ReadMessages, clock: str, time: str
) -> None:
    [message] = read_messages("chat.txt", text=f"25/12/2024, {clock} - Ines: I row")

    assert f"{message.at:%H:%M}" == time


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("4/5/25, 10:00 - Ines: hi\n", {}, "line 1: 4 and 5 may be day .* --date-order day-first"),
        ("13/5/25, 10:00 - A: x\n5/13/25, 10:00 - A: x\n", {}, "line 1: .*line 2 one of month"),
        ("13/5/25, 10:00 - A: x\n", {"date_order": "month-first"}, "line 1: .*--date-order"),
        (b"13/5/25, 10:00 - A: x\n\xff\n", {}, "line 2: byte 1 is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    read: Read, text: str | bytes, options: dict[str, str], why: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"file chat.txt, {why}"):
        read("chat.txt", text=text, **options)


def test_a_longer_export_has_the_same_ids_in_another_zone(read_messages: ReadMessages) -> None:
    line = "05/04/2025, 10:0{0} - Ines: I row\n"
    text = "25/12/2024, 10:00 - Ines: I row\n" + line.format(1) * 2

    short = read_messages("chat.txt", text=text)
    longer = read_messages(
        "chat.txt", text=text + line.format(1) + line.format(2), timezone=ZoneInfo("Asia/Tokyo")
    )

    ids = [one.source_id for one in longer]
    assert ids[:3] == [one.source_id for one in short]
    assert len(set(ids)) == 5
