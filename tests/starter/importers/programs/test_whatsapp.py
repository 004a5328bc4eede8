"""Chats as WhatsApp exports them."""

from zoneinfo import ZoneInfo

import pytest

from mnestic.memory.errors import InvalidInputError
from tests.starter.case_files import read_cases
from tests.starter.importers.programs.conftest import Read, ReadMessages


@pytest.mark.parametrize(("dates", "first"), read_cases(__file__, "whatsapp_dates"))
def test_the_order_of_day_and_month_follows_from_all_dates(
    read_messages: ReadMessages, dates: tuple[str, ...], first: str
) -> None:
    text = "".join(f"{date}, 10:00 - Ines: I row\n" for date in dates)

    assert f"{read_messages('chat.txt', text=text)[0].at:%Y-%m-%d}" == first


@pytest.mark.parametrize(("clock", "time"), read_cases(__file__, "whatsapp_clocks"))
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
