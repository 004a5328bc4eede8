"""When something was, in words: "3 days ago", "on 28 February".

It is pure, and all who tell a person or a prompt when something was use the same words.
"""

from datetime import datetime, timedelta

from mnestic.memory.language.date_words import date_words

_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_NEAR = timedelta(hours=6)
_WEEK = 7  # days


def time_in_words(at: datetime, *, now: datetime) -> str:
    """When a moment was, or will be, as one would say it now.

    Within the day, or the last hours of the day before, by hours and minutes; within the week by days;
    beyond that by its date, with the year if it is another one. Days are those of `now`'s offset.

    Args:
        at: The moment; aware.
        now: When it is said; aware.
    """
    at = at.astimezone(now.tzinfo)
    apart, days = abs(now - at), abs((now.date() - at.date()).days)
    is_past = at <= now
    if apart < _MINUTE:
        return "just now" if is_past else "in a moment"
    if days == 0 or apart < _NEAR:
        hours = apart // _HOUR
        amount = _counted(hours, "hour") if hours else _counted(apart // _MINUTE, "minute")
        return f"{amount} ago" if is_past else f"in {amount}"
    if days == 1:
        return "yesterday" if is_past else "tomorrow"
    if days < _WEEK:
        return f"{days} days ago" if is_past else f"in {days} days"
    year = "" if at.year == now.year else f" {at.year}"
    month = date_words().month_names[at.month - 1].capitalize()
    return f"on {at.day} {month}{year}"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
