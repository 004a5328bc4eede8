"""Reads a Slack export: its folder with one folder a channel, or the file of one day of a channel.

Names of users and channels are in files of their own.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from mnestic.memory.errors import InvalidInputError
from mnestic.starter.importers.programs import fields
from mnestic.starter.importers.programs.items import (
    ImportOptions,
    Item,
    LeftOut,
    Origin,
    Unstorable,
    message_of,
)
from mnestic.starter.importers.programs.json_items import read_each, read_objects
from mnestic.starter.importers.programs.slack_text import text_of

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_USERS = "users.json"
_DIRECT = ("dms.json", "mpims.json")  # conversations without a name, with their members
# Messages of people and programs; all other subtypes are notices.
_SAID = (None, "thread_broadcast", "me_message", "bot_message", "file_share")


class SlackExport:
    """A Slack export. One message at a time is in memory, and the names of users."""

    format = "slack"
    notes = ()

    def __init__(self, path: Path, options: ImportOptions, *, source: str) -> None:
        self._path, self._options, self._source = path, options, source

    def items(self) -> Iterator[Item]:
        """The messages, channel by channel and day by day."""
        for path in self._days():
            name = path.parent.name if _DAY.fullmatch(path.stem) else path.stem
            channel = self._options.channel or self._direct.get(name, name)
            relative = path.name if path == self._path else f"{path.parent.name}/{path.name}"
            source = self._source if path == self._path else f"{self._source}/{relative}"
            if not path.is_file():
                yield Unstorable(relative, "is a pipe, a device or a folder")
                continue
            yield from self._items_of(path, source, channel=channel, place=f"{relative}, item")

    def _items_of(self, path: Path, source: str, *, channel: str, place: str) -> Iterator[Item]:
        """The messages of a day."""
        names = self._names  # if they cannot be read, nothing is
        read = partial(self._item, names=names, channel=channel)
        return read_each(path, "item", source, read=read, place=place)

    def _days(self) -> list[Path]:
        if self._path.is_file():
            return [self._path]
        return sorted(path for path in self._path.glob("*/*.json") if _DAY.fullmatch(path.stem))

    def _item(
        self, message: Mapping[str, Any], *, names: Mapping[str, str], channel: str, place: str
    ) -> Item:
        media = len(fields.find(message, "files", list) or ())
        kind = fields.find(message, "type", str) or "message"
        if kind != "message" or fields.find(message, "subtype", str) not in _SAID:
            return LeftOut("notice", media)
        text = text_of(message, names)
        if not text:
            return LeftOut("media" if media else "empty", media)
        ts = message.get("ts")
        try:
            at = _time(ts)
            thread = _time(message.get("thread_ts") or ts)
        except ValueError:
            return Unstorable(place, "its ts is no time")
        origin = Origin(
            # An answer belongs to the day on which its thread began.
            session_id=f"slack/{channel}/{thread:%Y-%m-%d}",
            source_id=str(ts),
            channel=channel,
            place=place,
        )
        return message_of(origin, speaker=self._speaker(message), text=text, at=at, media=media)

    def _speaker(self, message: Mapping[str, Any]) -> str:
        user = fields.find(message, "user", str)
        own = _name_of({"profile": fields.find(message, "user_profile", dict)})
        name = self._names.get(user) if user else None
        bot = fields.find(message, "username", str) or fields.find(message, "bot_id", str)
        return name or own or bot or user or self._options.speaker or "unknown"

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """The names of users by id; from the messages of a day's file, where there is no list of users."""
        listed = self._listed(_USERS)
        if listed is not None:
            return {str(user.get("id")): name for user in listed if (name := _name_of(user))}
        if not self._path.is_file():
            return {}
        profiles = read_objects(self._path, "item", self._source)
        return {
            str(message.get("user")): name
            for message in profiles
            if (name := _name_of({"profile": message.get("user_profile")}))
        }

    @cached_property
    def _direct(self) -> Mapping[str, str]:
        """The members of conversations without a name, by id."""
        return {
            str(one.get("id")): ", ".join(self._names.get(user, user) for user in members)
            for name in _DIRECT
            for one in self._listed(name) or ()
            if isinstance(members := one.get("members"), list) and one.get("id")
        }

    def _listed(self, name: str) -> list[dict[str, Any]] | None:
        """The objects of a file beside the channels; None if there is no such file."""
        folder = self._path if self._path.is_dir() else self._path.absolute().parent.parent
        path = folder / name
        if not path.exists():
            return None
        if not path.is_file():
            raise InvalidInputError(what=f"{self._source}, {name}", why="is no file")
        return [*read_objects(path, "item", f"{self._source}, {name}")]


def is_slack_folder(path: Path) -> bool:
    """Whether a folder is a Slack export: folders of channels, with a file for each day."""
    return any(_DAY.fullmatch(day.stem) for day in path.glob("*/*.json"))


def _name_of(user: Mapping[str, Any]) -> str | None:
    profile = user.get("profile")
    fields = profile if isinstance(profile, dict) else {}
    names = (
        fields.get("real_name"),
        user.get("real_name"),
        fields.get("display_name"),
        fields.get("name"),
        user.get("name"),
    )
    return next((name.strip() for name in names if isinstance(name, str) and name.strip()), None)


def _time(ts: Any) -> datetime:
    if not isinstance(ts, str):
        raise ValueError("no text")  # noqa: TRY004 - one error for the caller
    seconds, _, fraction = ts.partition(".")
    try:
        whole = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, OSError) as error:
        raise ValueError("out of range") from error
    return whole.replace(microsecond=int((fraction + "000000")[:6]))
